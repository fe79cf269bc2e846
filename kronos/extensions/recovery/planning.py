# SPDX-License-Identifier: Apache-2.0
"""The restarts of a scope: which servers are started again, and where.

Where one is to go elsewhere, its destination is planned as if its host were
drained of it alone, after all moves of the plan: every constraint holds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kronos.engine.eligibility import hosts, window
from kronos.engine.eligibility.instances import RUNNING
from kronos.engine.extension import PLAIN
from kronos.engine.planning.phase_input import PlanScope
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    EarlierMove,
    Instance,
    MigrationStep,
    PlanningInput,
    Snapshot,
)
from kronos.extensions.recovery import faulty_hosts, restarts
from kronos.extensions.recovery.outcome import Restart
from kronos.extensions.recovery.restarts import VERIFY, RestartDecision


@dataclass(frozen=True)
class Planned:
    """What is restarted, and why others are not."""

    restarts: list[Restart]
    steps: list[MigrationStep]
    """The cold migrations among them, as moves that others may see."""
    left: dict[str, Reason]
    """Instance uuid to the reason why it is left alone."""


def plan(inputs: PlanningInput, planner: PlanScope) -> Planned:
    """Plan the restarts of a scope.

    :param inputs: with the moves of the scope's own plan among the earlier
    """
    snapshot, settings = inputs.snapshot, inputs.settings
    if not restarts.are_wanted(settings):
        return Planned([], [], {})
    if (
        window.why_closed(snapshot)
        or hosts.why_shut(snapshot)
        or faulty_hosts.why_stopped(snapshot, settings)
    ):
        return Planned([], [], {})
    moving = {move.instance.uuid for move in inputs.earlier}
    here: list[Restart] = []
    elsewhere: dict[str, RestartDecision] = {}
    reasons: dict[str, Reason] = {}
    for uuid, instance in sorted(snapshot.instances.items()):
        if not restarts.concerned(instance) or uuid in moving:
            continue
        decision = restarts.decide(instance, settings, snapshot.taken_at)
        if isinstance(decision, Reason):
            reasons[uuid] = decision
        elif decision.is_elsewhere or _is_bad_host(snapshot, instance):
            elsewhere[uuid] = replace(decision, is_elsewhere=True)
        elif why := _why_not_there(snapshot, instance):
            reasons[uuid] = why
        else:
            here.append(_restart(instance, instance.host, decision))
    planned = Planned(here, [], reasons)
    for avoided, group in _by_avoided(inputs, elsewhere):
        _plan_elsewhere(inputs, planner, planned, avoided, group)
    return planned


def _by_avoided(
    inputs: PlanningInput, elsewhere: Mapping[str, RestartDecision]
) -> Iterator[tuple[dict[str, str], dict[str, RestartDecision]]]:
    """The servers by the hosts that they avoid: hosts to reasons."""
    snapshot, settings = inputs.snapshot, inputs.settings
    groups: dict[tuple[tuple[str, str], ...], dict[str, RestartDecision]] = {}
    for uuid, how in elsewhere.items():
        avoided = restarts.avoided(
            snapshot.instances[uuid], settings, snapshot.taken_at
        )
        groups.setdefault(tuple(sorted(avoided.items())), {})[uuid] = how
    for key, group in groups.items():
        yield dict(key), group


def _plan_elsewhere(
    inputs: PlanningInput,
    planner: PlanScope,
    planned: Planned,
    avoided: Mapping[str, str],
    group: Mapping[str, RestartDecision],
) -> None:
    """Plan servers that leave their hosts, after all that is planned.

    One that Kronos has stopped is started where it is rather than not at
    all.

    :param planned: is added to
    """
    snapshot = inputs.snapshot
    earlier = [
        EarlierMove(
            snapshot.scope,
            snapshot.instances[step.instance],
            step.source,
            step.destination,
            {},
        )
        for step in planned.steps
    ]
    after = replace(inputs, earlier=[*inputs.earlier, *earlier])
    result = planner(_drain(after, group, avoided))
    restarted = _there(snapshot, result, group)
    moved = {restart.instance for restart in restarted}
    planned.restarts.extend(restarted)
    planned.steps.extend(
        step for step in result.steps if step.instance in moved
    )
    for uuid in group.keys() - moved:
        instance, how = snapshot.instances[uuid], group[uuid]
        if how.stopped and _why_not_there(snapshot, instance) is None:
            planned.restarts.append(_restart(instance, instance.host, how))
        else:
            planned.left[uuid] = _why_stays(instance, result)


def _is_bad_host(snapshot: Snapshot, instance: Instance) -> bool:
    """Whether it should leave its host, which is at fault, all the same.

    What waits to be confirmed is brought to its end first.
    """
    service = (snapshot.services or {}).get(instance.host)
    is_closed = service is not None and service.is_closed_by_kronos
    is_faulty = snapshot.hosts[instance.host].faulty is not None
    return (is_closed or is_faulty) and instance.status != VERIFY


def _why_not_there(snapshot: Snapshot, instance: Instance) -> Reason | None:
    """Why a server is not started where it is: nova-compute has to do it."""
    service = (snapshot.services or {}).get(instance.host)
    if service is not None and service.is_up:
        return None
    text = f'its host {instance.host} is not up, so it cannot be started there'
    return Reason(text, Code.HOST_DOWN, host=instance.host)


def _restart(
    instance: Instance, destination: str, how: RestartDecision
) -> Restart:
    why = (
        f'it failed ({instance.failure})' if instance.failure else 'it failed'
    )
    if how.stopped:
        why = 'an earlier restart left it powered off'
    elif how.is_elsewhere and how.attempt > 1:
        why += f' again, after restart {how.attempt - 1}'
    return Restart(
        instance=instance.uuid,
        instance_name=instance.name,
        host=instance.host,
        destination=destination,
        attempt=how.attempt,
        failure=instance.failure,
        failed_at=instance.failed_at,
        stopped=how.stopped,
        reason=why,
    )


def _drain(
    inputs: PlanningInput,
    elsewhere: Mapping[str, RestartDecision],
    avoided: Mapping[str, str],
) -> PlanningInput:
    """The hosts of these servers, to be drained of them and nobody else.

    :param avoided: hosts that take none of them, with the reason
    """
    snapshot = inputs.snapshot
    instances = {
        uuid: _as_if_well(instance)
        if uuid in elsewhere
        else replace(
            instance, unmovable=instance.unmovable or 'it is not restarted'
        )
        for uuid, instance in snapshot.instances.items()
    }
    now = {
        name: replace(
            host,
            closed=faulty_hosts.why_at_fault(host)
            or avoided.get(name, host.closed),
        )
        for name, host in snapshot.hosts.items()
    }
    sources = {snapshot.instances[uuid].host for uuid in elsewhere}
    return replace(
        inputs,
        snapshot=replace(snapshot, instances=instances, hosts=now),
        settings=_settings(inputs.settings, sorted(sources)),
    )


def _as_if_well(instance: Instance) -> Instance:
    """One that may be moved, as far as its failure is concerned."""
    return replace(
        instance,
        status='ACTIVE',
        task_state=None,
        power_state=RUNNING,
        failure='',
    )


def _settings(settings: Settings, sources: Sequence[str]) -> Settings:
    """It is an order, as a drain is, and no balance is worth an outage."""
    return replace(
        settings,
        extension=PLAIN,
        evacuate=True,
        drain_hosts=list(sources),
        drain_may_exceed_threshold=True,
        max_migrations=None,
        unlimited=True,
        instance_cooldown_seconds=0.0,
        quarantine_seconds=0.0,
    )


def _there(
    snapshot: Snapshot,
    result: AggregateResult,
    elsewhere: Mapping[str, RestartDecision],
) -> list[Restart]:
    return [
        _restart(
            snapshot.instances[step.instance],
            step.destination,
            elsewhere[step.instance],
        )
        for step in result.steps
        if step.instance in elsewhere
    ]


def _why_stays(instance: Instance, result: AggregateResult) -> Reason:
    why = result.stayed.get(instance.uuid)
    if why is None:
        code = result.stopped.code
        why = Reason(result.reason, code)
    return why.worded(f'it cannot be restarted elsewhere: {why}')
