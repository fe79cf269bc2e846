# SPDX-License-Identifier: Apache-2.0
"""Trades of few servers, of all hosts at once.

Plans with the fewest moves are made of them. They give prices in a fraction
of the time that the best trade of each host takes; what they lack is added
from :mod:`grids`.
"""

import itertools
from collections.abc import Iterator

import numpy as np

from kronos.engine.arrays import EPSILON, BoolArray, FloatArray, IntArray
from kronos.extensions.room.planning import columns
from kronos.extensions.room.planning.market.goods import Market, Prices, Trade

OUTS, INS = 3, 2
ROWS = 600_000
"""Of trades without what enters; servers that leave stop growing there."""
CHOICES = 400
"""Of what enters; with more, a single server enters."""
CELLS = 2_000_000
"""Of a table of rows and choices; more are looked at in parts."""


class Patterns:
    """All trades of up to 3 servers that leave and 2 that enter."""

    def __init__(self, market: Market) -> None:
        self._market = market
        self._places, self._outs = _outs(market)
        self._slots = np.zeros((len(self._places), len(market.slots)), int)
        room = market.free[self._places] + self._outs @ market.demands
        self._split(room)
        self._ins = _choices(len(market.kind_of))
        self._numbers = self._outs.sum(axis=1)
        self._find_room(room[self._rows])
        starts = np.flatnonzero(np.diff(self._places, prepend=-1))
        self._starts = starts

    def best(self, prices: Prices) -> tuple[FloatArray, list[Trade]]:
        """The values of the best, [classes], and those that are worth it."""
        values, chosen = self._values(prices)
        best = np.maximum.reduceat(values, self._starts)
        of_row = np.repeat(best, np.diff(np.append(self._starts, len(values))))
        rows = np.flatnonzero(values >= of_row)
        _, first = np.unique(self._places[rows], return_index=True)
        trades = [
            self._trade(row, int(chosen[row]))
            for row in rows[first].tolist()
            if values[row] > EPSILON
        ]
        return np.maximum(best, 0.0), trades

    def near(
        self, prices: Prices, loss: float, most: int, best: FloatArray
    ) -> list[Trade]:
        """Trades that are worth little less than the best of their host.

        :param loss: what they are worth less, at most
        :param most: so many, the best ones
        :param best: [classes]
        """
        values, _ = self._values(prices)
        worth = self._ins @ prices.kinds[self._market.kind_of]
        lost = best[self._places] - values
        rest = lost + self._intake(worth)[self._unique]
        rows = np.flatnonzero(lost <= loss + EPSILON)
        part = max(1, CELLS // len(worth))
        chosen = np.zeros((0, 2), dtype=np.intp)
        losses = np.zeros(0)
        for start in range(0, len(rows), part):
            some = rows[start : start + part]
            if len(losses) == most:  # none of the others is better than these
                some = some[lost[some] <= losses[-1] + EPSILON]
            table = np.where(
                self._fits[self._unique[some]],
                rest[some][:, None] - worth,
                np.inf,
            )
            row, choice = np.nonzero(table <= loss + EPSILON)
            losses = np.append(losses, table[row, choice].round(9))
            more = np.stack([some[row], choice], axis=1)
            order = np.argsort(losses, kind='stable')[:most]
            losses = losses[order]
            chosen = np.concatenate([chosen, more])[order]
        return [self._trade(row, choice) for row, choice in chosen.tolist()]

    def _values(self, prices: Prices) -> tuple[FloatArray, IntArray]:
        worth = prices.kinds[self._market.kind_of]
        incomes = self._ins @ worth
        order = np.argsort(-incomes, kind='stable')
        chosen = order[self._fits[:, order].argmax(axis=1)]
        chosen = chosen[self._unique]
        values: FloatArray = (
            self._slots @ prices.slots
            - self._outs @ (worth + prices.move * self._market.weights)
            + incomes[chosen]
        )
        return values, chosen

    def _intake(self, incomes: FloatArray) -> FloatArray:
        table: FloatArray = np.where(self._fits, incomes, -np.inf).max(axis=1)
        return table

    def _trade(self, row: int, choice: int) -> Trade:
        ins, outs = self._ins[choice], self._outs[row]
        same = np.minimum(ins, outs)
        return Trade(
            int(self._places[row]),
            tuple((outs - same).tolist()),
            tuple((ins - same).tolist()),
            tuple(self._slots[row].tolist()),
        )

    def _split(self, room: IntArray) -> None:
        """Add the slots that a host may have beside."""
        market = self._market
        free = market.free[self._places]
        parts, slots = [], []
        for combination in _slot_choices(market, room):
            needed = combination @ market.slots
            after = room - needed
            legal = (after >= np.minimum(free, 0)).all(axis=1)
            legal &= ((after >= 0) | (needed == 0)).all(axis=1)
            chosen = combination > 0
            refusals: IntArray = (~market.takes[:, chosen]).sum(axis=1)
            legal &= refusals[self._places] == 0
            rows = np.flatnonzero(legal)
            parts.append(rows)
            slots.append(np.tile(combination, (len(rows), 1)))
        rows = np.concatenate(parts)
        order = np.argsort(rows, kind='stable')
        self._rows = rows[order]
        self._slots = np.concatenate(slots)[order]
        self._places = self._places[self._rows]
        self._outs = self._outs[self._rows]

    def _find_room(self, room: IntArray) -> None:
        """Which choices enter what is left, for each amount of it."""
        market = self._market
        after = room - self._slots @ market.slots
        demands = self._ins @ market.demands
        after = np.minimum(after, demands.max(axis=0))
        masks, mask_of = np.unique(market.enters, axis=0, return_inverse=True)
        mask = mask_of.reshape(-1)[self._places]
        both = np.concatenate([after, mask[:, None]], axis=1)
        distinct, unique = np.unique(both, axis=0, return_inverse=True)
        self._unique = unique.reshape(-1)
        fits: BoolArray = np.ones((len(distinct), len(self._ins)), dtype=bool)
        for resource in range(demands.shape[1]):
            required = demands[:, resource]
            amounts = distinct[:, [resource]]
            fits &= (required <= amounts) | (required == 0)
        barred = (~masks).astype(int) @ (self._ins > 0).T > 0
        fits &= ~barred[distinct[:, -1]]
        self._fits = fits


def _outs(market: Market) -> tuple[IntArray, IntArray]:
    """Classes, and servers that leave them, in the order of classes."""
    classes, ways = market.counts.shape
    places = [np.arange(classes)]
    outs = [np.zeros((classes, ways), dtype=np.intp)]
    last = np.zeros(classes, dtype=np.intp)
    for _ in range(OUTS):
        before, taken = places[-1], outs[-1]
        spare = taken < market.counts[before]
        spare &= np.arange(ways) >= last[:, None]
        rows, way = np.nonzero(spare)
        if not len(rows) or sum(map(len, places)) + len(rows) > ROWS:
            break
        grown = taken[rows].copy()
        grown[np.arange(len(rows)), way] += 1
        places.append(before[rows])
        outs.append(grown)
        last = way
    joined = np.concatenate(places)
    order = np.argsort(joined, kind='stable')
    return joined[order], np.concatenate(outs)[order]


def _choices(ways: int) -> IntArray:
    """What may enter, [choices, ways]."""
    most = INS if ways * (ways + 3) // 2 < CHOICES else 1
    return columns.choices(ways, most)


def _slot_choices(market: Market, room: IntArray) -> Iterator[IntArray]:
    """Slots of a host by wanted flavor, all that fit anywhere."""
    most = []
    for slot in market.slots:
        needed = slot > 0
        fits = (np.maximum(room, 0)[:, needed] // slot[needed]).min(axis=1)
        most.append(int(fits.max(initial=0)))
    ranges = [range(number + 1) for number in most]
    for combination in itertools.product(*ranges):
        yield np.array(combination, dtype=np.intp)
