# SPDX-License-Identifier: Apache-2.0
"""The redirections: a drain is changed so that more can leave.

An instance that finds no room goes where another one was to go, which goes
elsewhere. So every instance still leaves by one migration, and none moves
that is not drained.
"""

import itertools

import numpy as np

from kronos.engine.arrays import IntArray
from kronos.engine.planning.search.packing.ejections import EjectingPacking
from kronos.engine.planning.search.packing.emptying import Placed
from kronos.engine.simulation.simulation import Simulation

MOST_HELPED = 50
"""Instances that are helped, or tried to."""


class Redirections:
    """What changes of one drain; it changes the simulation.

    :param simulation: in phase evacuate, with the moves of the drain
    :param first: the number of the first of them
    :param packs: whether hosts are to be filled, not evened out
    """

    def __init__(
        self, simulation: Simulation, first: int, packs: bool
    ) -> None:
        self._simulation = simulation
        self._first = first
        self._packs = packs

    def run(self, instances: IntArray) -> None:
        """Help those that find no room.

        :param instances: that have not left
        """
        stuck = self._stuck(instances)
        size = self._simulation.utilization.memory_mb[stuck]
        ordered = stuck[np.lexsort((stuck, -size))]
        for instance in ordered[:MOST_HELPED].tolist():
            if self._simulation.remaining < 1:
                return
            self._help(instance)
        if self._stuck(ordered).size:
            self._begin_anew(ordered)

    def _stuck(self, instances: IntArray) -> IntArray:
        """Those of some that have not left, and have no legal destination."""
        waiting = instances[self._simulation.movable[instances]]
        legal = self._simulation.constraints.hard_rows(waiting)
        return waiting[~legal.any(axis=1)]

    def _begin_anew(self, stuck: IntArray) -> None:
        """Place all once more, in other orders, if more leave then."""
        first = self._moves()
        moved = np.array([instance for instance, _, _ in first], dtype=np.intp)
        everyone = np.union1d(stuck, moved)
        for evens, order in itertools.product((True, False), (1, -1)):
            before = self._moves()
            after = self._placed(everyone, evens and not self._packs, order)
            if len(after) > len(before) and not self._make(0, after):
                self._make(0, before)

    def _placed(
        self, instances: IntArray, evens: bool, order: int
    ) -> list[Placed]:
        """The moves if all begin where they were.

        :param order: 1: the largest first; -1: the smallest
        """
        simulation = self._simulation
        most = len(self._moves()) + simulation.remaining
        hosts = np.ones(len(simulation.utilization.counts), dtype=bool)
        with simulation.placement.trial():
            packing = EjectingPacking(simulation, evens)
            packing.moves += self._moves()
            packing.take_back(0)
            ordered = packing.heaviest_first(instances)[::order]
            for instance in ordered.tolist():
                if len(packing.moves) < most:
                    packing.place_all(np.array([instance]), hosts, 0.0, 0)
            return list(packing.moves)

    def _help(self, instance: int) -> None:
        before = self._moves()
        with self._simulation.placement.trial():
            packing = EjectingPacking(self._simulation, not self._packs)
            packing.moves += before
            hosts = np.ones(len(packing.load), dtype=bool)
            if not packing.redirect(instance, hosts):
                return
            after = list(packing.moves)
        number = sum(
            1
            for _ in itertools.takewhile(
                lambda both: both[0] == both[1],
                zip(before, after, strict=False),
            )
        )
        if not self._make(number, after):
            self._make(number, before)

    def _moves(self) -> list[Placed]:
        return [
            (step.undo.instance, step.undo.source, step.undo.destination)
            for step in self._simulation.steps[self._first :]
        ]

    def _make(self, number: int, moves: list[Placed]) -> bool:
        """Take back all moves but so many, and make others.

        :returns: whether each was legal, and nobody objected
        """
        while len(self._simulation.steps) > self._first + number:
            self._simulation.take_back()
        for instance, _, host in moves[number:]:
            if not self._may(instance, host):
                return False
            self._simulation.move(instance, host)
        return True

    def _may(self, instance: int, host: int) -> bool:
        simulation = self._simulation
        if simulation.constraints.reasons(instance, host, hard=True):
            return False
        if not simulation.rules.thresholds_object:
            return True
        utilization, to = simulation.utilization, np.array([host])
        source = simulation.placement.host_of[[instance]]
        instances = np.array([instance])
        _, entered = utilization.scores_after(instances, source, to)
        # A source does not count, so the destination is both ends.
        _, objected = utilization.judge(to, to, entered, entered)
        return not objected.any()
