# SPDX-License-Identifier: Apache-2.0
"""The state of a host: what is free, as Placement and Nova account for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kronos.engine.slots import numa_facts
from kronos.engine.slots.flavors import SlotFlavor
from kronos.engine.slots.numa_nodes import HostNodes, NumaDemand
from kronos.engine.types import Instance

Nodes = tuple[int, ...]


@dataclass
class HostState:
    """A host while servers come and go."""

    free: dict[str, int]
    """By resource class; negative if it is overfull."""
    nodes: HostNodes | None = None
    """None: they are not known."""
    is_dedicated: bool = False
    """Whether its CPUs are dedicated ones."""

    def copy(self) -> 'HostState':
        nodes = self.nodes and self.nodes.copy()
        return HostState({**self.free}, nodes, self.is_dedicated)

    def slots(self, flavor: SlotFlavor, most: int | None = None) -> int:
        """How many new servers of a flavor fit, whoever may create them.

        :param most: so many are enough
        """
        number = min(
            max(self.free[resource], 0) // amount
            for resource, amount in flavor.demand.items()
        )
        if most is not None:
            number = min(number, most)
        if flavor.numa is None:
            return number
        return self.nodes.slots(flavor.numa, number) if self.nodes else 0

    def create(self, flavor: SlotFlavor) -> bool:
        """Take a new server of a flavor; False: it does not fit."""
        if not self.slots(flavor, 1):
            return False
        if flavor.numa is not None and self.nodes is not None:
            chosen = self.nodes.choice(flavor.numa)
            if chosen is None:
                return False
            self.nodes.take(flavor.numa, chosen)
        for resource, amount in flavor.demand.items():
            self.free[resource] -= amount
        return True

    def choice(
        self, server: Instance, demand: NumaDemand | None
    ) -> Nodes | None:
        """The nodes that Nova chooses for a server; None: none take it.

        :param demand: None: it has no NUMA topology, and needs no nodes
        """
        if demand is None:
            amounts = _amounts(server, None)
            fits = all(
                amounts.get(resource, 0) <= max(0, free)
                for resource, free in self.free.items()
            )
            return () if fits else None
        if self.nodes is None or demand.is_pinned is not self.is_dedicated:
            return None
        return self.nodes.choice(demand)

    def fill(self, demand: NumaDemand | None) -> int:
        """CPUs that are taken, up to a constant if there are no nodes.

        :param demand: of a server, as of :meth:`choice`
        """
        if demand is not None and self.nodes is not None:
            return sum(self.nodes.cpus)
        return -self.free.get(numa_facts.SHARED, 0)

    def add(
        self,
        server: Instance,
        demand: NumaDemand | None,
        nodes: Nodes,
        times: int,
    ) -> None:
        """Add a server to its nodes, or remove it.

        :param times: 1, or -1
        """
        if demand is not None and self.nodes is not None:
            if times > 0:
                self.nodes.take(demand, nodes)
            else:
                self.nodes.release(demand, nodes)
        amounts = _amounts(server, demand)
        for resource in self.free:
            self.free[resource] -= times * amounts.get(resource, 0)


@dataclass(frozen=True)
class Filling:
    """New servers that a host takes in turn, flavor by flavor."""

    flavors: Sequence[SlotFlavor]
    """In the order in which they are created."""
    takes: Sequence[frozenset[str]]
    """The hosts that take new servers, of each of them."""
    apart: bool = False
    """Whether a host takes one new server at most."""

    def slots(
        self, name: str, state: HostState, reserved: Sequence[int]
    ) -> int:
        """How many servers of the next flavor fit beside those before.

        :param reserved: of each flavor before it, new servers on the host
        :returns: -1: these do not fit any more
        """
        filled = state.copy() if any(reserved) else state
        for flavor, number in zip(self.flavors, reserved, strict=False):
            for _ in range(number):
                if not filled.create(flavor):
                    return -1
        place = len(reserved)
        if name not in self.takes[place]:
            return 0
        most = max(0, 1 - sum(reserved)) if self.apart else None
        return filled.slots(self.flavors[place], most)

    def loss(
        self, name: str, state: HostState, reserved: Sequence[int]
    ) -> int:
        """CPUs of later flavors that no longer fit with one more server.

        :param reserved: as of :meth:`slots`, with the flavor that gets it
        """
        more = [*reserved[:-1], reserved[-1] + 1]
        return self._later(name, state, reserved) - self._later(
            name, state, more
        )

    def _later(
        self, name: str, state: HostState, reserved: Sequence[int]
    ) -> int:
        total = 0
        for place in range(len(reserved), len(self.flavors)):
            padded = [*reserved, *[0] * (place - len(reserved))]
            slots = max(0, self.slots(name, state, padded))
            total += slots * size(self.flavors[place])[0]
        return total


def size(flavor: SlotFlavor) -> tuple[int, int, str]:
    """CPUs, shared or dedicated, memory and name."""
    cpus = sum(
        flavor.demand.get(resource, 0)
        for resource in (numa_facts.SHARED, numa_facts.PINNED)
    )
    return cpus, flavor.demand.get(numa_facts.MEMORY, 0), flavor.name


def _amounts(server: Instance, demand: NumaDemand | None) -> Mapping[str, int]:
    amounts = dict(server.demand)
    if demand is not None and demand.is_pinned:
        amounts[numa_facts.PINNED] = amounts.pop(numa_facts.SHARED)
    return amounts
