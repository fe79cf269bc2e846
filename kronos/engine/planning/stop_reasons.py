# SPDX-License-Identifier: Apache-2.0
"""The reasons of a stop: why planning ended, why an instance stayed."""

import functools
from collections import Counter
from collections.abc import Mapping

import numpy as np

from kronos.engine import wording
from kronos.engine.arrays import EPSILON, BoolArray
from kronos.engine.eligibility import instances
from kronos.engine.reasons import Code, Reason
from kronos.engine.scheduling.migration_costs import MigrationCosts
from kronos.engine.scoring.profiles import Profiles
from kronos.engine.settings import SearchName, Settings, SwapMoves
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.simulation.utilization import Utilization
from kronos.engine.types import Rest, Snapshot, StopReason

HOTTEST_HOSTS = 3
"""Hosts per policy whose instances are explained one by one in a stall."""


def fixed_instances(
    snapshot: Snapshot,
    frozen_hosts: Mapping[str, Reason],
    profiles: Profiles,
    unavailable: Mapping[str, Reason],
    settings: Settings,
) -> dict[str, Reason]:
    """The instances that cannot be planned, with the reason, by uuid.

    :param frozen_hosts: but those that are drained
    :param unavailable: instance uuid to reason: cooling, in quarantine, or
        planned already in another scope
    """
    fixed = {}
    bandwidth = functools.cache(
        lambda: MigrationCosts(snapshot, settings).bandwidth
    )
    rule = instances.rule(snapshot, settings, bandwidth)
    for uuid in sorted(snapshot.instances):
        instance = snapshot.instances[uuid]
        against = rule(instance)
        reason = against[0] if against else unavailable.get(uuid)
        if not reason and instance.host in frozen_hosts:
            why = frozen_hosts[instance.host]
            text = f'its host {instance.host} is left out of planning: {why}'
            reason = why.worded(text, instance.host)
        if not reason and uuid not in profiles.profiles:
            reason = Reason(
                profiles.skipped.get(uuid, 'it has no profile'),
                Code.INSTANCE_NO_PROFILE,
            )
        if reason:
            fixed[uuid] = reason
    return fixed


def why_stopped(
    stopped: StopReason,
    utilization: Utilization,
    migrations: int,
    settings: Settings,
    all_judged: bool = True,
    limit: str = '',
) -> str:
    """The reason of a planning that took place, with its numbers.

    :param all_judged: whether no policy was skipped
    :param limit: what limits the migrations; '' for the budget
    """
    moves = wording.counted(migrations, 'migration')
    after = f' after {moves}' if migrations else ''
    over = utilization.over_threshold()
    if stopped is StopReason.BALANCED:
        which = 'all' if all_judged else 'the judged'
        return (
            f'within {which} thresholds{after}: '
            f'{standing(utilization, ~over, named=False)}'
        )
    if stopped is StopReason.BUDGET:
        text = 'no migration is left in the budget'
        if limit:
            text = f'the {limit} is used'
        elif migrations:
            text = f'the budget of {moves} is used'
    else:
        text = (
            f'no legal {_kinds(settings)} lowers the combined imbalance of '
            f'{utilization.combined():.3f}{_by_least(settings)}{after}'
        )
    if not over.any():
        none = 'no policy' if all_judged else 'no judged policy'
        return f'{text}; {none} is over its threshold'
    return f'{text}; over the threshold: {standing(utilization, over)}'


def _kinds(settings: Settings) -> str:
    """What was tried: ``migration, sequence of migrations or swap``.

    A sequence begins with moves that only even out the hosts in between.
    """
    kinds = ['migration']
    if settings.plateau_moves:
        kinds.append('sequence of migrations')
    if settings.swap_moves is not SwapMoves.NONE:
        kinds.append('swap')
    *most, last = kinds
    return f'{", ".join(most)} or {last}' if most else last


def _by_least(settings: Settings) -> str:
    if settings.search == SearchName.GREEDY or not settings.min_gain:
        return ''
    least = f'{settings.min_gain:g}'
    if settings.cost_weight:
        least += f' and {settings.cost_weight:g} for each 100 GiB'
    return f' by {least} or more'


def standing(
    utilization: Utilization, which: BoolArray, named: bool = True
) -> str:
    """``cpu 0.412 > 0.15 (h3 0.710, h9 0.298)`` per policy.

    :param named: whether the highest and the lowest host are named
    """
    over = utilization.over_threshold()
    parts = []
    for p in np.flatnonzero(which).tolist():
        high, low = utilization.highest[p], utilization.lowest[p]
        sign = '>' if over[p] else '<='
        names = utilization.index.hosts
        hosts = (
            f' ({names[high.hosts[0]]} {high.values[0]:.3f}, '
            f'{names[low.hosts[0]]} {low.values[0]:.3f})'
        )
        parts.append(
            f'{utilization.policies[p]} {utilization.imbalances[p]:.3f} '
            f'{sign} {utilization.thresholds[p]:g}{hosts if named else ""}'
        )
    return ', '.join(parts)


