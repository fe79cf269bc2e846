# SPDX-License-Identifier: Apache-2.0
"""The seeds: hosts that are emptied onto hosts to be done later.

Their servers move twice, so as few of them as possible go there.
"""

import numpy as np

from kronos.engine.arrays import BoolArray
from kronos.engine.simulation.simulation import Simulation
from kronos.extensions.maintenance.planning.room import Room

EVICTION_HOSTS = 8
"""Hosts that are tried to make room for one server of a seed."""


class Seeds:
    """The emptying of seeds.

    :param simulation: in the phase that empties hosts
    :param room: of it
    """

    def __init__(self, simulation: Simulation, room: Room) -> None:
        self._simulation = simulation
        self._room = room

    def empty(
        self, host: int, clean: BoolArray, targets: BoolArray
    ) -> int | None:
        """Empty a host, onto hosts that are to be done where it must be.

        :param clean: [H]: hosts that are done, or are not to be done
        :param targets: [H]: hosts to be done that take what is left
        :returns: how many moves are made again later; None: it stays
        """
        start = len(self._simulation.steps)
        staying = self._room.place_some(host, clean)
        first = len(self._simulation.steps)
        for instance in staying.tolist():
            if self._room.place(instance, targets):
                continue
            if not self._make_room(instance, targets):
                self._room.take_back(start)
                return None
        return len(self._simulation.steps) - first

    def _make_room(self, instance: int, targets: BoolArray) -> bool:
        """Have few servers of another host make room for one."""
        lacking = self._room.lacking(instance)
        hosts = np.flatnonzero(targets)
        hosts = hosts[np.argsort(lacking[hosts], kind='stable')]
        start = len(self._simulation.steps)
        best: tuple[int, int] | None = None
        for host in hosts[:EVICTION_HOSTS].tolist():
            if self._evict(instance, host, targets):
                number = len(self._simulation.steps) - start
                if best is None or number < best[0]:
                    best = number, host
            self._room.take_back(start)
        return best is not None and self._evict(instance, best[1], targets)

    def _evict(self, instance: int, host: int, targets: BoolArray) -> bool:
        """Move servers of a host elsewhere until another one fits there."""
        elsewhere = targets.copy()
        elsewhere[host] = False
        only = np.zeros_like(targets)
        only[host] = True
        for other in self._simulation.on(host).tolist():
            if self._room.place(instance, only):
                return True
            self._room.place(other, elsewhere)
        return self._room.place(instance, only)
