# SPDX-License-Identifier: Apache-2.0
"""The relaxations: what has to be otherwise for a reason to be gone.

Each rule is lifted where an operator would lift it: in the input of the
planner, never in the planner. Whether the move is legal then is for the
planner to say.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kronos.engine import edits
from kronos.engine.eligibility import cooldown
from kronos.engine.eligibility.instances import PIN, RUNNING
from kronos.engine.planning.shared_hosts import EarlierPlans
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import (
    ComputeService,
    Event,
    Headroom,
    Instance,
    Outcome,
    PlanningInput,
)

MARGIN = 1e-6
"""By so much more than needed a number is changed."""


@dataclass
class Pair:
    """An instance and where it would go."""

    instance: str
    source: str
    destination: str


Lift = Callable[[PlanningInput, Reason, Pair], PlanningInput]


def relax(case: PlanningInput, reason: Reason, pair: Pair) -> PlanningInput:
    """A case in which one reason is gone; the given one stays as it is.

    :raises KeyError: nothing lifts a reason of this code
    """
    if reason.code is None:
        raise KeyError(str(reason))
    return _LIFTS[reason.code](case, reason, pair)


def can_lift(code: Code) -> bool:
    """Whether a reason of this code can be lifted, as it forbids a move."""
    return code in _LIFTS


def _setting(**values: Any) -> Lift:
    return lambda case, _, __: replace(
        case, settings=replace(case.settings, **values)
    )


def _instance(change: Callable[[Instance, Reason], Mapping[str, Any]]) -> Lift:
    def lifted(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        one = case.snapshot.instances[pair.instance]
        changed = replace(one, **change(one, reason))
        instances = case.snapshot.instances | {one.uuid: changed}
        return edits.with_snapshot(case, instances=instances)

    return lifted


def _unpinned(one: Instance, reason: Reason) -> Mapping[str, Any]:
    if reason.about == 'tags':
        return {'tags': [tag for tag in one.tags if tag != PIN]}
    rest = {key: text for key, text in one.metadata.items() if key != PIN}
    return {'metadata': rest}


def _extra_spec(case: PlanningInput, reason: Reason, _: Pair) -> PlanningInput:
    allowed = [*case.settings.allowed_extra_specs, reason.about]
    settings = replace(case.settings, allowed_extra_specs=allowed)
    return replace(case, settings=settings)


def _on_its_way(case: PlanningInput, _: Reason, pair: Pair) -> PlanningInput:
    """Nothing of it is under way; the instance is where it is."""
    events = [
        event
        for event in case.snapshot.events
        if event.instance != pair.instance
        or event.outcome not in (Outcome.PLANNED, Outcome.UNDER_WAY)
    ]
    return edits.with_snapshot(case, events=events)


def _ended(which: Callable[[Event, Pair], bool]) -> Lift:
    """Some migrations of other instances are stuck no more.

    That of the instance itself is a reason of its own.
    """

    def lifted(case: PlanningInput, _: Reason, pair: Pair) -> PlanningInput:
        settings, now = case.settings, case.snapshot.taken_at
        events = [
            event
            for event in case.snapshot.events
            if event.instance == pair.instance
            or not which(event, pair)
            or not cooldown.is_stuck(event, settings, now)
        ]
        return edits.with_snapshot(case, events=events)

    return lifted


def _into(event: Event, pair: Pair) -> bool:
    """Whether it only holds the destination: the source is another reason."""
    return (
        event.destination == pair.destination and event.source != pair.source
    )


def _no_quarantine(case: PlanningInput, _: Reason, __: Pair) -> PlanningInput:
    if case.snapshot.seeds is not None:
        seeds = replace(case.snapshot.seeds, instance_quarantines={})
        case = edits.with_snapshot(case, seeds=seeds)
    settings = replace(case.settings, quarantine_seconds=0.0)
    return replace(case, settings=settings)


def _planned_before(
    case: PlanningInput, _: Reason, pair: Pair
) -> PlanningInput:
    """No earlier scope plans it; one that comes from there has arrived."""
    own = [m for m in case.earlier if m.instance.uuid == pair.instance]
    rest = [m for m in case.earlier if m.instance.uuid != pair.instance]
    snapshot = case.snapshot
    if pair.instance not in snapshot.instances:
        snapshot = EarlierPlans(own).place(snapshot)
    return replace(case, snapshot=snapshot, earlier=rest)


def _service(**values: Any) -> Lift:
    def lifted(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        host = reason.host or pair.destination
        services = dict(case.snapshot.services or {})
        services[host] = replace(services[host], **values)
        return edits.with_snapshot(case, services=services)

    return lifted


def _new_service(
    case: PlanningInput, reason: Reason, pair: Pair
) -> PlanningInput:
    host = reason.host or pair.destination
    services = dict(case.snapshot.services or {})
    zone = services[host].zone if host in services else ''
    services[host] = ComputeService(
        host, state='up', status='enabled', zone=zone
    )
    return edits.with_snapshot(case, services=services)


def _services(case: PlanningInput, _: Reason, __: Pair) -> PlanningInput:
    services = {
        host: ComputeService(host, state='up', status='enabled')
        for host in case.snapshot.hosts
    }
    return edits.with_snapshot(case, services=services)


def _drained(case: PlanningInput, reason: Reason, pair: Pair) -> PlanningInput:
    host = reason.host or pair.destination
    named = [one for one in case.settings.drain_hosts or [] if one != host]
    return replace(case, settings=replace(case.settings, drain_hosts=named))


def _host(**values: Any) -> Lift:
    return lambda case, reason, pair: edits.with_host(
        case, reason.host or pair.destination, **values
    )


def _one_cell(case: PlanningInput, _: Reason, pair: Pair) -> PlanningInput:
    hosts = case.snapshot.hosts
    ends = [hosts[pair.destination], hosts[pair.source]]
    cell = next((one.cell for one in ends if one.cell), 'one')
    for one in ends:
        case = edits.with_host(case, one.name, cell=cell)
    return case


def _sample(query: str, value: float) -> Lift:
    return lambda case, reason, pair: edits.with_sample(
        case, reason.about, query, reason.host or pair.destination, value
    )


def _room(case: PlanningInput, reason: Reason, pair: Pair) -> PlanningInput:
    """As much more as it lacks."""
    headroom = dict(case.snapshot.hosts[pair.destination].headroom or {})
    had = headroom.get(reason.about, Headroom(0, 0))
    more = int(reason.value)
    headroom[reason.about] = Headroom(had.capacity + more, had.used)
    return edits.with_host(case, pair.destination, headroom=headroom)


def _no_group(case: PlanningInput, reason: Reason, _: Pair) -> PlanningInput:
    groups = [one for one in case.snapshot.groups if one.uuid != reason.about]
    return edits.with_snapshot(case, groups=groups)


def _policy(field: str) -> Lift:
    """The policy with the limit at which it would agree."""
    return lambda case, reason, _: edits.with_policy(
        case, reason.about, **{field: reason.value + MARGIN}
    )


_LIFTS: dict[Code, Lift] = {
    Code.SCOPE_NO_SERVICES: _services,
    Code.SCOPE_NO_POLICY: lambda case, _, __: edits.usable(case),
    Code.SCOPE_COOLDOWN: _setting(cooldown_seconds=0.0),
    Code.INSTANCE_UNMOVABLE: _instance(lambda _, __: {'unmovable': ''}),
    Code.INSTANCE_LOCKED: _instance(lambda _, __: {'locked': False}),
    Code.INSTANCE_PINNED: _instance(_unpinned),
    Code.INSTANCE_NOT_ACTIVE: _instance(lambda _, __: {'status': 'ACTIVE'}),
    Code.INSTANCE_BUSY: _instance(lambda _, __: {'task_state': None}),
    Code.INSTANCE_NOT_RUNNING: _instance(
        lambda _, __: {'power_state': RUNNING}
    ),
    Code.INSTANCE_EXTRA_SPEC: _extra_spec,
    Code.INSTANCE_ON_ITS_WAY: _on_its_way,
    Code.INSTANCE_QUARANTINE: _no_quarantine,
    Code.INSTANCE_COOLDOWN: _setting(instance_cooldown_seconds=0.0),
    Code.INSTANCE_PLANNED_BEFORE: _planned_before,
    Code.INSTANCE_NO_PROFILE: lambda case, _, pair: edits.profiled(
        case, pair.instance
    ),
    Code.HOST_NO_SERVICE: _new_service,
    Code.HOST_CELL_DOWN: _new_service,
    # Nova takes a host that is forced down for down.
    Code.HOST_FORCED_DOWN: _service(forced_down=False, state='up'),
    Code.HOST_DOWN: _service(state='up'),
    Code.HOST_DISABLED: _service(status='enabled'),
    Code.HOST_DRAINED: _drained,
    Code.HOST_FROZEN: _host(frozen=''),
    Code.HOST_NO_SAMPLE: _sample('imbalance', 0.0),
    Code.HOST_NO_CAPACITY: _sample('host_capacity', 1.0),
    Code.HOST_CLOSED: _host(closed=''),
    Code.HOST_NO_PLACEMENT: _setting(require_headroom=False),
    Code.HOST_STUCK_OUT: _ended(
        lambda event, pair: event.source == pair.source
    ),
    Code.HOST_STUCK_INTO: _ended(_into),
    Code.ZONE_PINNED: _instance(
        lambda _, __: {'pinned_availability_zone': None}
    ),
    Code.CELL_CROSSED: _one_cell,
    Code.ZONE_CROSSED: _setting(restrict_to_az=False),
    Code.NO_ROOM: _room,
    Code.GROUP_APART: _no_group,
    Code.GROUP_TOGETHER: _no_group,
    Code.GROUP_LONE: _no_group,
    Code.GROUP_UNKNOWN: _no_group,
    Code.OVER_CEILING: _policy('capacity_threshold'),
    Code.CEILING_UNKNOWN: _sample('capacity', 0.0),
    Code.RETURN_GUARD: _setting(return_guard_seconds=0.0),
    Code.WORSENS_POLICY: _policy('threshold'),
}
