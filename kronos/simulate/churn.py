# SPDX-License-Identifier: Apache-2.0
"""The churn of a load: who is born, gone and moved in truth, by tick."""

import numpy as np

from kronos.simulate.accounting import Move
from kronos.simulate.boots import Scheduler
from kronos.simulate.cloud import Cloud
from kronos.simulate.load import Load
from kronos.simulate.moves import Journey, Moves

SETUP_SECONDS = 6.0
"""What a move takes beside the copying."""


class Churn:
    """What a load does to a cloud.

    :param scheduler: places who is born after the first tick; None: all go
        where they went, and move as they did
    """

    def __init__(
        self,
        load: Load,
        cloud: Cloud,
        moves: Moves,
        scheduler: Scheduler | None,
    ) -> None:
        self._load = load
        self._cloud = cloud
        self._moves = moves
        self._scheduler = scheduler
        self._last = np.full(len(cloud.uuids), -1, np.int32)
        """The placement at the tick before."""
        self.journeys: list[Journey] = []
        """The moves of the load that were made."""

    def advance(self, tick: int, now: float) -> None:
        """Let happen what happens by a tick."""
        places, last = self._load.placement[tick], self._last
        for server in np.flatnonzero((places < 0) & (last >= 0)).tolist():
            self._moves.drop(server, now)
            self._cloud.delete(server)
        born = (places >= 0) & (last < 0)
        for server in np.flatnonzero(born).tolist():
            place = int(places[server])
            if tick and self._scheduler:
                place = self._scheduler.host_of(server, place, tick, now)
            self._cloud.boot(server, place, now if tick else 0.0)
        if self._scheduler is None:
            stays = (places >= 0) & (last >= 0)
            for server in np.flatnonzero(stays & (places != last)).tolist():
                self._arrive(server, int(places[server]), now)
        self._last = places

    def _arrive(self, server: int, place: int, now: float) -> None:
        cloud = self._cloud
        source = cloud.names[cloud.host[server]]
        self.journeys.append(
            Journey(
                cloud.uuids[server],
                source,
                cloud.names[place],
                now,
                cloud.instances[cloud.uuids[server]].name,
            )
        )
        cloud.put(server, place)

    def moves(self, tick: int, bandwidth: float) -> list[Move]:
        """Those of the load in the interval after a tick.

        When in it nobody knows.

        :param bandwidth: MiB per second
        """
        now, then = self._load.placement[tick : tick + 2]
        moving = np.flatnonzero((now >= 0) & (then >= 0) & (now != then))
        return [
            self._move(server, int(now[server]), int(then[server]), bandwidth)
            for server in moving.tolist()
        ]

    def _move(
        self, server: int, source: int, destination: int, bandwidth: float
    ) -> Move:
        memory_mb = float(self._cloud.demand[server, 1])
        seconds = min(
            SETUP_SECONDS + memory_mb / bandwidth, float(self._load.meta.step)
        )
        return Move(server, source, destination, 0.0, seconds, memory_mb)
