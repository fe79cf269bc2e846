# SPDX-License-Identifier: Apache-2.0
"""The nearest miss: the move that came closest, and what keeps it.

The closest is the one that the fewest reasons keep, and of these the one
that gains most.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kronos.engine.arrays import IntArray
from kronos.engine.explain import effects
from kronos.engine.explain.verdicts import Verdict
from kronos.engine.reasons import Code
from kronos.engine.simulation.utilization import is_gain
from kronos.engine.types import AggregateResult, MigrationPhase

if TYPE_CHECKING:
    from kronos.engine.explain.scenario import PlanningMoment
    from kronos.engine.explain.why_not import Explainer

TRIED = 200
"""So many of the moves that would gain most are looked at."""
TRIED_HOSTS = 3
"""So many of the least loaded hosts, in mode pack."""
TRIED_INSTANCES = 30


def closest(verdicts: Iterable[Verdict]) -> Verdict | None:
    """The move that was closest to being made; None if none was open."""
    return min(
        (
            verdict
            for verdict in verdicts
            if verdict.code not in (Code.PLANNED, Code.ALREADY_THERE)
        ),
        key=_distance,
        default=None,
    )


def each_closest(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """What was chosen for each instance, or else came closest."""
    by_instance: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_instance.setdefault(verdict.instance, []).append(verdict)
    nearest = []
    for own in by_instance.values():
        chosen = [verdict for verdict in own if verdict.code is Code.PLANNED]
        nearest += chosen[:1] or [
            verdict for verdict in [closest(own)] if verdict
        ]
    return nearest


def _distance(verdict: Verdict) -> tuple[int, bool, float, str, str]:
    gain = -math.inf if verdict.gain is None else verdict.gain
    return (
        len(verdict.reasons),
        verdict.code is Code.PACK_NO_TARGET,
        -gain,
        verdict.instance,
        verdict.destination,
    )


def nearest_miss(why: Explainer) -> Verdict | None:
    """The move that came closest in a scope, at the end of its plan."""
    scenario = why.blockers.start
    if scenario.phases is None:
        return None
    phase = scenario.phases.order()[-1]
    if phase is MigrationPhase.PACK:
        miss = _in_pack(why, scenario.moment(phase, why.result.steps))
    elif phase is MigrationPhase.SPREAD:
        miss = _in_spread(why, scenario.moment(phase, why.result.steps))
    else:
        miss = closest(
            _unfinished(why, scenario.moment(phase, why.result.steps))
        )
    if miss is None:
        return None
    return why.verdict(miss.instance, miss.destination)


def _in_spread(why: Explainer, moment: PlanningMoment) -> Verdict | None:
    """Only moves off the highest hosts or onto the lowest ones can gain."""
    utilization = moment.utilization
    hosts = np.flatnonzero(utilization.counts)
    pairs: dict[tuple[int, int], float] = {}
    everyone = np.flatnonzero(utilization.counts[moment.placement.host_of])
    # Of all hosts, and of those that are not set aside.
    ends = [utilization.whole, utilization.ends][: 1 + utilization.has_aside]
    for highest, lowest in (
        pair
        for some in ends
        for pair in zip(some.highest, some.lowest, strict=True)
    ):
        hot, cold = highest.hosts[0], lowest.hosts[0]
        instances = everyone[moment.placement.host_of[everyone] == hot]
        if instances.size:
            columns = np.repeat(hosts[None, :], len(instances), axis=0).ravel()
            _add(pairs, moment, np.repeat(instances, len(hosts)), columns)
        target = np.full(len(everyone), cold, dtype=np.intp)
        _add(pairs, moment, everyone, target)
    best = sorted(pairs, key=lambda pair: (-pairs[pair], pair))[:TRIED]
    index = utilization.index
    destinations: dict[str, list[str]] = {}
    for instance, host in best:
        destinations.setdefault(index.instances[instance], []).append(
            index.hosts[host]
        )
    return closest(why.some(destinations, quick=True))


def _add(
    pairs: dict[tuple[int, int], float],
    moment: PlanningMoment,
    instances: IntArray,
    hosts: IntArray,
) -> None:
    """Add the moves that would gain most; those that gain before others."""
    utilization = moment.utilization
    sources = moment.placement.host_of[instances]
    elsewhere = sources != hosts
    instances, hosts = instances[elsewhere], hosts[elsewhere]
    if not len(instances):
        return
    before, after, _ = effects.widths(moment, instances, hosts)
    gains = utilization.weights @ (before - after)
    keen = np.flatnonzero(is_gain(gains))
    some = keen if keen.size else np.arange(len(gains))
    for position in some[np.argsort(-gains[some], kind='stable')][
        :TRIED
    ].tolist():
        pairs[int(instances[position]), int(hosts[position])] = float(
            gains[position]
        )


def _in_pack(why: Explainer, moment: PlanningMoment) -> Verdict | None:
    """The move that keeps a host from being emptied for the fewest reasons.

    Of the least loaded hosts in use.
    """
    utilization, moved = moment.utilization, _moved(why.result)
    order = moment.phases.pack(moment.simulation).order()
    best: tuple[int, Verdict] | None = None
    for host in order[:TRIED_HOSTS]:
        instances = moment.placement.on(host).tolist()
        uuids = [
            utilization.index.instances[instance] for instance in instances
        ]
        uuids = [uuid for uuid in uuids if uuid not in moved][:TRIED_INSTANCES]
        verdicts = _blocked(why, uuids)
        if verdicts and (best is None or len(verdicts) < best[0]):
            best = (
                len(verdicts),
                max(verdicts, key=lambda verdict: len(verdict.reasons)),
            )
    return best[1] if best else None


def is_to_be_emptied(why: Explainer, host: str) -> bool:
    """Whether a host was drained or tried by pack, and not all leave it."""
    scenario, result = why.blockers.start, why.result
    hosts = result.availability_zones
    if scenario.phases is None or host not in hosts:
        return False
    remaining = number_on(result, host) - sum(
        step.source == host for step in result.steps
    )
    position = scenario.phases.utilization.index.host[host]
    packs = scenario.phases.order()[-1] is MigrationPhase.PACK
    return remaining > 0 and (
        packs or bool(scenario.phases.draining[position])
    )


def number_on(result: AggregateResult, host: str) -> int:
    """The instances that planning found on a host."""
    return sum(instance.host == host for instance in result.instances.values())


def why_left(result: AggregateResult, host: str) -> str:
    """The planner's reason for the first instance that stays on a host."""
    staying = sorted(
        uuid
        for uuid, instance in result.instances.items()
        if instance.host == host and uuid in result.stayed
    )
    return result.stayed[staying[0]] if staying else ''


