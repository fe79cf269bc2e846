# SPDX-License-Identifier: Apache-2.0
"""The judge: a plan carried out move by move against the file.

It shares no code with what plans: it counts CPUs and memory of every node of
the file itself, and refuses the first move that is not legal.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.fragments.snapshots import Machine, Server, Snapshot

SLOT_CPUS = 16
"""Of a wanted server, on one node."""
Step = tuple[str, str, tuple[int, ...]]
"""A server, the host that it moves to, and its nodes there."""


class IllegalMoveError(Exception):
    """A move that could not be made."""


@dataclass(frozen=True)
class Verdict:
    """A plan whose moves were all legal."""

    before: int
    """Slots."""
    after: int
    """Slots."""
    free: int
    """CPUs."""

    @property
    def rate(self) -> float:
        """The fragment rate: free CPUs that make no slot, as a ratio."""
        return (self.free - SLOT_CPUS * self.after) / self.free


def carry_out(snapshot: Snapshot, steps: Sequence[Step]) -> Verdict:
    """Make every move of a plan.

    :raises IllegalMoveError: names the move and why
    """
    books = _Books(snapshot)
    before = books.slots()
    for number, step in enumerate(steps, start=1):
        reason = books.refusal(*step)
        if reason:
            raise IllegalMoveError(f'move {number}, {step[0]}: {reason}')
        books.move(*step)
    return Verdict(before, books.slots(), books.free())


class _Books:
    """What each node has free, and where each server is."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.machines: dict[str, Machine] = snapshot.machines
        self.servers: dict[str, Server] = snapshot.servers
        self.sets = snapshot.apart
        self.place = {
            name: (server.host, server.nodes)
            for name, server in snapshot.servers.items()
        }
        self.cpus: dict[tuple[str, int], int] = {}
        self.memory: dict[tuple[str, int], int] = {}
        for host, machine in self.machines.items():
            for node, cpus in enumerate(machine.cpus):
                self.cpus[host, node] = cpus
                self.memory[host, node] = machine.memory_mb[node]
        for name in self.servers:
            self._book(name, -1)

    def _book(self, name: str, sign: int) -> None:
        host, nodes = self.place[name]
        for node in nodes:
            self.cpus[host, node] += sign * self.servers[name].cpus
            self.memory[host, node] += sign * self.servers[name].memory_mb

    def refusal(self, name: str, host: str, nodes: tuple[int, ...]) -> str:
        """Why a move cannot be made; '' if it can."""
        server = self.servers[name]
        source, before = self.place[name]
        if not server.is_movable:
            return 'it must not move'
        if source == host:
            return 'it is there'
        if not self.machines[host].is_active:
            return f'{host} is not active'
        if len(set(nodes)) != len(before):
            return f'it takes {len(before)} nodes'
        for node in nodes:
            if self.cpus[host, node] < server.cpus:
                return f'{host}, node {node}: not enough CPUs'
            if self.memory[host, node] < server.memory_mb:
                return f'{host}, node {node}: not enough memory'
        return self._together(name, source, host)

    def _together(self, name: str, source: str, host: str) -> str:
        for level, members in self.sets:
            if name not in members:
                continue
            for other in members - {name}:
                if other not in self.place:
                    continue
                domain = self._domain(level, self.place[other][0])
                if domain != self._domain(level, host):
                    continue
                if domain != self._domain(level, source):
                    return f'{other} of its set is there'
        return ''

    def _domain(self, level: str, host: str) -> str:
        return host if level == 'host' else self.machines[host].rack

    def move(self, name: str, host: str, nodes: tuple[int, ...]) -> None:
        self._book(name, 1)
        self.place[name] = host, nodes
        self._book(name, -1)

    def slots(self) -> int:
        return sum(
            max(0, cpus) // SLOT_CPUS
            for (host, _), cpus in self.cpus.items()
            if self.machines[host].is_active
        )

    def free(self) -> int:
        return sum(
            cpus
            for (host, _), cpus in self.cpus.items()
            if self.machines[host].is_active
        )
