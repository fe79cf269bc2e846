# SPDX-License-Identifier: Apache-2.0
"""The best trade of each host at given prices, by dynamic programming.

A host keeps some of its servers, takes others and has slots: a knapsack of
several resources, on the grid of their amounts. It is exact where the grid has
few enough points; otherwise its units are coarser, and the values too high.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from kronos.engine.arrays import EPSILON, FloatArray, IntArray
from kronos.extensions.room.planning.market.goods import Market, Prices, Trade

POINTS = 400_000
"""Of a grid; with more, its units are doubled."""
NEVER = -1e9
SIDES = 3
"""Overfull resources of a host that are looked at each way."""


@dataclass(frozen=True)
class _Variant:
    """A host of a class, with some of its overfull resources mended."""

    host_class: int
    total: IntArray
    """[resources of the group], in its units, if all movable were gone."""


@dataclass
class _Group:
    """Hosts that take the same servers, and are bound by the same resources.

    They share the table of what enters.
    """

    ways: IntArray
    """That may enter."""
    flavors: IntArray
    """That may be created."""
    demands: IntArray
    """[ways of the market, resources]."""
    slots: IntArray
    """[wanted of the market, resources]."""
    variants: list[_Variant] = field(default_factory=list)
    table: FloatArray = field(default_factory=lambda: np.zeros(1))
    items: list[tuple[int, tuple[int, ...], float]] = field(
        default_factory=list
    )
    """A way, or -1 less the number of a wanted flavor, its size and worth."""


class Grids:
    """The best trades of all classes of a market."""

    def __init__(self, market: Market) -> None:
        self._market = market
        self._groups = _grouped(market)
        self._prices = Prices(np.zeros(0), 0.0, np.zeros(0))
        self._trades: dict[int, Trade | None] = {}

    def values(self, prices: Prices) -> FloatArray:
        """What the best trade of each class is worth, [classes]."""
        market = self._market
        self._prices, self._trades = prices, {}
        worth = prices.kinds[market.kind_of]
        stay = market.counts @ (worth + prices.move * market.weights)
        best = np.zeros(len(market.sizes))
        for group in self._groups:
            _fill(group, worth, prices.slots)
            for variant in group.variants:
                place = variant.host_class
                stages = self._stages(group, variant)
                value = float(stages[-1].flat[-1]) - float(stay[place])
                if value > best[place] + EPSILON:
                    best[place] = value
                    # The stages of all classes at once would be too large.
                    self._trades[place] = self._trade(group, variant, stages)
        return best

    def trade(self, host_class: int) -> Trade | None:
        """The best trade of a class at the last prices.

        :returns: None: it is worth 0, or is none on a coarse grid
        """
        return self._trades.get(host_class)

    def _trade(
        self, group: _Group, variant: _Variant, stages: list[FloatArray]
    ) -> Trade | None:
        """What leads to the end of the stages.

        :returns: None: as of :meth:`trade`
        """
        if not np.isfinite(group.table.flat[-1]):
            return None
        market, host_class = self._market, variant.host_class
        staying = np.zeros(len(market.kind_of), dtype=np.intp)
        ins, slots = staying.copy(), np.zeros(len(market.slots), dtype=np.intp)
        steps = [*self._steps(group, host_class)]
        point = variant.total.copy()
        for (way, times, _), before, after in zip(
            reversed(steps), stages[-2::-1], stages[:0:-1], strict=True
        ):
            if after[*point] > before[*point] + EPSILON:
                staying[way] += times
                point = point - times * group.demands[way]
        while group.table[*point] > EPSILON:
            item = _last(group, point)
            if item is None:
                return None
            number, size = item
            point = point - np.array(size)
            if number < 0:
                slots[-1 - number] += 1
            else:
                ins[number] += 1
        outs = market.counts[host_class] - staying
        # What leaves and enters in the same way stays.
        same = np.minimum(outs, ins)
        trade = Trade(
            host_class,
            tuple((outs - same).tolist()),
            tuple((ins - same).tolist()),
            tuple(slots.tolist()),
        )
        return trade if market.is_legal(trade) else None

    def _steps(
        self, group: _Group, host_class: int
    ) -> Iterator[tuple[int, int, float]]:
        """Servers that may stay: a way, how many at once, and their worth."""
        market, prices = self._market, self._prices
        for way, count in enumerate(market.counts[host_class].tolist()):
            kind = int(market.kind_of[way])
            move = prices.move * float(market.weights[way])
            worth = float(prices.kinds[kind]) + move
            ahead, times = count, 1
            while ahead > 0:
                times = min(times, ahead)
                yield way, times, times * worth
                ahead -= times
                times *= 2

    def _stages(self, group: _Group, variant: _Variant) -> list[FloatArray]:
        """The table as servers that may stay are added, one after another."""
        end = tuple(slice(0, amount + 1) for amount in variant.total.tolist())
        stage = group.table[end]
        stages = [stage]
        for way, times, worth in self._steps(group, variant.host_class):
            size = times * group.demands[way]
            if (size <= variant.total).all():
                after = stage.copy()
                upper, lower = _shifted(size)
                np.maximum(
                    after[upper], stage[lower] + worth, out=after[upper]
                )
                stage = after
            stages.append(stage)
        return stages


def _grouped(market: Market) -> list[_Group]:
    groups: dict[tuple[bytes, bytes, tuple[int, ...]], _Group] = {}
    rows: list[tuple[_Group, int, IntArray]] = []
    for place in range(len(market.sizes)):
        for total, enters, takes in _sides(market, place):
            dims = _binding(market, total)
            key = enters.tobytes(), takes.tobytes(), dims
            if key not in groups:
                groups[key] = _Group(
                    np.flatnonzero(enters),
                    np.flatnonzero(takes),
                    market.demands[:, dims],
                    market.slots[:, dims],
                )
            rows.append((groups[key], place, total[[*dims]]))
    for group in groups.values():
        _rescale(group, [row for row in rows if row[0] is group])
    return [*groups.values()]


def _sides(
    market: Market, place: int
) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """The ways to look at a class: each overfull resource mended, or not."""
    free = market.free[place]
    total = free + market.counts[place] @ market.demands
    overfull = np.flatnonzero(free < 0)
    if len(overfull) > SIDES:
        relieved = np.where(free < 0, total - free, total)
        yield relieved, market.enters[place], market.takes[place]
        return
    for mended in itertools.product((False, True), repeat=len(overfull)):
        stays = overfull[[not each for each in mended]]
        if (np.delete(total, stays) < 0).any():
            continue
        enters = market.enters[place].copy()
        takes = market.takes[place].copy()
        enters[(market.demands[:, stays] > 0).any(axis=1)] = False
        takes[(market.slots[:, stays] > 0).any(axis=1)] = False
        side = total.copy()
        side[stays] = market.counts[place] @ market.demands[:, stays]
        yield side, enters, takes


def _binding(market: Market, total: IntArray) -> tuple[int, ...]:
    """The resources that may bind: others last whatever enters."""
    demands = np.concatenate([market.demands, market.slots])
    dims = [*range(len(total))]
    for resource in reversed(range(len(total))):
        uses = demands[demands[:, resource] > 0]
        for other in dims:
            if other == resource or not (uses[:, other] > 0).all():
                continue
            ratio = (uses[:, resource] / uses[:, other]).max(initial=0.0)
            if ratio * total[other] <= total[resource]:
                dims.remove(resource)
                break
    return tuple(dims)


def _rescale(group: _Group, rows: list[tuple[_Group, int, IntArray]]) -> None:
    """Amounts in units of the group."""
    totals = np.array([total for _, _, total in rows])
    both = np.concatenate([group.demands, group.slots])
    units = np.maximum(np.gcd.reduce(both, axis=0), 1)
    while np.prod(totals.max(axis=0) // units + 1.0) > POINTS:
        units[(totals.max(axis=0) // units).argmax()] *= 2
    group.demands = group.demands // units
    group.slots = group.slots // units
    group.variants = [
        _Variant(place, total // units) for _, place, total in rows
    ]
    extent = (totals // units).max(axis=0) + 1
    group.table = np.zeros(extent)


def _fill(group: _Group, worth: FloatArray, slots: FloatArray) -> None:
    """The best of what enters, for each amount of room."""
    table = group.table
    table[:] = 0.0
    offers = [
        *((-1 - j, group.slots[j], float(slots[j])) for j in group.flavors),
        *((w, group.demands[w], float(worth[w])) for w in group.ways),
    ]
    group.items = [
        (int(number), tuple(size.tolist()), value)
        for number, size, value in offers
        if value > EPSILON
    ]
    for _, size, value in group.items:
        if not any(size):
            table[:] = np.inf
            return
        if any(s >= n for s, n in zip(size, table.shape, strict=True)):
            continue
        axis = max(
            (a for a in range(len(size)) if size[a]),
            key=lambda a: size[a] / table.shape[a],
        )
        moved = np.moveaxis(table, axis, 0)
        rest = np.array([s for a, s in enumerate(size) if a != axis], int)
        upper, lower = _shifted(rest)
        # Blocks of as many rows as a server takes depend on those before.
        for start in range(size[axis], len(moved), size[axis]):
            rows = moved[start : start + size[axis]]
            before = moved[start - size[axis] :][: len(rows)]
            part = rows[:, *upper]
            np.maximum(part, before[:, *lower] + value, out=part)


def _last(
    group: _Group, point: IntArray
) -> tuple[int, tuple[int, ...]] | None:
    """What entered last in the best of so much room."""
    for number, size, value in group.items:
        before = point - np.array(size)
        if (before >= 0).all() and (
            abs(group.table[*before] + value - group.table[*point]) < EPSILON
        ):
            return number, size
    return None


def _shifted(
    size: IntArray,
) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Where a server is added, and what was there without it."""
    amounts = size.tolist()
    return (
        tuple(slice(amount, None) for amount in amounts),
        tuple(slice(0, -amount or None) for amount in amounts),
    )
