# SPDX-License-Identifier: Apache-2.0
"""The first moves of a scope: with which of them a legal order can begin."""

import numpy as np

from kronos.engine.arrays import BoolArray, FloatArray
from kronos.engine.settings import SwapMoves
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.simulation.utilization import is_gain


def alone(simulation: Simulation) -> BoolArray:
    """[V, H]: moves that are legal now, and to which no policy objects."""
    utilization, shape = simulation.utilization, _shape(simulation)
    mask: BoolArray = np.zeros(shape, dtype=bool)
    instances = np.flatnonzero(simulation.movable)
    if not len(instances):
        return mask
    sources = simulation.placement.host_of[instances][:, None]
    hosts = np.arange(shape[1])[None, :]
    ends = utilization.scores_after(instances[:, None], sources, hosts)
    _, objected = utilization.judge(sources, hosts, *ends)
    legal = simulation.constraints.hard_rows(instances)
    mask[instances] = legal & ~objected
    return mask


def exchanged(simulation: Simulation, swap_moves: SwapMoves) -> BoolArray:
    """[V, H]: the same of halves of swaps, maybe too many of them.

    Both halves together improve, and no policy objects to that.
    """
    utilization, shape = simulation.utilization, _shape(simulation)
    mask: BoolArray = np.zeros(shape, dtype=bool)
    instances = np.flatnonzero(simulation.movable)
    if swap_moves is SwapMoves.NONE or not len(instances):
        return mask
    hosts = simulation.placement.host_of[instances]
    source, other = hosts[:, None], hosts[None, :]
    at_source: list[FloatArray] = []
    at_other: list[FloatArray] = []
    for p, scores in enumerate(utilization.scores):
        used = utilization.usage[p, instances]
        change = used[None, :] - used[:, None]
        capacity = utilization.capacity[p]
        at_source.append(scores[source] + change / capacity[source])
        at_other.append(scores[other] - change / capacity[other])
    gains, objected = utilization.judge(source, other, at_source, at_other)
    good = is_gain(gains) & ~objected & np.not_equal(source, other)
    firsts, seconds = np.nonzero(good)
    mask[instances[firsts], hosts[seconds]] = True
    mask[instances[seconds], hosts[firsts]] = True
    return mask


def _shape(simulation: Simulation) -> tuple[int, int]:
    host_of = simulation.placement.host_of
    return len(host_of), len(simulation.utilization.counts)
