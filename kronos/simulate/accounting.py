# SPDX-License-Identifier: Apache-2.0
"""The sums over time of a simulated cloud: CPU, energy, migrations.

The definitions are those of the experiment on consolidation that CloudSim
made public: load changes linearly between two samples, a host without
instances is off and takes no energy, and a live migration costs
:data:`OVERHEAD` of the CPU that its instance asks for, at both ends.
"""

import collections
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Watts = Callable[[Floats], Floats]
"""The power of every host, by the ratio of its CPU in use."""

OVERHEAD = 0.1
"""Of its CPU an instance loses, and its destination carries, in a move."""
HOT = 0.9
HOUR, DAY = 3600.0, 86400.0
RETURN_SECONDS = DAY
"""Whoever comes back to a host within this time is in a ping-pong."""
GONE_SECONDS = HOUR
"""Whoever is deleted within this time was moved for nothing."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Move:
    """A live migration, by the places of instance and hosts in the arrays."""

    instance: int
    source: int
    destination: int
    start_s: float
    """After the start of the interval; below 0: it began before."""
    seconds: float
    memory_mb: float = 0.0
    fails: bool = False
    """Whether the instance stays where it was."""

    @property
    def end_s(self) -> float:
        return self.start_s + self.seconds


@dataclass(frozen=True)
class Figures:
    """What a run cost and what it reached."""

    days: float
    kwh: float | None
    """None where no watts are known."""
    slatah: float
    """Ratio of the time of hosts in use in which less is given than asked;
    a host that takes an instance in counts with the whole of it."""
    pdm: float
    """Ratio of the CPU asked for that instances lack while they move."""
    not_given: float
    """Ratio of the CPU asked for that no instance got."""
    host_hours: float
    hot_hours: float
    """Of hosts whose instances ask for more than :data:`HOT` of them."""
    full_hours: float
    """Of hosts whose instances ask for more than the host has."""
    hosts_in_use: float
    moves: int
    failed: int
    most_moves: int
    """Of one instance."""
    returns: int
    """Moves back to a host left within :data:`RETURN_SECONDS`."""
    gone: int
    """Moves of instances deleted within :data:`GONE_SECONDS`."""
    gib: float
    gone_gib: float
    instances: float
    """That there are, on average."""
    spread: float
    """Mean difference between the fullest and the emptiest host."""
    spread_95: float
    """What that difference exceeds in 5 % of the intervals."""
    deviation: float
    """Mean standard deviation of the hosts."""

    @property
    def moves_per_day(self) -> float:
        return self.moves / self.days if self.days else 0.0

    @property
    def moves_per_instance_day(self) -> float:
        alive = self.days * self.instances
        return self.moves / alive if alive else 0.0

    @property
    def slav(self) -> float:
        return self.slatah * self.pdm

    @property
    def esv(self) -> float | None:
        return None if self.kwh is None else self.kwh * self.slav


@dataclass
class _Totals:
    joules: float = 0.0
    on_seconds: float = 0.0
    short_seconds: float = 0.0
    hot_seconds: float = 0.0
    full_seconds: float = 0.0
    requested: float = 0.0
    lacking: float = 0.0
    lacking_moving: float = 0.0


@dataclass(frozen=True)
class _Traffic:
    """The migrations of an interval, as arrays."""

    rows: Integers
    """Where the instances stand among those that are there."""
    destinations: Integers
    starts: Floats
    ends: Floats
    succeeds: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, moves: Sequence[Move], present: Integers) -> '_Traffic':
        """Those of instances that are there.

        :param present: the places of these instances, ascending
        """
        instances = np.array([move.instance for move in moves], dtype=int)
        is_there = np.isin(instances, present)
        moves = list(itertools.compress(moves, is_there))
        return cls(
            rows=np.searchsorted(present, instances[is_there]),
            destinations=np.array([move.destination for move in moves], int),
            starts=np.array([move.start_s for move in moves], float),
            ends=np.array([move.end_s for move in moves], float),
            succeeds=np.array([not move.fails for move in moves], bool),
        )

    def edges(self, step: float) -> list[float]:
        """Where one begins or ends, and the interval, too."""
        edges = {0.0, step, *self.starts.tolist(), *self.ends.tolist()}
        return sorted(edge for edge in edges if 0 <= edge <= step)

    def is_under_way(self, second: float) -> npt.NDArray[np.bool_]:
        is_begun = self.starts <= second + ROUNDING
        return is_begun & (self.ends > second + ROUNDING)

    def settle(self, place: Integers, second: float) -> None:
        """Put on its destination whoever has arrived."""
        is_done = self.succeeds & (self.ends <= second + ROUNDING)
        place[self.rows[is_done]] = self.destinations[is_done]


@dataclass(frozen=True)
class _Shares:
    """Who gets what at a moment."""

    used: Floats
    """Ratio of each host's capacity."""
    is_short: npt.NDArray[np.bool_]
    granted_shares: Floats
    """By instance."""


