# SPDX-License-Identifier: Apache-2.0
"""The search that makes room on NUMA nodes, one host after the other.

Each time, the host is taken that needs the fewest servers to leave for a
slot, and these go where they cost none. Each server goes to the nodes that
Nova would choose then, so the plan holds if its moves are made one by one.
Of several flavors, each has its slots reserved before the next one is
planned. Nothing is proven but a bound on the slots of each flavor.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.slots import counting, flavors
from kronos.engine.slots.flavors import SlotFlavor
from kronos.extensions.room import room
from kronos.extensions.room.planning import host_state, node_bounds
from kronos.extensions.room.planning.node_state import NodeMove, NodeState
from kronos.extensions.room.planning.step_rules import StepRules
from kronos.extensions.room.room import (
    HostSlots,
    Proof,
    RoomOutcome,
    RoomRequest,
)

LEAVING = 3
"""At most so many servers leave a host for a slot."""
OFFERS = 12
"""Choices of servers to leave a host that are tried."""
Offer = tuple[float, int, str, tuple[str, ...]]
"""Moves a slot, memory, host, and the servers that leave it."""


def has_numa_flavor(request: RoomRequest, inputs: PhaseInput) -> bool:
    """Whether a wanted flavor has a NUMA topology."""
    by_name = room.needs_of(inputs.snapshot).flavors
    return any(
        flavors.numa(by_name[name].extra_specs) for name in request.numbers
    )


def plan(
    simulation: Simulation, inputs: PhaseInput, request: RoomRequest
) -> RoomOutcome:
    """Plan the room, and make the moves in the simulation."""
    by_name = room.needs_of(inputs.snapshot).flavors
    targets = [
        flavors.of(by_name[name], inputs.settings.check_disk)
        for name in request.numbers
    ]
    outcome = _unplanned(inputs, request, targets)
    bounds = _bounds(simulation, inputs, request, targets)
    if any(number > bounds[name] for name, number in outcome.wanted.items()):
        outcome.proof = Proof.IMPOSSIBLE
        outcome.nearest = {
            name: int(min(number, bounds[name]))
            for name, number in outcome.wanted.items()
        }
        return outcome
    if not outcome.has_number and bounds[targets[0].name] < math.inf:
        outcome.bound = int(bounds[targets[0].name])
    best = _best(simulation, inputs, request, targets)
    if best.missing:
        outcome.nearest = {name: best.reached[name] for name in outcome.wanted}
        return outcome
    if not best.moves and outcome.has_number:
        outcome.bound, outcome.proof = 0, Proof.OPTIMAL
        return outcome
    rules = StepRules(simulation, request)
    position = simulation.placement.index.host
    for move in best.moves:
        rules.make(move.server, position[move.destination])
    outcome.moves = len(best.moves)
    for name, slots in best.slots.items():
        outcome.after[name] = sum(slots.values())
        for row in outcome.by_host[name]:
            row.after = slots[row.host]
    return outcome


def _bounds(
    simulation: Simulation,
    inputs: PhaseInput,
    request: RoomRequest,
    targets: Sequence[SlotFlavor],
) -> dict[str, float]:
    """Slots of each flavor alone, at most."""
    uuids = simulation.utilization.index.instances
    movable = {
        uuid
        for uuid, moves in zip(uuids, simulation.movable, strict=True)
        if moves
    }
    bounds = {}
    for place, flavor in enumerate(targets):
        bound = node_bounds.most(
            inputs.snapshot,
            _state(inputs, request, targets),
            place,
            flavor,
            movable,
            1 if request.apart else math.inf,
        )
        bounds[flavor.name] = math.inf if bound is None else bound
    return bounds


def _unplanned(
    inputs: PhaseInput, request: RoomRequest, targets: Sequence[SlotFlavor]
) -> RoomOutcome:
    """The outcome without any move."""
    facts = room.needs_of(inputs.snapshot).numa
    counted = [
        counting.count(inputs.snapshot, flavor, inputs.settings, facts)
        for flavor in targets
    ]
    state = _state(inputs, request, targets)
    before = {
        each.name: state.alone(place) for place, each in enumerate(targets)
    }
    totals = {name: sum(slots.values()) for name, slots in before.items()}
    return RoomOutcome(
        wanted=dict(request.numbers),
        before=totals,
        after=dict(totals),
        by_sum={each.flavor: each.by_sum for each in counted},
        by_host={
            name: [HostSlots(host, n, n) for host, n in slots.items()]
            for name, slots in before.items()
        },
        on_nodes=True,
    )


def _state(
    inputs: PhaseInput, request: RoomRequest, order: Sequence[SlotFlavor]
) -> NodeState:
    facts = room.needs_of(inputs.snapshot).numa
    return NodeState(
        inputs.snapshot, facts, order, inputs.settings, request.apart
    )


def _best(
    simulation: Simulation,
    inputs: PhaseInput,
    request: RoomRequest,
    targets: Sequence[SlotFlavor],
) -> '_Attempt':
    """The attempt that misses least; none of its moves is made.

    The order of flavors decides which of them get the first choice of hosts.
    """
    largest = sorted(targets, key=host_state.size, reverse=True)
    attempts: list[_Attempt] = []
    for order in (largest, largest[::-1])[: len(targets)]:
        search = _Search(simulation, inputs, request, order)
        attempts.append(search.run())
        search.rules.take_back()
    return min(attempts, key=lambda each: (each.missing, len(each.moves)))


@dataclass
class _Attempt:
    """What a search came to."""

    moves: list[NodeMove] = field(default_factory=list)
    reached: dict[str, int] = field(default_factory=dict)
    """New servers that fit all at once, by flavor."""
    missing: int = 0
    slots: dict[str, dict[str, int]] = field(default_factory=dict)
    """Of each flavor alone, by host."""


class _Search:
    """One flavor after the other.

    :param order: of the wanted flavors
    """

    def __init__(
        self,
        simulation: Simulation,
        inputs: PhaseInput,
        request: RoomRequest,
        order: Sequence[SlotFlavor],
    ) -> None:
        self._simulation = simulation
        self._numbers = request.numbers
        self._order, self._number = order, 0
        self.rules = StepRules(simulation, request)
        self._snapshot = inputs.snapshot
        self._state = _state(inputs, request, order)
        self._position = simulation.placement.index.host
        self._refused: set[tuple[str, ...]] = set()
        self._moves: list[NodeMove] = []

    def run(self) -> _Attempt:
        attempt = _Attempt(self._moves)
        for place, flavor in enumerate(self._order):
            self._number = self._numbers[flavor.name]
            self._refused.clear()
            reached = self._fill()
            if self._number:
                attempt.missing += max(0, self._number - reached)
                reached = min(reached, self._number)
            attempt.reached[flavor.name] = reached
            if place + 1 < len(self._order):
                self._state.reserve(reached)
        attempt.slots = {
            flavor.name: self._state.alone(place)
            for place, flavor in enumerate(self._order)
        }
        return attempt

    def _fill(self) -> int:
        """Make slots while any host gives one; returns how many there are."""
        if not self._missing():
            return self._state.total()
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
        state = self._state
        if not state.takes(host):
            return []
        now, missing = state.slots(host), self._missing()
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
                    self.rules.take_back_last()
                return []
            self._state.make(move)
            self.rules.make(server, self._position[move.destination])
            moves.append(move)
        self._moves += moves
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
            after, fill = state.slots(host), state.fill(host, server)
            state.take_back(move)
            if after == before:
                moves.append((-fill, host, move))
        for _, host, move in sorted(moves, key=lambda row: row[:2]):
            if self.rules.allows(server, self._position[host]):
                return move
        return None
