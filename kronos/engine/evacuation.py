# SPDX-License-Identifier: Apache-2.0
"""How are hosts emptied that are to be drained? (G1-G10)

Greedy: of all pairs of an instance that is to leave and a legal destination
the one that leaves the combined imbalance lowest (G6), again and again;
where soft server groups do not veto, their penalties count with it. In mode
pack instead the largest instance first, to the fullest legal host.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kronos.engine.arrays import EPSILON, BoolArray, FloatArray, IntArray
from kronos.engine.departures import Departures
from kronos.engine.draft import Draft, PhaseEnd
from kronos.engine.settings import Settings
from kronos.policies.models import Mode

PAIRS_AT_ONCE = 2**18
"""Pairs judged in one go: so arrays stay at 2 MiB, whatever the scope."""

Pair = tuple[int, int]
"""An instance and its destination."""


class Evacuation:
    """The search in one scope; it changes the draft.

    :param draft: in phase evacuate
    :param sources: positions of the hosts to be emptied; they do not count
    :param mode: of the policies; pack knows no threshold to object by
    :param fixed: instance uuid to the reason why no phase may move it
    """

    def __init__(
        self,
        draft: Draft,
        sources: list[int],
        mode: Mode,
        settings: Settings,
        fixed: Mapping[str, str] | None = None,
    ) -> None:
        self._draft = draft
        self._state = draft.state
        self._packs = mode is Mode.PACK
        self._hears = not (self._packs or settings.drain_may_exceed_threshold)
        # Only what counts is a destination; [D] of the hosts.
        self._hosts = np.flatnonzero(draft.state.counts)
        hosts = len(draft.state.index.hosts)
        self._is_source: BoolArray = np.zeros(hosts, dtype=bool)
        self._is_source[sources] = True
        self._penalty = settings.soft_rule_penalty
        self._report = Departures(
            draft, sources, self._hears, fixed or {}, not self._packs
        )

    def run(self) -> PhaseEnd:
        """Plan until the hosts are empty or nothing more can leave.

        The moves are in the draft.
        """
        if self._packs:
            self._fill_up()
        else:
            self._spread_out()
        return self._report.end(self._to_leave())

    def _to_leave(self) -> IntArray:
        there = self._is_source[self._state.host_of]
        return np.flatnonzero(there & self._draft.movable)

    def _spread_out(self) -> None:
        instances = self._to_leave()
        legal = self._legal(instances)
        price = self._price(instances)
        while self._draft.left > 0 and len(instances):
            pair = self._best(instances, legal, price)
            if pair is None:
                return
            self._draft.make(*pair)
            others = instances != pair[0]
            instances, legal = instances[others], legal[others]
            # No rule looks further than at the two hosts of a move, and
            # the host that was left takes nothing. Only a soft rule does.
            column = self._draft.constraints.hard_column(pair[1])
            legal[:, self._hosts == pair[1]] = column[instances][:, None]
            price = self._price(instances)

    def _legal(self, instances: IntArray) -> BoolArray:
        """[n, D]"""
        legal = np.zeros((len(instances), len(self._hosts)), dtype=bool)
        for part in self._parts(len(instances)):
            rows = self._draft.constraints.hard_rows(instances[part])
            legal[part] = rows[:, self._hosts]
        return legal

    def _price(self, instances: IntArray) -> FloatArray | None:
        """[n, D], in combined imbalance; None where soft rules veto."""
        if not self._draft.constraints.weighs_soft_rules:
            return None
        breaks = self._draft.constraints.soft_breaks_rows(instances)
        price: FloatArray = np.multiply(breaks[:, self._hosts], self._penalty)
        return price

    def _parts(self, instances: int) -> Iterator[slice]:
        size = max(1, PAIRS_AT_ONCE // len(self._state.index.hosts))
        for start in range(0, instances, size):
            yield slice(start, start + size)

    def _best(
        self,
        instances: IntArray,
        legal: BoolArray,
        price: FloatArray | None,
    ) -> Pair | None:
        """The pair that leaves the combined imbalance and price lowest.

        Of equals the one that lowers the variance most, then the one with
        the least memory, then the first by uuid and name of the host.
        """
        best = -np.inf
        found: list[tuple[IntArray, IntArray, FloatArray]] = []
        for part in self._parts(len(instances)):
            some = instances[part]
            gains, objected = self._judged(some)
            good = legal[part]
            if self._hears:
                good = good & ~objected
            if price is not None:
                gains = gains - price[part]
            gains = np.where(good, gains, -np.inf)
            best = max(best, float(gains.max()))
            rows, hosts = np.nonzero(good & (gains >= best - EPSILON))
            found.append((some[rows], self._hosts[hosts], gains[rows, hosts]))
        if best == -np.inf:
            return None
        leavers, hosts, gained = _joined(found)
        equal = gained >= best - EPSILON
        return self._of_equals(leavers[equal], hosts[equal])

    def _judged(self, instances: IntArray) -> tuple[FloatArray, BoolArray]:
        """[n, D] each, as :meth:`State.judge` has it.

        A source does not count, so each destination is both ends.
        """
        hosts = self._hosts[None, :]
        sources = self._state.host_of[instances][:, None]
        _, entered = self._state.shifted(instances[:, None], sources, hosts)
        return self._state.judge(hosts, hosts, entered, entered)

    def _of_equals(self, instances: IntArray, hosts: IntArray) -> Pair:
        if len(instances) > 1:
            drops = np.concatenate(
                [
                    self._drops(instances[start:end], hosts[start:end])
                    for start, end in _cuts(len(instances))
                ]
            )
            equal = drops >= drops.max() - EPSILON
            instances, hosts = instances[equal], hosts[equal]
            memory = self._state.memory_mb[instances]
            lightest = memory == memory.min()
            instances, hosts = instances[lightest], hosts[lightest]
        first = np.lexsort((hosts, instances))[0]
        return int(instances[first]), int(hosts[first])

    def _drops(self, instances: IntArray, hosts: IntArray) -> FloatArray:
        sources = self._state.host_of[instances]
        ends = self._state.shifted(instances, sources, hosts)
        return self._state.scatter_drop(sources, hosts, *ends)

    def _fill_up(self) -> None:
        """As B12 and B13 have it: the largest first, to the fullest host.

        An instance that cannot leave is tried again after the others have.
        """
        waiting = self._by_size().tolist()
        while True:
            stayed = []
            for instance in waiting:
                host = self._fullest(instance) if self._draft.left > 0 else -1
                if host < 0:
                    stayed.append(instance)
                else:
                    self._draft.make(instance, host)
            if len(stayed) == len(waiting):
                return
            waiting = stayed

    def _by_size(self) -> IntArray:
        """Those that are to leave, by weighted usage, the largest first.

        As shares of the scope's mean host: the size of a host that is
        drained need not be known.
        """
        state = self._state
        size = state.capacity[:, state.counts].mean(axis=1, keepdims=True)
        instances = self._to_leave()
        shares = state.weights @ (state.usage / size)
        # Rounded, so that sums in another order stay equal.
        order = np.round(-shares[instances] / EPSILON)
        return instances[np.lexsort((instances, order))]

    def _fullest(self, instance: int) -> int:
        """The fullest host that may take it, the first of equals; or -1."""
        row = self._draft.constraints.rows(np.array([instance]))[0]
        hosts = np.flatnonzero(row)
        if not hosts.size:
            return -1
        full = self._state.weights @ self._state.scores[:, hosts]
        return int(hosts[full >= full.max() - EPSILON][0])


def _joined(
    found: Sequence[tuple[IntArray, IntArray, FloatArray]],
) -> tuple[IntArray, IntArray, FloatArray]:
    instances, hosts, gains = zip(*found, strict=True)
    return (
        np.concatenate(instances),
        np.concatenate(hosts),
        np.concatenate(gains),
    )


def _cuts(number: int) -> Iterator[tuple[int, int]]:
    for start in range(0, number, PAIRS_AT_ONCE):
        yield start, start + PAIRS_AT_ONCE
