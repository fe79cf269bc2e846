# SPDX-License-Identifier: Apache-2.0
"""The neighbourhood: the hosts and instances that a search changes.

With the effort that it makes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kronos.engine.arrays import BoolArray, FloatArray, IntArray
from kronos.engine.planning.search.local.batch import Effort

if TYPE_CHECKING:
    from kronos.engine.simulation.simulation import Simulation

WHOLE = 20_000
"""Pairs of an instance and a host up to which all are looked at."""
MARGIN = 0.02
"""So much of a policy's imbalance inside its ends are hosts that bind."""
ROOMY_HOSTS = 10
"""Hosts that take what leaves others, beside the lowest ones."""
PLACEMENTS = 32
ROUNDS = 100
DESTROYED = 4
REPAIRED = 2400
"""Moves that are taken back in all, where hosts are many."""
FEW, MANY, PART = 5, 12, 16
"""Moves that are taken back at most in a round, by the budget."""
PAIRS = 30_000
"""Of all placements that are searched side by side."""


@dataclass(frozen=True)
class GreedyEnd:
    """What a greedy plan came to."""

    moves: Sequence[tuple[int, int]]
    """Instances and destinations."""
    high: FloatArray
    """[P], the highest scores"""
    low: FloatArray
    """[P], the lowest ones"""


@dataclass(frozen=True)
class Neighbourhood:
    """The hosts and instances that a search changes."""

    instances: IntArray
    hosts: IntArray
    effort: Effort


def of(simulation: Simulation, end: GreedyEnd) -> Neighbourhood:
    """All of a small scope; of a large one the hosts that bind.

    But those that are set aside. In a large scope these are the ones outside
    of what a greedy plan came to, or nearly, and those that it touched.
    """
    judged: BoolArray = np.logical_and.reduce(
        simulation.utilization.ends.judged
    )
    on_judged = judged[simulation.placement.host_of]
    instances = np.flatnonzero(simulation.movable & on_judged)
    hosts = np.flatnonzero(judged)
    if not is_small(simulation):
        instances, hosts = _binding(simulation, end)
        instances = instances[on_judged[instances]]
        hosts = hosts[judged[hosts]]
        destroyed = min(MANY, max(FEW, len(end.moves) // PART))
        effort = Effort(1, REPAIRED // destroyed, destroyed)
        return Neighbourhood(instances, hosts, effort)
    pairs = max(1, len(instances) * len(hosts))
    placements = min(PLACEMENTS, max(2, PAIRS // pairs))
    effort = Effort(placements, ROUNDS, DESTROYED)
    return Neighbourhood(instances, hosts, effort)


def is_small(simulation: Simulation) -> bool:
    """Whether all instances and hosts are looked at."""
    hosts = int(simulation.utilization.counts.sum())
    return int(simulation.movable.sum()) * hosts <= WHOLE


def _binding(
    simulation: Simulation, end: GreedyEnd
) -> tuple[IntArray, IntArray]:
    utilization = simulation.utilization
    margin = MARGIN * (end.high - end.low)
    hot = _any(utilization.scores > (end.high - margin)[:, None])
    cold = _any(utilization.scores < (end.low + margin)[:, None])
    host_of = simulation.placement.host_of
    moved = [instance for instance, _ in end.moves]
    hot[host_of[moved]] = True
    cold[[host for _, host in end.moves]] = True
    weighted = utilization.weights[:, None] * utilization.scores
    order = np.argsort(np.add.reduce(weighted, axis=0), kind='stable')
    roomy = order[utilization.counts[order] & ~hot[order]]
    cold[roomy[:ROOMY_HOSTS]] = True
    instances = np.flatnonzero(hot[host_of] & simulation.movable)
    return instances, np.flatnonzero((hot | cold) & utilization.counts)


def _any(which: BoolArray) -> BoolArray:
    mask: BoolArray = np.logical_or.reduce(which, axis=0)
    return mask
