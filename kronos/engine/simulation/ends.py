# SPDX-License-Identifier: Apache-2.0
"""The ends of a scope: the highest and the lowest scores of each policy.

Of the hosts that count, or of those of them that a policy is judged by. They
follow the moves of a plan (:mod:`.utilization`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from kronos.engine.arrays import (
    BoolArray,
    Extremes,
    FloatArray,
    IntArray,
    extremes,
)


@dataclass(frozen=True, eq=False)
class Ends:
    """The ends of P policies over some of H hosts."""

    judged: BoolArray
    """[P, H]: the hosts of each policy, at least one."""
    hosts: list[IntArray]
    """[P]: their positions."""
    highest: list[Extremes]
    """[P]"""
    lowest: list[Extremes]
    """[P]"""
    widths: FloatArray
    """[P]: highest - lowest, the imbalances."""
    is_common: bool
    """Whether all policies are judged by the same hosts."""

    @classmethod
    def of(cls, scores: FloatArray, judged: BoolArray) -> Self:
        """Of the scores [P, H] of now."""
        hosts = [np.flatnonzero(row) for row in judged]
        rows = list(zip(scores, hosts, strict=True))
        highest = [extremes(row, some, -1.0) for row, some in rows]
        lowest = [extremes(row, some, 1.0) for row, some in rows]
        widths = _widths(highest, lowest)
        is_common = bool((judged == judged[0]).all())
        return cls(judged, hosts, highest, lowest, widths, is_common)

    def followed(self, scores: FloatArray, *changed: int) -> 'Ends':
        """The ends after the scores of some hosts have changed."""
        highest, lowest = (
            [
                self._ends_of(p, old, scores[p], sign, changed)
                for p, old in enumerate(ends)
            ]
            for ends, sign in ((self.highest, -1.0), (self.lowest, 1.0))
        )
        widths = _widths(highest, lowest)
        return replace(self, highest=highest, lowest=lowest, widths=widths)

    def _ends_of(
        self,
        p: int,
        old: Extremes,
        row: FloatArray,
        sign: float,
        changed: Sequence[int],
    ) -> Extremes:
        some = tuple(host for host in changed if self.judged[p, host])
        if old.outlast(row, some):
            return old
        return extremes(row, self.hosts[p], sign)

    def widths_after(
        self,
        source: IntArray,
        other: IntArray,
        at_source: Sequence[FloatArray],
        at_other: Sequence[FloatArray],
    ) -> Iterator[FloatArray]:
        """Per policy the imbalance if the scores of two hosts change.

        For many pairs, as in :meth:`.Utilization.judge`.
        """
        masks = self._mask(0, source), self._mask(0, other)
        for p, both in enumerate(zip(at_source, at_other, strict=True)):
            if p and not self.is_common:
                masks = self._mask(p, source), self._mask(p, other)
            high = self._without(self.highest[p], source, other)
            low = self._without(self.lowest[p], source, other)
            for mask, new in zip(masks, both, strict=True):
                above = below = new
                if mask is not None:
                    above = np.where(mask, new, -np.inf)
                    below = np.where(mask, new, np.inf)
                high, low = np.maximum(above, high), np.minimum(below, low)
            yield high - low

    def _mask(self, p: int, hosts: IntArray) -> BoolArray | None:
        """Which of some hosts a policy is judged by; None: by all of them."""
        mask: BoolArray = self.judged[p][hosts]
        return None if mask.all() else mask

    def _without(
        self, extreme: Extremes, source: IntArray, other: IntArray
    ) -> FloatArray:
        number = self.judged.shape[1]
        if other.size > 1 or source.size <= number:
            return extreme.without(source, other)
        # Many instances on the same hosts: look each host up once.
        every = np.arange(number)
        return extreme.without(every, other.reshape(1))[source]


def _widths(
    highest: Sequence[Extremes], lowest: Sequence[Extremes]
) -> FloatArray:
    return np.array(
        [
            high.values[0] - low.values[0]
            for high, low in zip(highest, lowest, strict=True)
        ]
    )
