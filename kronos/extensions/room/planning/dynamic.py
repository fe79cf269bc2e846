# SPDX-License-Identifier: Apache-2.0
"""The best column of each host at given prices, by dynamic programming.

It is exact if servers take one resource class, such as CPUs, on hosts of one
or two nodes. All classes of hosts are looked at together. What enters a node
is a knapsack over its free capacity; what leaves it is one over the servers
there. Servers on both nodes couple the two: for each balance of those that
leave and enter, the nodes are independent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kronos.engine.arrays import EPSILON, FloatArray, IntArray
from kronos.extensions.room.planning.cluster import Cluster, HostClasses
from kronos.extensions.room.planning.columns import Column, Prices

NEVER = -1e9
SLOT = -1
"""The item that is a wanted server."""
NODES = 2


@dataclass(frozen=True)
class _Items:
    """What may stand on one node, or on both."""

    ways: tuple[int, ...]
    sizes: tuple[int, ...]
    slot: int
    """The size of a slot; 0: slots do not stand so."""


@dataclass(frozen=True)
class _Release:
    """Servers that leave: the least price for each amount."""

    costs: FloatArray
    """[classes, amounts]; -NEVER: no servers have that amount."""
    choices: list[IntArray]
    """By way how many of it leave, [classes, amounts]."""


@dataclass(frozen=True)
class _Intake:
    """Servers and slots that enter: the highest price for each amount."""

    values: FloatArray
    """[amounts]; NEVER: nothing has that amount."""
    choices: list[int]
    """The item taken last, as an index of ways, or SLOT."""


class DynamicPricing:
    """Best columns of all host classes.

    :raises ValueError: servers take several resource classes, or hosts have
        more than two nodes
    """

    def __init__(self, cluster: Cluster, classes: HostClasses) -> None:
        if not is_exact_for(cluster):
            raise ValueError('one resource class on one or two nodes, please')
        self._cluster = cluster
        self._classes = classes
        self._on_node = [
            _items(cluster, (node,)) for node in range(cluster.nodes)
        ]
        self._on_both = _items(cluster, (0, 1))
        self._base = cluster.slot_counts(classes.free)
        released = classes.counts @ cluster.demands
        self._top = max(0, int((classes.free + released).max(initial=0)))
        self._balances: IntArray = np.zeros(1, dtype=np.intp)

    def values(self, prices: Prices) -> FloatArray:
        """What the best column of each class adds, [classes].

        Columns are read by :meth:`column` until the next call.
        """
        worth = prices.of_ways(self._cluster)
        cost = worth + prices.move
        self._both_out = self._release(self._on_both, cost)
        self._both_in = self._intake(self._on_both, worth, exact=True)
        self._couple()
        self._out = [self._release(items, cost) for items in self._on_node]
        self._in = [
            self._intake(items, worth, exact=False) for items in self._on_node
        ]
        total = self._both.copy()
        self._leaving = []
        for node in range(self._cluster.nodes):
            best, leaving = self._node(node)
            total += best
            self._leaving.append(leaving)
        self._balance = total.argmax(axis=1)
        rows = np.arange(len(total))
        best_values: FloatArray = total[rows, self._balance] - self._base
        return best_values

    def column(self, host_class: int) -> Column:
        """The best column of a class at the last prices."""
        ways = len(self._cluster.ways)
        outs, ins = [0] * ways, [0] * ways
        position = int(self._balance[host_class])
        balance = int(self._balances[position])
        leaving = int(self._both_leaving[host_class, position])
        _undo(self._both_out, self._on_both, host_class, leaving, outs)
        _fill(self._both_in, self._on_both, leaving - balance, ins)
        for node, items in enumerate(self._on_node):
            leaving = int(self._leaving[node][host_class, position])
            _undo(self._out[node], items, host_class, leaving, outs)
            free = int(self._classes.free[host_class, node])
            _fill(self._in[node], items, free + balance + leaving, ins)
        return Column(host_class, tuple(outs), tuple(ins))

    def _release(self, items: _Items, cost: FloatArray) -> _Release:
        counts = self._classes.counts
        amounts = (
            int((counts[:, items.ways] @ np.array(items.sizes)).max(initial=0))
            if items.ways
            else 0
        )
        best = np.full((len(counts), amounts + 1), -NEVER)
        best[:, 0] = 0.0
        choices = []
        for way, size in zip(items.ways, items.sizes, strict=True):
            after, choice = best.copy(), np.zeros(best.shape, dtype=np.intp)
            for number in range(1, int(counts[:, way].max(initial=0)) + 1):
                taken = number * size
                offer = best[:, : amounts + 1 - taken] + number * cost[way]
                part = after[:, taken:]
                better = offer < part - EPSILON
                better &= (counts[:, way] >= number)[:, None]
                part[better] = offer[better]
                choice[:, taken:][better] = number
            best = after
            choices.append(choice)
        return _Release(best, choices)

    def _intake(
        self, items: _Items, worth: FloatArray, exact: bool
    ) -> _Intake:
        """A knapsack with any number of each item.

        :param exact: amounts are used up; otherwise some may stay free
        """
        offers = [(SLOT, items.slot, 1.0)] if items.slot else []
        offers += [
            (index, size, float(worth[way]))
            for index, (way, size) in enumerate(
                zip(items.ways, items.sizes, strict=True)
            )
        ]
        values, choices = [0.0], [len(items.ways)]
        for amount in range(1, self._top + 1):
            value = NEVER if exact else values[-1]
            choice = len(items.ways)
            for index, size, price in offers:
                if size <= amount:
                    offer = values[amount - size] + price
                    if offer > value + EPSILON:
                        value, choice = offer, index
            values.append(value)
            choices.append(choice)
        return _Intake(np.array(values), choices)

    def _couple(self) -> None:
        """For each balance of servers on both nodes, the best price."""
        costs = self._both_out.costs
        outs = np.flatnonzero((costs < -NEVER / 2).any(axis=0))
        ins = np.flatnonzero(self._both_in.values > NEVER / 2)
        balances = np.unique(outs[:, None] - ins[None, :])
        shape = len(costs), len(balances)
        self._balances = balances
        self._both = np.full(shape, NEVER)
        self._both_leaving = np.zeros(shape, dtype=np.intp)
        for leaving in outs.tolist():
            places = np.searchsorted(balances, leaving - ins)
            offer = self._both_in.values[ins] - costs[:, [leaving]]
            better = offer > self._both[:, places] + EPSILON
            self._both[:, places] = np.where(
                better, offer, self._both[:, places]
            )
            self._both_leaving[:, places] = np.where(
                better, leaving, self._both_leaving[:, places]
            )

    def _node(self, node: int) -> tuple[FloatArray, IntArray]:
        """The best of a node for each balance, and what leaves it then.

        :returns: both [classes, balances]
        """
        free = self._classes.free[:, [node]]
        release = self._out[node].costs
        intake = self._in[node].values
        amounts = np.arange(release.shape[1])
        shape = len(free), len(self._balances)
        best, leaving = np.zeros(shape), np.zeros(shape, dtype=np.intp)
        rows = np.arange(len(free))
        for position, balance in enumerate(self._balances.tolist()):
            remaining = free + balance + amounts
            # An overfull node may stay so, and must not get worse.
            legal = remaining >= np.minimum(free, 0)
            legal &= remaining <= self._top
            values = intake[np.clip(remaining, 0, self._top)]
            offers = np.where(legal, values - release, NEVER)
            chosen = offers.argmax(axis=1)
            leaving[:, position] = chosen
            best[:, position] = offers[rows, chosen]
        return best, leaving


def is_exact_for(cluster: Cluster) -> bool:
    """Whether the best columns are found by dynamic programming."""
    if not 1 <= cluster.nodes <= NODES:
        return False
    if cluster.free.shape[1] != cluster.nodes or not cluster.hosts:
        return False
    demands = [way.demand for way in cluster.ways] + [*cluster.slots]
    return all(
        sum(amount > 0 for amount in demand) == 1
        or (min(demand) == max(demand) > 0)
        for demand in demands
    )


def _items(cluster: Cluster, nodes: Sequence[int]) -> _Items:
    """The ways, and the size of a slot, of exactly these nodes."""
    pattern = [node in nodes for node in range(cluster.nodes)]
    if len(nodes) > cluster.nodes:
        return _Items((), (), 0)
    ways = tuple(
        index
        for index, way in enumerate(cluster.ways)
        if [amount > 0 for amount in way.demand] == pattern
    )
    sizes = tuple(max(cluster.ways[way].demand) for way in ways)
    slots = [
        max(slot)
        for slot in cluster.slots
        if [amount > 0 for amount in slot] == pattern
    ]
    return _Items(ways, sizes, slots[0] if slots else 0)


def _undo(
    release: _Release, items: _Items, row: int, amount: int, outs: list[int]
) -> None:
    """Count the servers that leave, for an amount."""
    for index in reversed(range(len(items.ways))):
        number = int(release.choices[index][row, amount])
        outs[items.ways[index]] += number
        amount -= number * items.sizes[index]


def _fill(intake: _Intake, items: _Items, amount: int, ins: list[int]) -> None:
    """Count the servers that enter, for an amount."""
    while amount > 0:
        index = intake.choices[amount]
        if index == len(items.ways):
            amount -= 1
        elif index == SLOT:
            amount -= items.slot
        else:
            ins[items.ways[index]] += 1
            amount -= items.sizes[index]
