# SPDX-License-Identifier: Apache-2.0
"""The restarts of a scope: which servers are started again, and where.

Where one is to go elsewhere, its destination is planned as if its host were
drained of it alone, after all moves of the plan: every constraint holds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kronos.engine.eligibility import hosts
from kronos.engine.eligibility.instances import RUNNING
from kronos.engine.extension import PLAIN
from kronos.engine.planning import stop_reasons
from kronos.engine.planning.phase_input import PlanScope
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    EarlierMove,
    Instance,
    MigrationStep,
    PlanningInput,
    Restart,
    Snapshot,
)
from kronos.extensions.recovery import faulty_hosts, restarts
from kronos.extensions.recovery.restarts import VERIFY, Decision


@dataclass(frozen=True)
class Planned:
    """What is restarted, and why others are not."""

    restarts: list[Restart]
    steps: list[MigrationStep]
    """The cold migrations among them, as moves that others may see."""
    left: dict[str, Reason]
    """Instance uuid to the reason why it is left alone."""


def plan(given: PlanningInput, planner: PlanScope) -> Planned:
    """Plan the restarts of a scope.

    :param given: with the moves of the scope's own plan among the earlier
    """
    snapshot, settings = given.snapshot, given.settings
    if not restarts.are_wanted(settings):
        return Planned([], [], {})
    if hosts.why_shut(snapshot) or faulty_hosts.why_stopped(
        snapshot, settings
    ):
        return Planned([], [], {})
    moving = {move.instance.uuid for move in given.earlier}
    here: list[Restart] = []
    elsewhere: dict[str, Decision] = {}
    left: dict[str, Reason] = {}
    for uuid, one in sorted(snapshot.instances.items()):
        if not restarts.concerned(one) or uuid in moving:
            continue
        found = restarts.decide(one, settings, snapshot.taken_at)
        if isinstance(found, Reason):
            left[uuid] = found
        elif found.is_elsewhere or _is_bad_host(snapshot, one):
            elsewhere[uuid] = replace(found, is_elsewhere=True)
        elif why := _why_not_there(snapshot, one):
            left[uuid] = why
        else:
            here.append(_restart(one, one.host, found))
    planned = Planned(here, [], left)
    for avoided, group in _by_avoided(given, elsewhere):
        _plan_elsewhere(given, planner, planned, avoided, group)
    return planned


def _by_avoided(
    given: PlanningInput, elsewhere: Mapping[str, Decision]
) -> Iterator[tuple[dict[str, str], dict[str, Decision]]]:
    """The servers by the hosts that they avoid: hosts to reasons."""
    snapshot, settings = given.snapshot, given.settings
    groups: dict[tuple[tuple[str, str], ...], dict[str, Decision]] = {}
    for uuid, how in elsewhere.items():
        avoided = restarts.avoided(
            snapshot.instances[uuid], settings, snapshot.taken_at
        )
        groups.setdefault(tuple(sorted(avoided.items())), {})[uuid] = how
    for key, group in groups.items():
        yield dict(key), group


def _plan_elsewhere(
    given: PlanningInput,
    planner: PlanScope,
    planned: Planned,
    avoided: Mapping[str, str],
    group: Mapping[str, Decision],
) -> None:
    """Plan servers that leave their hosts, after all that is planned.

    One that Kronos has stopped is started where it is rather than not at
    all.

    :param planned: is added to
    """
    snapshot = given.snapshot
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
    after = replace(given, earlier=[*given.earlier, *earlier])
    result = planner(_drain(after, group, avoided))
    there = _there(snapshot, result, group)
    moved = {one.instance for one in there}
    planned.restarts.extend(there)
    planned.steps.extend(one for one in result.steps if one.instance in moved)
    for uuid in group.keys() - moved:
        one, how = snapshot.instances[uuid], group[uuid]
        if how.stopped and _why_not_there(snapshot, one) is None:
            planned.restarts.append(_restart(one, one.host, how))
        else:
            planned.left[uuid] = _why_stays(one, result)


def _is_bad_host(snapshot: Snapshot, one: Instance) -> bool:
    """Whether it should leave its host, which is at fault, all the same.

    What waits to be confirmed is brought to its end first.
    """
    service = (snapshot.services or {}).get(one.host)
    is_closed = service is not None and service.is_closed_by_kronos
    is_faulty = snapshot.hosts[one.host].faulty is not None
    return (is_closed or is_faulty) and one.status != VERIFY


def _why_not_there(snapshot: Snapshot, one: Instance) -> Reason | None:
    """Why a server is not started where it is: nova-compute has to do it."""
    service = (snapshot.services or {}).get(one.host)
    if service is not None and service.is_up:
        return None
    text = f'its host {one.host} is not up, so that nobody can start it there'
    return Reason(text, Code.HOST_DOWN, host=one.host)


def _restart(one: Instance, destination: str, how: Decision) -> Restart:
    why = f'it failed ({one.failure})' if one.failure else 'it failed'
    if how.stopped:
        why = 'a restart before has left it off'
    elif how.is_elsewhere and how.attempt > 1:
        why += f' again, after restart {how.attempt - 1}'
    return Restart(
        instance=one.uuid,
        instance_name=one.name,
        host=one.host,
        destination=destination,
        attempt=how.attempt,
        failure=one.failure,
        failed_at=one.failed_at,
        stopped=how.stopped,
        reason=why,
    )


def _drain(
    given: PlanningInput,
    elsewhere: Mapping[str, Decision],
    avoided: Mapping[str, str],
) -> PlanningInput:
    """The hosts of these servers, to be drained of them and nobody else.

    :param avoided: hosts that take none of them, with the reason
    """
    snapshot = given.snapshot
    instances = {
        uuid: _as_if_well(one)
        if uuid in elsewhere
        else replace(one, unmovable=one.unmovable or 'it is not restarted')
        for uuid, one in snapshot.instances.items()
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
        given,
        snapshot=replace(snapshot, instances=instances, hosts=now),
        settings=_settings(given.settings, sorted(sources)),
    )


def _as_if_well(one: Instance) -> Instance:
    """One that may be moved, as far as its failure is concerned."""
    return replace(
        one,
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
    elsewhere: Mapping[str, Decision],
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


def _why_stays(one: Instance, result: AggregateResult) -> Reason:
    why = result.stayed.get(one.uuid)
    if why is None:
        code = stop_reasons.CODES[result.stopped]
        why = Reason(result.reason, code)
    return why.worded(f'it cannot be restarted elsewhere: {why}')
