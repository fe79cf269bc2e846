# SPDX-License-Identifier: Apache-2.0
"""How are hosts emptied that are to be drained? (G1-G10)

Greedy: of all pairs of an instance that is to leave and a legal destination
the one that leaves the combined imbalance lowest (G6), again and again;
where soft server groups do not veto, their penalties count with it. In mode
pack instead the largest instance first, to the fullest legal host in use; an
empty host only takes what no other may.
"""

from collections.abc import Mapping

import numpy as np

from kronos.engine.arrays import EPSILON, BoolArray, IntArray
from kronos.engine.planning.drain_reasons import DrainReasons
from kronos.engine.planning.search.drain_moves import DrainMoves
from kronos.engine.settings import Settings
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.policies.models import Mode


class Evacuation:
    """The search in one scope; it changes the draft.

    :param draft: in phase evacuate
    :param sources: positions of the hosts to be emptied; they do not count
    :param mode: of the policies; pack knows no threshold to object by
    :param fixed: instance uuid to the reason why no phase may move it
    """

    def __init__(
        self,
        draft: Simulation,
        sources: list[int],
        mode: Mode,
        settings: Settings,
        fixed: Mapping[str, str] | None = None,
    ) -> None:
        self._draft = draft
        self._state = draft.state
        self._packs = mode is Mode.PACK
        self._hears = not (self._packs or settings.drain_may_exceed_threshold)
        hosts = len(draft.state.index.hosts)
        self._is_source: BoolArray = np.zeros(hosts, dtype=bool)
        self._is_source[sources] = True
        self._penalty = settings.soft_rule_penalty
        self._report = DrainReasons(
            draft, sources, self._hears, fixed or {}, not self._packs
        )

    def run(self) -> PhaseResult:
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
        exits = DrainMoves(
            self._draft, self._to_leave(), self._hears, self._penalty
        )
        while self._draft.left > 0:
            pair = exits.best()
            if pair is None:
                return
            self._draft.make(*pair)
            exits.follow(*pair)

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
        """The fullest host that may take it, the first of equals; or -1.

        One in use comes before an empty one, whose score may be noise.
        """
        row = self._draft.constraints.rows(np.array([instance]))[0]
        in_use = np.zeros(len(row), dtype=bool)
        in_use[self._state.host_of] = True
        if (row & in_use).any():
            row = row & in_use
        hosts = np.flatnonzero(row)
        if not hosts.size:
            return -1
        full = self._state.weights @ self._state.scores[:, hosts]
        return int(hosts[full >= full.max() - EPSILON][0])
