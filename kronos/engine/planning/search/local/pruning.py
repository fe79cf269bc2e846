# SPDX-License-Identifier: Apache-2.0
"""The pruning: moves that buy too little are left out of a placement."""

import numpy as np

from kronos.engine.arrays import EPSILON, FloatArray, IntArray
from kronos.engine.planning.search.local.batch import Batch
from kronos.engine.planning.search.local.model import ScopeModel
from kronos.engine.planning.search.local.objective import Objective


def pruned(
    model: ScopeModel, objective: Objective, host_of: IntArray
) -> IntArray:
    """The placement without what does not lower its value.

    The move goes first whose absence lowers it most.

    :param host_of: [V], the host of each instance
    """
    batch = Batch(model, 1, tables=False)
    which = np.zeros(1, dtype=np.intp)
    for instance in np.flatnonzero(host_of != model.home).tolist():
        batch.move(which, np.array([instance]), host_of[[instance]])
    while batch.moved[0]:
        moved = np.flatnonzero(batch.host_of[0] != model.home)
        high, low = batch.extremes()
        overfull = batch.overfull()
        costs = batch.costs()
        now = objective.values(high - low, batch.moved, costs, overfull)[0]
        fewer = np.repeat(batch.moved - 1, len(moved))
        values = objective.values(
            _widths_without(batch, moved),
            fewer,
            costs - model.costs[moved],
            np.repeat(overfull, len(moved)),
        )
        best = int(values.argmin())
        if values[best] > now + EPSILON:
            break
        instances = moved[[best]]
        batch.move(which, instances, model.home[instances])
    final: IntArray = batch.host_of[0]
    return final


def _widths_without(batch: Batch, moved: IntArray) -> FloatArray:
    """[n, P]: the imbalances without each of n moves."""
    model = batch.model
    scores = np.repeat(batch.scores, len(moved), axis=0)
    every = np.arange(len(moved))
    here, home = batch.host_of[0, moved], model.home[moved]
    scores[every, :, here] -= model.usage[:, moved, here].T
    scores[every, :, home] += model.usage[:, moved, home].T
    high = np.maximum(scores.max(axis=2), model.highest_other)
    low = np.minimum(scores.min(axis=2), model.lowest_other)
    widths: FloatArray = high - low
    return widths
