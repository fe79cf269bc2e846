# SPDX-License-Identifier: Apache-2.0
"""The search that makes room on NUMA nodes, one host after the other.

Each time, the host is taken that needs the fewest servers to leave for a
slot, and these go where they cost none. Each server goes to the nodes that
Nova would choose then, so the plan holds if its moves are made one by one.
Nothing is proven.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator

from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.slots import counting, flavors
from kronos.extensions.room import room
from kronos.extensions.room.planning.node_state import NodeMove, NodeState
from kronos.extensions.room.planning.step_rules import StepRules
from kronos.extensions.room.room import Proof, RoomOutcome, RoomRequest

LEAVING = 3
"""At most so many servers leave a host for a slot."""
OFFERS = 12
"""Choices of servers to leave a host that are tried."""
Offer = tuple[float, int, str, tuple[str, ...]]
"""Moves a slot, memory, host, and the servers that leave it."""


def numa_flavor(request: RoomRequest, inputs: PhaseInput) -> str:
    """The wanted flavor with a NUMA topology; '': there is none."""
    by_name = room.needs_of(inputs.snapshot).flavors
    return next(
        (
            name
            for name in request.numbers
            if flavors.numa(by_name[name].extra_specs)
        ),
        '',
    )


def plan(
    simulation: Simulation, inputs: PhaseInput, request: RoomRequest, name: str
) -> RoomOutcome:
    """Plan the room for one flavor.

    :param name: of the flavor
    """
    return _Search(simulation, inputs, request, name).run()


class _Search:
    def __init__(
        self,
        simulation: Simulation,
        inputs: PhaseInput,
        request: RoomRequest,
        name: str,
    ) -> None:
        self._simulation, self._name = simulation, name
        self._number = request.numbers[name]
        self._rules = StepRules(simulation, request)
        self._snapshot = inputs.snapshot
        needs = room.needs_of(inputs.snapshot)
        flavor = flavors.of(needs.flavors[name], inputs.settings.check_disk)
        if flavor.numa is None:
            raise ValueError('the flavor has no NUMA topology')
        self._state = NodeState(
            inputs.snapshot,
            needs.numa,
            flavor,
            flavor.numa,
            inputs.settings,
            request.apart,
        )
        self._by_sum = counting.count(
            inputs.snapshot, flavor, inputs.settings, needs.numa
        ).by_sum
        self._position = simulation.placement.index.host
        self._refused: set[tuple[str, ...]] = set()

    def run(self) -> RoomOutcome:
        before = self._state.total()
        outcome = RoomOutcome(
            wanted={self._name: self._number},
            before={self._name: before},
            after={self._name: before},
            by_sum={self._name: self._by_sum},
            on_nodes=True,
        )
        if self._number and before >= self._number:
            outcome.bound, outcome.proof = 0, Proof.OPTIMAL
            return outcome
        reached = self._fill()
        if self._number and reached < self._number:
            self._rules.take_back()
            outcome.nearest = {self._name: reached}
        else:
            outcome.after = {self._name: reached}
        outcome.moves = len(self._simulation.steps)
        return outcome

    def _fill(self) -> int:
        """Make slots while any host gives one; returns how many there are."""
        offers = {host: [*self._offers(host)] for host in self._state.hosts}
        while self._missing():
            best = min(
                (
                    offer
                    for of_host in offers.values()
                    for offer in of_host
                    if offer[3] not in self._refused
                    and len(offer[3]) <= self._simulation.remaining
                ),
                default=None,
            )
            if best is None:
                break
            moves = self._empty(best[2], best[3])
            if not moves:
                self._refused.add(best[3])
            for host in {m.destination for m in moves} | {best[2]}:
                offers[host] = [*self._offers(host)]
        return self._state.total()

    def _missing(self) -> float:
        if not self._number:
            return float('inf')
        return max(0, self._number - self._state.total())

    def _offers(self, host: str) -> list[Offer]:
        """What may leave a host, the fewest servers a slot first."""
        state, now = self._state, self._state.slots(host)
        missing = self._missing()
        offers = []
        for servers in self._choices(host):
            gain = min(state.slots_without(host, servers) - now, missing)
            if gain > 0:
                offers.append(
                    (
                        len(servers) / gain,
                        sum(map(self._memory_mb, servers)),
                        host,
                        servers,
                    )
                )
        return sorted(offers)[:OFFERS]

    def _choices(self, host: str) -> Iterator[tuple[str, ...]]:
        """Servers that may leave; of those that are alike the lightest."""
        alike: dict[object, list[str]] = defaultdict(list)
        for server in sorted(self._state.servers[host]):
            if self._may_move(server):
                _, nodes = self._state.places[server]
                alike[self._state.demand(server), nodes].append(server)
        kinds = [sorted(each, key=self._rank) for each in alike.values()]
        for number in range(1, LEAVING + 1):
            for choice in itertools.combinations_with_replacement(
                range(len(kinds)), number
            ):
                times = [(kind, choice.count(kind)) for kind in {*choice}]
                if all(count <= len(kinds[kind]) for kind, count in times):
                    yield tuple(
                        server
                        for kind, count in sorted(times)
                        for server in kinds[kind][:count]
                    )

    def _may_move(self, server: str) -> bool:
        instance = self._simulation.utilization.index.instance[server]
        return bool(self._simulation.movable[instance])

    def _memory_mb(self, server: str) -> int:
        return self._snapshot.instances[server].memory_mb

    def _rank(self, server: str) -> tuple[int, str]:
        return self._memory_mb(server), server

    def _empty(self, host: str, servers: tuple[str, ...]) -> list[NodeMove]:
        """Make the moves; none if a server goes nowhere."""
        moves: list[NodeMove] = []
        for server in sorted(servers, key=self._rank, reverse=True):
            move = self._step(server)
            if move is None:
                for earlier in reversed(moves):
                    self._state.take_back(earlier)
                    self._rules.take_back_last()
                return []
            self._state.make(move)
            self._rules.make(server, self._position[move.destination])
            moves.append(move)
        return moves

    def _step(self, server: str) -> NodeMove | None:
        """Where a server goes: the fullest host that loses no slot."""
        state = self._state
        moves = []
        for host in state.hosts:
            before = state.slots(host)
            move = state.to(server, host)
            if move is None:
                continue
            state.make(move)
            after, used = state.slots(host), sum(state.hosts[host].cpus)
            state.take_back(move)
            if after == before:
                moves.append((-used, host, move))
        for _, host, move in sorted(moves, key=lambda row: row[:2]):
            if self._rules.allows(server, self._position[host]):
                return move
        return None
