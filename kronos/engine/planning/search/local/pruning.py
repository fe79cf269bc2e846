# SPDX-License-Identifier: Apache-2.0
"""The pruning: moves that buy too little are left out of a placement."""

import numpy as np

from kronos.engine.arrays import EPSILON, IntArray
from kronos.engine.planning.search.local.batch import Batch
from kronos.engine.planning.search.local.goal import Goal
from kronos.engine.planning.search.local.model import ScopeModel


def pruned(model: ScopeModel, goal: Goal, at: IntArray) -> IntArray:
    """The placement without what does not lower its value.

    The move goes first whose absence lowers it most.

    :param at: [V], the host of each instance
    """
    found = at.copy()
    while True:
        moved = np.flatnonzero(found != model.home)
        batch = Batch(model, len(moved) + 1)
        every = np.arange(len(moved) + 1)
        for one in moved.tolist():
            ones = np.full(len(every), one)
            batch.move(every, ones, np.full(len(every), found[one]))
        batch.move(every[:-1], moved, model.home[moved])
        high, low = batch.extremes()
        values = goal.values(high - low, batch.moved, batch.overfull())
        best = int(values.argmin())
        if best == len(moved) or values[best] > values[-1] + EPSILON:
            return found
        found[moved[best]] = model.home[moved[best]]
