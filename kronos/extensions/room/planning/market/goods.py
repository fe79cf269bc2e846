# SPDX-License-Identifier: Apache-2.0
"""The scope as a market: hosts that are alike, and what may enter them.

Resources that stand for rules are gone here: of a host on which such a rule
is open, it binds nothing, and elsewhere it is a way that may not enter. What
remains has amounts, such as CPUs and memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kronos.engine.arrays import BoolArray, FloatArray, IntArray
from kronos.extensions.room.planning.cluster import Cluster
from kronos.extensions.room.planning.counts import SlotTarget

OPEN = 10_000
"""Slots for which an open rule suffices."""


@dataclass(frozen=True)
class Prices:
    """What changes hands; each at least 0."""

    kinds: FloatArray
    """[kinds], of a server."""
    move: float
    """Of a migration."""
    slots: FloatArray
    """[wanted], of a slot."""

    def between(self, other: 'Prices', share: float) -> 'Prices':
        """A share of these, and the rest of the others."""
        rest = 1.0 - share
        return Prices(
            share * self.kinds + rest * other.kinds,
            share * self.move + rest * other.move,
            share * self.slots + rest * other.slots,
        )


@dataclass(frozen=True)
class Trade:
    """What leaves and enters a host of a class, and its slots then."""

    host_class: int
    outs: tuple[int, ...]
    """By way."""
    ins: tuple[int, ...]
    """By way."""
    slots: tuple[int, ...]
    """By wanted flavor, all at once."""


@dataclass(frozen=True)
class Market:
    """The classes of hosts, and the amounts of their resources."""

    class_of: IntArray
    """[hosts]."""
    sizes: IntArray
    """Hosts by class."""
    free: IntArray
    """[classes, resources]; negative where hosts are overfull."""
    counts: IntArray
    """Movable servers, [classes, ways]."""
    enters: BoolArray
    """[classes, ways]: who may enter."""
    takes: BoolArray
    """[classes, wanted]: for whom a host has slots."""
    demands: IntArray
    """[ways, resources]."""
    slots: IntArray
    """[wanted, resources]."""
    kind_of: IntArray
    """[ways]."""
    memory_mb: IntArray
    """[ways]."""
    numbers: IntArray
    """[wanted], how many are to fit; 0: as many as possible."""
    weights: FloatArray
    """[ways], as how many moves a move counts."""

    @property
    def kinds(self) -> int:
        return int(self.kind_of.max(initial=-1)) + 1

    def is_legal(self, trade: Trade) -> bool:
        """Whether a host of the class has room for a trade."""
        place = trade.host_class
        outs, ins = np.array(trade.outs), np.array(trade.ins)
        slots, free = np.array(trade.slots), self.free[place]
        required = ins @ self.demands + slots @ self.slots
        after = free + outs @ self.demands - required
        return bool(
            (outs <= self.counts[place]).all()
            and not ins[~self.enters[place]].any()
            and not slots[~self.takes[place]].any()
            and ((after >= 0) | (required == 0)).all()
        )


def of(
    cluster: Cluster,
    targets: Sequence[SlotTarget],
    weights: FloatArray | None = None,
) -> Market:
    """The market of a cluster, with a wanted flavor for each way of a slot.

    :param weights: [ways], as how many moves a move counts; None: 1
    """
    demands, counts = cluster.demands, cluster.counts()
    slots = np.array([each.demand for each in targets], dtype=np.intp)
    free = cluster.free
    most = counts.sum(axis=0) @ demands + OPEN * slots.max(axis=0)
    is_open = free >= most
    is_closed = (free + counts @ demands <= 0) & ~is_open
    is_rule = (is_open | is_closed).all(axis=0)
    closed = (is_closed & is_rule).astype(np.intp)
    enters = closed @ (demands > 0).T == 0
    takes = closed @ (slots > 0).T == 0
    amounts = np.flatnonzero(~is_rule)
    rows = np.concatenate([free[:, amounts], counts, enters, takes], axis=1)
    distinct, class_of, sizes = np.unique(
        rows, axis=0, return_inverse=True, return_counts=True
    )
    ends = np.cumsum([len(amounts), len(demands), len(demands)])
    parts = np.split(distinct, ends, axis=1)
    return Market(
        class_of.reshape(-1),
        sizes,
        parts[0],
        parts[1],
        parts[2].astype(bool),
        parts[3].astype(bool),
        demands[:, amounts],
        slots[:, amounts],
        np.array([way.kind for way in cluster.ways], dtype=np.intp),
        np.array([way.memory_mb for way in cluster.ways], dtype=np.intp),
        np.array([each.number for each in targets], dtype=np.intp),
        np.ones(len(demands)) if weights is None else weights,
    )
