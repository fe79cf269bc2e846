# SPDX-License-Identifier: Apache-2.0
"""The effects of moves on the policies, seen from a moment of a plan."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kronos.engine.arrays import EPSILON, BoolArray, FloatArray, IntArray
from kronos.engine.reasons import Code, Reason
from kronos.engine.simulation.ends import Ends
from kronos.engine.simulation.utilization import (
    Utilization,
    is_gain,
    objects,
)

if TYPE_CHECKING:
    from kronos.engine.explain.scenario import PlanningMoment
    from kronos.engine.explain.verdicts import Verdict


@dataclass
class Effect:
    """What one move would do."""

    is_known: bool
    """Whether the scores at both of its ends are known."""
    gain: float
    before: dict[str, float]
    """Imbalances by policy."""
    after: dict[str, float]
    of_rest: bool
    """Whether these are of the hosts that are not set aside."""
    is_objected: bool
    """Whether some policy objects."""


def of(
    moment: PlanningMoment, instances: IntArray, hosts: IntArray
) -> list[Effect]:
    """The effects of n moves."""
    names = moment.utilization.policies
    before, after, of_rest = widths(moment, instances, hosts)
    gains = moment.utilization.weights @ (before - after)
    return [
        Effect(
            is_known,
            gain,
            dict(zip(names, old, strict=True)),
            dict(zip(names, new, strict=True)),
            is_of_rest,
            is_objected,
        )
        for is_known, gain, old, new, is_of_rest, is_objected in zip(
            are_known(moment, instances, hosts).tolist(),
            gains.tolist(),
            before.T.tolist(),
            after.T.tolist(),
            of_rest.tolist(),
            objected(moment, instances, hosts).tolist(),
            strict=True,
        )
    ]


def are_known(
    moment: PlanningMoment, instances: IntArray, hosts: IntArray
) -> BoolArray:
    """[n]: whether the scores at both ends of moves are known."""
    utilization = moment.utilization
    here = utilization.counts | moment.phases.draining
    mask: BoolArray = (
        utilization.counts[hosts] & here[moment.placement.host_of[instances]]
    )
    return mask


def widths(
    moment: PlanningMoment, instances: IntArray, hosts: IntArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """The imbalances before n moves and after them, both [P, n].

    :returns: with [n], whether they are of the hosts that are not set aside;
        they are of all hosts where a move makes their combined imbalance
        worse, or lowers that alone
    """
    utilization = moment.utilization
    whole = _sides(moment, utilization.whole, instances, hosts)
    if not utilization.has_aside:
        return *whole, np.zeros(len(instances), dtype=bool)
    rest = _sides(moment, utilization.ends, instances, hosts)
    fall, of_others = (
        utilization.weights @ (before - after)
        for before, after in (whole, rest)
    )
    of_rest: BoolArray = (fall >= -EPSILON) & (
        is_gain(of_others) | ~is_gain(fall)
    )
    before, after = (
        np.where(of_rest, *both) for both in zip(rest, whole, strict=True)
    )
    return before, after, of_rest


def whose(of_rest: bool) -> str:
    """Of which hosts an imbalance is, as an addition; '': of all."""
    return ' of the hosts that are not set aside' if of_rest else ''


def sentence(verdict: Verdict, utilization: Utilization) -> str:
    """What a legal move does to the combined imbalance, as text."""
    gain = verdict.gain
    if gain is None:
        return 'its gain is not known'
    before = [verdict.before[p] for p in utilization.policies]
    now = math.fsum(utilization.weights * np.array(before))
    what = f'the combined imbalance{whose(verdict.of_rest)}'
    if abs(gain) <= EPSILON:
        return f'it leaves {what} at {now:.4f}'
    verb = 'lowers' if gain > 0 else 'raises'
    return (
        f'it {verb} {what} by {abs(gain):.4f}, from '
        f'{now:.4f} to {now - gain:.4f}'
    )


def objected(
    moment: PlanningMoment, instances: IntArray, hosts: IntArray
) -> BoolArray:
    """[n]: whether some policy objects to moves."""
    utilization = moment.utilization
    sources = moment.placement.host_of[instances]
    ends = utilization.scores_after(instances, sources, hosts)
    return utilization.judge(sources, hosts, *ends)[1]


def objections(
    moment: PlanningMoment, instance: int, host: int
) -> list[Reason]:
    """The policies that object to a move, each once."""
    utilization = moment.utilization
    by_policy: dict[str, Reason] = {}
    instances, hosts = (np.array([x], dtype=np.intp) for x in (instance, host))
    for ends in (utilization.whole, utilization.ends):
        after = _sides(moment, ends, instances, hosts)[1][:, 0]
        veto = utilization.veto_of(ends)
        hosts_of = whose(ends is not utilization.whole)
        objecting = objects(veto, after, utilization.thresholds)
        for p in np.flatnonzero(objecting).tolist():
            name = utilization.policies[p]
            text = (
                f'policy {name}{hosts_of} would get worse, from '
                f'{veto[p]:.4f} to {after[p]:.4f}, over its threshold of '
                f'{utilization.thresholds[p]:g}'
            )
            reason = Reason(text, Code.WORSENS_POLICY, name, float(after[p]))
            by_policy.setdefault(name, reason)
    return [
        by_policy[name] for name in utilization.policies if name in by_policy
    ]


def price(moment: PlanningMoment, instance: int, host: int) -> float:
    """What a move costs by the soft rules that it breaks.

    Nothing where they veto.
    """
    rules = moment.simulation.constraints
    if not rules.weighs_soft_rules:
        return 0.0
    breaks = rules.soft_breaks_rows(np.array([instance]))[0][host]
    return float(breaks) * moment.phases.settings.soft_rule_penalty


def _sides(
    moment: PlanningMoment, ends: Ends, instances: IntArray, hosts: IntArray
) -> tuple[FloatArray, FloatArray]:
    """[P, n]: the imbalances of some hosts, before moves and after them."""
    utilization = moment.utilization
    sources = moment.placement.host_of[instances]
    scores = utilization.scores_after(instances, sources, hosts)
    after = np.array(list(ends.widths_after(sources, hosts, *scores)))
    return np.repeat(ends.widths[:, None], len(instances), axis=1), after