class Accounting:
    """What adds up the intervals of one run.

    :param capacity: of each host, in the unit in which instances ask
    :param core: the most that one instance can have on each host; None: all
    """

    def __init__(
        self,
        capacity: npt.ArrayLike,
        watts: Watts | None = None,
        core: npt.ArrayLike | None = None,
    ) -> None:
        self._capacity = np.asarray(capacity, dtype=float)
        self._watts = watts
        self._core = None if core is None else np.asarray(core, dtype=float)
        self._hosts = len(self._capacity)
        self._rest: Floats = np.zeros(self._hosts)
        self._totals = _Totals()
        self._seconds = 0.0
        self._moves: list[tuple[float, Move]] = []
        self._died: dict[int, float] = {}
        self._was_there: npt.NDArray[np.bool_] | None = None
        self._in_use: list[float] = []
        self._alive: list[float] = []
        self._spreads: list[float] = []
        self._deviations: list[float] = []

    def interval(
        self,
        asked_start: Floats,
        asked_end: Floats,
        host: Integers,
        moves: Sequence[Move],
        step: float,
        rest: Floats | None = None,
    ) -> None:
        """Add an interval.

        :param asked_start: what each instance asks for at its start
        :param asked_end: the same at its end
        :param host: where each is at its start; -1: it is not there
        :param moves: those under way in it; one that takes longer is given
            again with the next interval, with a start below 0
        :param rest: of each host's load what is of no instance; NaN: nothing
            is known of it
        """
        if rest is not None:
            self._rest = np.maximum(np.nan_to_num(rest), 0.0)
        self._remember(host, moves)
        present = np.flatnonzero(host >= 0)
        place = host[present]
        start = np.nan_to_num(asked_start[present])
        slope = (np.nan_to_num(asked_end[present]) - start) / step
        traffic = _Traffic.of(moves, present)
        for begin, end in itertools.pairwise(traffic.edges(step)):
            traffic.settle(place, begin)
            is_moving = traffic.is_under_way(begin)
            self._piece(
                start + slope * begin,
                start + slope * end,
                place,
                traffic.rows[is_moving],
                traffic.destinations[is_moving],
                end - begin,
            )
        traffic.settle(place, step)
        self._seconds += step
        self._measure(start + slope * step, place)

    def figures(self, skip_s: float = 0.0) -> Figures:
        """What all intervals come to.

        :param skip_s: migrations before this time do not count: the first
            plan, after a bad start, says nothing of a usual day
        """
        totals = self._totals
        spreads = self._spreads or [0.0]
        return Figures(
            days=(self._seconds - skip_s) / DAY,
            kwh=None if self._watts is None else totals.joules / 3.6e6,
            slatah=_ratio(totals.short_seconds, totals.on_seconds),
            pdm=_ratio(totals.lacking_moving, totals.requested),
            not_given=_ratio(totals.lacking, totals.requested),
            host_hours=totals.on_seconds / HOUR,
            hot_hours=totals.hot_seconds / HOUR,
            full_hours=totals.full_seconds / HOUR,
            hosts_in_use=_mean(self._in_use),
            instances=_mean(self._alive),
            spread=_mean(spreads),
            spread_95=float(np.quantile(spreads, 0.95)),
            deviation=_mean(self._deviations),
            **self._counts(skip_s),
        )

    def _counts(self, skip_s: float) -> dict[str, Any]:
        """Those of the migrations that began not before some second."""
        moves = [each for each in self._moves if each[0] >= skip_s]
        done = [(begin, move) for begin, move in moves if not move.fails]
        gone = [
            move
            for begin, move in done
            if self._died.get(move.instance, np.inf) - begin <= GONE_SECONDS
        ]
        per_instance = collections.Counter(move.instance for _, move in done)
        return {
            'moves': len(done),
            'failed': len(moves) - len(done),
            'most_moves': max(per_instance.values(), default=0),
            'returns': _returns(done),
            'gone': len(gone),
            'gib': sum(move.memory_mb for _, move in done) / 1024,
            'gone_gib': sum(move.memory_mb for move in gone) / 1024,
        }

    @property
    def spreads(self) -> list[float]:
        """Fullest minus emptiest host, at the end of each interval."""
        return self._spreads

    def _remember(self, host: Integers, moves: Iterable[Move]) -> None:
        """What migrations there are, and who is there no more."""
        self._moves += [
            (self._seconds + move.start_s, move)
            for move in moves
            if move.start_s >= 0
        ]
        is_there = host >= 0
        if self._was_there is not None:
            for instance in np.flatnonzero(self._was_there & ~is_there):
                self._died[int(instance)] = self._seconds
        self._was_there = is_there
        self._alive.append(int(is_there.sum()))

    def _piece(
        self,
        begin: Floats,
        end: Floats,
        place: Integers,
        moving: Integers,
        targets: Integers,
        seconds: float,
    ) -> None:
        """Add a time in which no migration begins or ends."""
        totals = self._totals
        shares = self._shares(begin, place, moving, targets)
        is_on = np.bincount(place, minlength=self._hosts) > 0
        is_on[targets] = True
        if self._watts is not None:
            later = self._shares(end, place, moving, targets)
            power = (self._watts(shares.used) + self._watts(later.used)) / 2
            totals.joules += float(power[is_on].sum()) * seconds
        load = (self._sums(place, begin) + self._rest) / self._capacity
        lacking = begin - shares.granted_shares
        totals.on_seconds += int(is_on.sum()) * seconds
        totals.short_seconds += int((is_on & shares.is_short).sum()) * seconds
        totals.hot_seconds += int((load > HOT).sum()) * seconds
        totals.full_seconds += int((load > 1.0).sum()) * seconds
        totals.requested += float(begin.sum()) * seconds
        totals.lacking += float(lacking.sum()) * seconds
        totals.lacking_moving += float(lacking[moving].sum()) * seconds

    def _shares(
        self,
        demand: Floats,
        place: Integers,
        moving: Integers,
        targets: Integers,
    ) -> _Shares:
        limited, incoming = demand, demand[moving]
        if self._core is not None:
            limited = np.minimum(demand, self._core[place])
            incoming = np.minimum(incoming, self._core[targets])
        need = self._sums(place, limited) + self._rest
        need += self._sums(targets, incoming * OVERHEAD)
        factor = np.minimum(1.0, self._capacity / np.maximum(need, ROUNDING))
        mine = limited * factor[place]
        granted = mine.copy()
        granted[moving] *= 1 - OVERHEAD
        carried = incoming * OVERHEAD * factor[targets]
        got = self._sums(place, mine) + self._sums(targets, carried)
        got += self._rest * factor
        required = self._sums(place, demand) + self._rest
        required += self._sums(targets, demand[moving])
        return _Shares(
            used=np.minimum(got / self._capacity, 1.0),
            is_short=got < required - ROUNDING * self._capacity,
            granted_shares=granted,
        )

    def _measure(self, demand: Floats, place: Integers) -> None:
        load = (self._sums(place, demand) + self._rest) / self._capacity
        count = np.bincount(place, minlength=self._hosts)
        self._in_use.append(int((count > 0).sum()))
        self._spreads.append(float(load.max() - load.min()))
        self._deviations.append(float(load.std()))

    def _sums(self, place: Integers, values: Floats) -> Floats:
        sums = np.bincount(place, values, self._hosts)
        return np.asarray(sums, dtype=float)


def _returns(moves: Iterable[tuple[float, Move]]) -> int:
    """How many come back to a host that they left not long ago."""
    departures: dict[tuple[int, int], float] = {}
    returns = 0
    for begin, move in sorted(moves, key=lambda pair: pair[0]):
        before = departures.get((move.instance, move.destination), -np.inf)
        returns += begin - before < RETURN_SECONDS
        departures[move.instance, move.source] = begin
    return returns


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values or [0.0]))
