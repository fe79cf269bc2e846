# SPDX-License-Identifier: Apache-2.0
"""The rounds: prices and trades improve each other until both agree.

First, trades of few servers give prices in short rounds. Then the best trade
of each host is asked for, which proves what no plan exceeds, and what these
trades lack.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from kronos.engine.arrays import FloatArray
from kronos.extensions.room.planning.market.goods import Market, Prices
from kronos.extensions.room.planning.market.grids import Grids
from kronos.extensions.room.planning.market.masters import Aim, Master
from kronos.extensions.room.planning.market.patterns import Patterns

QUICK = 60
"""Rounds with trades of few servers."""
EXACT = 4
"""Rounds with the best trades of a large scope."""
EXACT_SMALL = 40
SMALL = 40
"""Classes of hosts up to which a scope is small."""
NEAR = 0.02
TOLERANCE = 1e-6


@dataclass
class Priced:
    """The trades worth choosing from, and the bound with its prices."""

    master: Master
    bound: float
    """Slots at most, or moves or missing slots at least."""
    prices: Prices
    values: FloatArray = field(default_factory=lambda: np.zeros(0))
    """Of the best trades at these prices, [classes]."""

    @property
    def whole(self) -> int:
        """The bound as a whole number."""
        if self.master.aim is Aim.MOST:
            return math.floor(self.bound + TOLERANCE)
        return max(0, math.ceil(self.bound - TOLERANCE))


def priced(
    market: Market,
    aim: Aim,
    moves: float = np.inf,
    enough: int | None = None,
    patterns: Patterns | None = None,
) -> Priced:
    """Price until the bound and the best mixture agree.

    :param moves: at most, where the most slots are sought
    :param enough: a bound that is wanted; no better one is looked for
    :param patterns: of the market, if they are there already
    """
    rounds = _Rounds(market, aim, moves, enough)
    rounds.quick(patterns or Patterns(market))
    rounds.exact()
    return Priced(rounds.master, rounds.bound, rounds.best, rounds.values)


class _Rounds:
    def __init__(
        self, market: Market, aim: Aim, moves: float, enough: int | None
    ) -> None:
        self._market, self._aim = market, aim
        self._moves, self._enough = moves, enough
        self.master = Master(market, aim, moves)
        self._sign = 1.0 if aim is Aim.MOST else -1.0
        self.bound = self._sign * math.inf
        self._prices = self.best = _first(market, aim)
        self._value: float | None = None
        self.values: FloatArray = np.zeros(len(market.sizes))

    def quick(self, patterns: Patterns) -> None:
        """Rounds whose bound is none: other trades may be better."""
        best, limit, smoothing = self._prices, self._sign * math.inf, 0.0
        for _ in range(QUICK):
            prices = best.between(self._prices, smoothing)
            values, trades = patterns.best(prices)
            value = self._limit(values, prices)
            if self._sign * (limit - value) > TOLERANCE:
                limit, best = value, prices
            is_new = [self.master.add(trade) for trade in trades]
            if self._value is not None and abs(limit - self._value) < NEAR:
                break
            if any(is_new):
                smoothing = 0.5
            elif smoothing > 0.05:
                smoothing /= 2
                continue
            elif smoothing:
                smoothing = 0.0
                continue
            else:
                break
            self._mix()
        self.best = best

    def exact(self) -> None:
        """Rounds with the best trade of each host, which prove the bound."""
        grids, prices, smoothing = Grids(self._market), self.best, 0.0
        is_small = len(self._market.sizes) <= SMALL
        for _ in range(EXACT_SMALL if is_small else EXACT):
            values = grids.values(prices)
            limit = self._limit(values, prices)
            if self._sign * (self.bound - limit) > TOLERANCE:
                self.bound, self.best, self.values = limit, prices, values
            is_new = [
                trade is not None and self.master.add(trade)
                for trade in map(
                    grids.trade, np.flatnonzero(values > TOLERANCE).tolist()
                )
            ]
            if self._is_done() or not (any(is_new) or smoothing):
                break
            smoothing = 0.3 if any(is_new) else 0.0
            self._mix()
            if self._is_done():
                break
            prices = self.best.between(self._prices, smoothing)

    def _limit(self, values: FloatArray, prices: Prices) -> float:
        """What no plan exceeds, if these are the values of the best."""
        total = float(self._market.sizes @ np.maximum(values, 0.0))
        if self._aim is Aim.MOST:
            return self._moves * prices.move + total
        return float(prices.slots @ self._market.numbers) - total

    def _mix(self) -> None:
        if self.master.trades:
            mixture = self.master.mixed()
            self._value, self._prices = mixture.value, mixture.prices

    def _is_done(self) -> bool:
        if self._aim is Aim.POSSIBLE:
            # A single missing part proves it; the mixture refutes it.
            return self.bound > NEAR or (
                self._value is not None and self._value < TOLERANCE
            )
        if self._enough is not None and (
            self._sign * (self.bound - self._enough) < 1.0 - TOLERANCE
        ):
            return True
        if self._value is None:
            return False
        return abs(self.bound - self._value) < NEAR / 10


def _first(market: Market, aim: Aim) -> Prices:
    """By size: nothing better is known before the first round."""
    slot = np.maximum(market.slots.max(axis=0), 1)
    kinds = np.zeros(market.kinds)
    ratios = (market.demands / slot).max(axis=1, initial=0.0)
    np.maximum.at(kinds, market.kind_of, ratios)
    price, move = {
        Aim.MOST: (1.0, 0.2),
        Aim.FEWEST: (4.0, 1.0),
        Aim.POSSIBLE: (1.0, 0.0),
    }[aim]
    return Prices(0.5 * price * kinds, move, np.full(len(market.slots), price))
