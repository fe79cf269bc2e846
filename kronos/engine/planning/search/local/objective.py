# SPDX-License-Identifier: Apache-2.0
"""The objective of a search: which of two final placements is better."""

import numpy as np

from kronos.engine.arrays import EPSILON, BoolArray, FloatArray, IntArray
from kronos.engine.planning.search.local.model import ScopeModel

OBJECTION = 10.0
"""What a policy's objection costs, by how far it is above."""
BESIDE = 0.1
"""What combined imbalance counts where thresholds are to be reached."""
BALANCED = -2.0
"""Where a placement stands in which all policies are within."""


class Objective:
    """The lowest combined imbalance, or all thresholds by the fewest moves.

    :param budget: how many instances may move
    :param exhaust: whether thresholds do not matter
    :param min_gain: what a move must buy
    """

    def __init__(
        self, model: ScopeModel, budget: int, exhaust: bool, min_gain: float
    ) -> None:
        self._model = model
        self._min_gain = min_gain
        self.budget = budget
        self.exhaust = exhaust

    def values(
        self,
        widths: FloatArray,
        moved: IntArray,
        costs: FloatArray,
        overfull: FloatArray,
    ) -> FloatArray:
        """[B]: the lower, the better; below 0 all policies are within.

        :param widths: [B, P], imbalances times weights
        :param moved: [B], instances that move
        :param costs: [B], for the memory that is copied
        :param overfull: [B], by how much hosts are too full
        """
        model = self._model
        combined: FloatArray = np.add.reduce(widths, axis=1)
        above = np.maximum(widths - model.veto - EPSILON, 0.0)
        needed = combined
        if not self.exhaust:
            over = np.maximum(widths - model.thresholds, 0.0)
            needed = np.add.reduce(over, axis=1) + BESIDE * combined
        values: FloatArray = (
            needed + OBJECTION * np.add.reduce(above, axis=1) + overfull
        )
        values += self._min_gain * moved + costs
        if self.exhaust:
            return values
        within = self.is_reached(widths) & (overfull <= EPSILON)
        least = np.minimum(combined + costs, 1.0)
        part = (moved + 0.5 * least) / (self.budget + 1)
        values[within] = BALANCED + part[within]
        return values

    def is_reached(self, widths: FloatArray) -> BoolArray:
        """[B]: whether every policy is within its threshold."""
        mask: BoolArray = np.all(
            widths <= self._model.thresholds + EPSILON, axis=1
        )
        return mask
