# SPDX-License-Identifier: Apache-2.0
"""The pack scope: the hosts that a packing may empty, and what limits it.

Built where the packing begins. Its searches ask it while they try, the proof
before the first move.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Self

import numpy as np

from kronos.engine.arrays import BoolArray, FloatArray, Index, IntArray
from kronos.engine.eligibility import begun_hosts, in_flight
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.simulation.simulation import Simulation

ASKED_PAIRS = 2**21
"""Up to so many pairs it is asked who may go where at all."""


@dataclass(frozen=True, eq=False)
class Knapsack:
    """One limit on the hosts that are emptied: so much goes in together."""

    weights: FloatArray
    """[H]"""
    capacity: float


@dataclass(frozen=True, eq=False)
class PackScope:
    """A scope whose instances are to share fewer hosts.

    :param simulation: in phase pack
    """

    simulation: Simulation
    keep_hosts: int
    awaited: BoolArray
    """[H]: an instance is migrating to it"""
    gone: IntArray
    """[H]: how many instances left a host lately"""
    begun: BoolArray
    """[H]: an earlier plan of pack has begun to empty it"""

    @classmethod
    def of(cls, simulation: Simulation, inputs: PhaseInput) -> Self:
        """The scope of a simulation in phase pack."""
        index = simulation.utilization.index
        going = in_flight.destinations(inputs.snapshot).values()
        departures = Counter(
            index.host[host]
            for uuid, hosts in inputs.cooldowns.returns.items()
            for host in hosts
            if uuid in index.instance and host in index.host
        )
        gone: IntArray = np.zeros(len(index.hosts), dtype=np.intp)
        gone[list(departures)] = list(departures.values())
        return cls(
            simulation,
            inputs.settings.keep_hosts,
            _mask(index, {host for hosts in going for host in hosts}),
            gone,
            _mask(index, begun_hosts.of(inputs.snapshot)),
        )

    def number(self) -> IntArray:
        """[H]: how many instances are on each host."""
        hosts = len(self.simulation.utilization.index.hosts)
        return np.bincount(self.simulation.placement.host_of, minlength=hosts)

    def in_use(self) -> BoolArray:
        """[H]: the hosts that count and have an instance, or soon will."""
        used = (self.number() > 0) | self.awaited
        return used & self.simulation.utilization.counts

    def candidates(self) -> IntArray:
        """The hosts in use from which everything may leave."""
        simulation = self.simulation
        staying = self.awaited.copy()
        host_of = simulation.placement.host_of
        staying[host_of[~self._may_leave()]] = True
        return np.flatnonzero(self.in_use() & ~staying)

    def _may_leave(self) -> BoolArray:
        """[V]: who may be planned, and go somewhere at some time."""
        simulation = self.simulation
        hosts = np.flatnonzero(self.in_use())
        movable = simulation.movable
        if len(movable) * len(hosts) > ASKED_PAIRS:
            return movable
        somewhere: BoolArray = np.zeros(len(movable), dtype=bool)
        host_of = simulation.placement.host_of
        for host in hosts.tolist():
            ever = simulation.constraints.ever(host)
            somewhere |= ever & (host_of != host)
        return movable & somewhere

    def free_capacities(self) -> list[tuple[FloatArray, FloatArray]]:
        """What instances take [V] and hosts in use have room for [H].

        Per resource of Placement and per policy; never negative.
        """
        in_use = self.in_use()
        rules = self.simulation.constraints
        pairs = [
            (need.astype(float), free.astype(float))
            for need, free in rules.free_capacities()
        ]
        return [
            (need, np.where(in_use, np.maximum(free, 0.0), 0.0))
            for need, free in pairs + rules.ceilings()
        ]

    def knapsacks(self) -> list[Knapsack]:
        """What all that leaves has to fit into, per resource.

        A host that is emptied gives what is on it, and its own room is lost
        for the others.
        """
        host_of = self.simulation.placement.host_of
        hosts = len(self.awaited)
        return [
            Knapsack(
                np.bincount(host_of, weights=need, minlength=hosts) + free,
                float(free.sum()),
            )
            for need, free in self.free_capacities()
        ]


def _mask(index: Index, names: set[str]) -> BoolArray:
    """[H]: which hosts are named."""
    return np.array([name in names for name in index.hosts], dtype=bool)
