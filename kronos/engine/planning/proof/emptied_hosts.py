# SPDX-License-Identifier: Apache-2.0
"""The bound of a packing: how many hosts any plan can empty at most.

Every limit alone says so by counting: the migrations that there are, the
room that Placement has, the ceiling of each policy. The hosts that weigh
least in it are put in until it is full. All hosts count for which nothing
else speaks, whatever is moved before to make room, so it holds for every
plan that fills no empty host.
"""

import math

import numpy as np

from kronos.engine.arrays import EPSILON, FloatArray, IntArray
from kronos.engine.planning.search.packing.pack_scope import (
    Knapsack,
    PackScope,
)
from kronos.engine.types import PackingBound


def bound(scope: PackScope) -> PackingBound:
    """How many hosts can be emptied at most; none are so far.

    :param scope: before the first move of its packing
    """
    candidates = scope.candidates()
    in_use = max(0, int(scope.in_use().sum()) - scope.keep_hosts)
    limits = [_number(knapsack, candidates) for knapsack in scope.knapsacks()]
    budget, moves = scope.simulation.remaining, None
    if math.isfinite(budget):
        moves = int(budget)
        limits.append(_number(Knapsack(_moves(scope), budget), candidates))
    return PackingBound(moves, 0, min([in_use, *limits]), in_use)


def _number(limit: Knapsack, candidates: IntArray) -> int:
    weights = np.sort(limit.weights[candidates])
    capacity = limit.capacity + EPSILON * max(1.0, limit.capacity)
    return int((np.cumsum(weights) <= capacity).sum())


def _moves(scope: PackScope) -> FloatArray:
    """[H]: the migrations that it takes to empty each host, at least."""
    return scope.number().astype(float)