def staying(result: AggregateResult, host: str) -> list[Verdict]:
    """The instances that do not leave a host, by the planner's reasons.

    Without a destination: none was asked about.
    """
    moved = _moved(result)
    return [
        Verdict(uuid, host, '', reason.code, reason, [reason])
        for uuid, reason in sorted(result.stayed.items())
        if result.instances[uuid].host == host and uuid not in moved
    ]


def blockers(why: Explainer, host: str) -> list[Verdict]:
    """For each instance that cannot leave a host, the move that came closest.

    Of the first ``TRIED_INSTANCES`` with all of its reasons.
    """
    moved = _moved(why.result)
    uuids = [
        uuid
        for uuid, instance in sorted(why.result.instances.items())
        if instance.host == host and uuid not in moved
    ]
    nearest = each_closest(why.verdicts(uuids, why.hosts, quick=True))
    no_target = Code.PACK_NO_TARGET
    blocking = [
        verdict
        for verdict in nearest
        if verdict.reasons or verdict.code is no_target
    ]
    first, rest = blocking[:TRIED_INSTANCES], blocking[TRIED_INSTANCES:]
    return [
        why.verdict(verdict.instance, verdict.destination) for verdict in first
    ] + rest


def _blocked(why: Explainer, uuids: Sequence[str]) -> list[Verdict]:
    """For each that cannot leave what comes closest; else for any."""
    nearest = each_closest(why.verdicts(uuids, why.hosts, quick=True))
    return [verdict for verdict in nearest if verdict.reasons] or nearest[:1]


def _unfinished(why: Explainer, moment: PlanningMoment) -> list[Verdict]:
    """What drained hosts and broken groups leave."""
    utilization, moved = moment.utilization, _moved(why.result)
    names = utilization.index.instances
    draining = moment.phases.draining[moment.placement.host_of]
    uuids = [
        names[position]
        for position in range(len(names))
        if names[position] not in moved
        and (
            draining[position]
            or (
                moment.repair is not None
                and moment.repair.helpful_hosts(position)
            )
        )
    ]
    return why.verdicts(uuids[:TRIED_INSTANCES], why.hosts, quick=True)


def _moved(result: AggregateResult) -> set[str]:
    return {step.instance for step in result.steps}