def stuck_instances(simulation: Simulation) -> dict[int, Reason]:
    """Why nothing on the hottest hosts of policies over their threshold moved.

    :returns: by position of the instance
    """
    utilization = simulation.utilization
    hottest: set[int] = set()
    for p in np.flatnonzero(utilization.over_threshold()).tolist():
        judged = utilization.ends.judged[p]
        row = np.where(judged, utilization.scores[p], -np.inf)
        top = utilization.highest[p].values[0] - EPSILON
        hottest.update(np.flatnonzero(row >= top)[:HOTTEST_HOSTS].tolist())
    return {
        instance: _why_stuck(simulation, instance)
        for instance in np.flatnonzero(simulation.movable).tolist()
        if int(simulation.placement.host_of[instance]) in hottest
    }


def unsafe_swap(exists: bool) -> str:
    """That one was left out, as an addition to the reason of a stall."""
    if not exists:
        return ''
    return (
        '; a swap would lower it, but between its two migrations a policy '
        'would exceed its threshold (swap_moves is safe)'
    )


def without(rest: Rest | None, utilization: Utilization) -> str:
    """Which hosts no migration helps, and how the others are without them.

    :returns: as an addition to the reason of a stop; '' if there are none
    """
    if rest is None:
        return ''
    text, number = '', int(utilization.counts.sum())
    for name in rest.policies:
        aside = [
            f'{wording.some(hosts, HOTTEST_HOSTS)} ({end})'
            for is_high, end in ((True, 'highest'), (False, 'lowest'))
            if (hosts := rest.hosts(name, is_high))
        ]
        after = rest.imbalance_after[name]
        limit = utilization.thresholds[utilization.policies.index(name)]
        others = number - len(rest.hosts(name))
        text += (
            f'; {name}: no migration helps {" and ".join(aside)}; the other '
            f'{wording.counted(others, "host")} '
            f'{"is" if others == 1 else "are"} within {after:.3f} of each '
            f'other ({"<=" if after <= limit + EPSILON else ">"} {limit:g})'
        )
    return text


def immovable(simulation: Simulation, fixed: Mapping[str, Reason]) -> str:
    """How many of the hottest host may not be moved, and the usual reason.

    :param fixed: instance uuid to the reason
    :returns: as an addition to the reason of a stall; '' if there are none
    """
    utilization = simulation.utilization
    over = np.flatnonzero(utilization.over_threshold()).tolist()
    if not over:
        return ''
    host = utilization.highest[over[0]].hosts[0]
    instances = simulation.placement.on(host).tolist()
    uuids = [utilization.index.instances[instance] for instance in instances]
    reasons = Counter(fixed[uuid] for uuid in uuids if uuid in fixed)
    if not reasons:
        return ''
    reason = min(reasons, key=lambda why: (-reasons[why], why))
    return (
        f'; {reasons.total()} of {len(instances)} instances on '
        f'{utilization.index.hosts[host]} stay: {reason}'
    )


def no_destination(
    simulation: Simulation, instance: int, otherwise: str = ''
) -> Reason:
    """Why an instance has no legal destination: how many hosts, and why.

    :param otherwise: the reason against hosts that no rule refuses
    """
    refusals = simulation.constraints.refusals(instance)
    refused: list[tuple[int, str]] = [*refusals]
    remaining = len(simulation.utilization.counts) - sum(
        number for number, _ in refused
    )
    if remaining and otherwise:
        refused.append((remaining, otherwise))
    # The first refusal is that of the host where it is.
    text = '; '.join(
        f'{wording.counted(number, "host")}: {reason}'
        for number, reason in refused[1:]
    )
    text = f'no legal destination: {text or "there is no other host"}'
    for _, reason in refusals:
        # It refuses all hosts that nothing else does, until it is free again.
        if reason.code is Code.DISRUPTION_BUDGET:
            return reason.worded(text)
    return Reason(text, Code.NO_DESTINATION)


def _why_stuck(simulation: Simulation, instance: int) -> Reason:
    utilization = simulation.utilization
    instances = np.array([instance])
    legal = np.flatnonzero(simulation.constraints.hard_rows(instances)[0])
    if not legal.size:
        return no_destination(simulation, instance)
    breaks = simulation.constraints.soft_breaks_rows(instances)[0][legal]
    source = simulation.placement.host_of[[instance]]
    leaving, entered = utilization.scores_after(instances, source, legal)
    _, objected = utilization.judge(source, legal, leaving, entered)
    number = int(objected.sum())
    text = (
        f'{wording.counted(legal.size, "legal destination")}, but none '
        'lowers the combined imbalance'
    )
    if costly := int((breaks > 0).sum()):
        text += (
            f' enough; {costly} would break a soft server group, at a penalty'
        )
    if number:
        text += (
            f'; {number} would worsen a policy that would then be over its '
            'threshold'
        )
    return Reason(text, Code.NO_GAIN)
