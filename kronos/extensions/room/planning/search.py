# SPDX-License-Identifier: Apache-2.0
"""The search that makes room: the fewest moves, or the most slots.

In a small scope, the program by counts gives the best final placement. In a
large one, each host has trades with prices, of which the best are chosen. The
moves are then ordered, each asked of all constraints of the phase. If no order
exists, the placement is forbidden, and the program is solved again. Prices
prove the bound in both.
"""

import math

from kronos.engine.arrays import IntArray
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.slots import flavors
from kronos.engine.slots.flavors import SlotFlavor
from kronos.engine.types import StopReason
from kronos.extensions.room import room
from kronos.extensions.room.certificates import Certificate
from kronos.extensions.room.planning import (
    greedy,
    highs,
    node_search,
    ordering,
    scope_case,
    staying,
    texts,
)
from kronos.extensions.room.planning.counts import (
    Counted,
    Counts,
    NoPlacement,
)
from kronos.extensions.room.planning.market import checking, plans, proofs
from kronos.extensions.room.planning.market.masters import Aim
from kronos.extensions.room.planning.ordering import Ordered
from kronos.extensions.room.planning.scope_case import ScopeCase
from kronos.extensions.room.planning.step_rules import StepRules
from kronos.extensions.room.room import (
    HostSlots,
    Proof,
    RoomOutcome,
    RoomRequest,
)

TRIES = 12
"""Final placements for which an order is sought."""
SPARE = 2
"""Moves more than the fewest that an order may need, as detours."""
SMALL = 2_000
"""Hosts times kinds of servers up to which the program by counts is solved."""
LIMIT = 50_000
"""Hosts times kinds up to which trades are priced; beyond, the plan is
greedy."""


def run(simulation: Simulation, inputs: PhaseInput) -> PhaseResult:
    """Plan the moves, and leave what they lead to in the request's outcome."""
    request = room.of(inputs.settings)
    if request is None:
        raise ValueError('no room is asked for')
    claims = room.claims_of(inputs.settings)
    if node_search.has_numa_flavor(request, inputs):
        if claims is not None:
            return PhaseResult(StopReason.STUCK, texts.NO_CERTIFICATE)
        return _ended(node_search.plan(simulation, inputs, request))
    search = _Search(simulation, inputs, request)
    if claims is not None:
        return search.check(claims.get(inputs.snapshot.scope))
    return _ended(search.plan())


def _ended(outcome: RoomOutcome) -> PhaseResult:
    stopped = StopReason.DONE
    if outcome.budget is not None:
        stopped = StopReason.BUDGET
    elif outcome.missing_after or outcome.nearest:
        stopped = StopReason.STUCK
    return PhaseResult(
        stopped, texts.sentence(outcome), beside={room.NAME: outcome}
    )


class _CountedSearch:
    """A small scope by counts, and any scope without a solver."""

    def __init__(
        self,
        simulation: Simulation,
        inputs: PhaseInput,
        request: RoomRequest,
    ) -> None:
        self._simulation, self._request = simulation, request
        self._by_name = room.needs_of(inputs.snapshot).flavors
        self._inputs = inputs
        self._flavors = [
            (self._flavor(name), number)
            for name, number in request.numbers.items()
        ]
        self._case = scope_case.of(
            simulation,
            inputs.snapshot,
            inputs.settings,
            self._flavors,
            request.apart,
        )
        self._rules = StepRules(simulation, request)

    def _flavor(self, name: str) -> SlotFlavor:
        counts_disk = self._inputs.settings.check_disk
        return flavors.of(self._by_name[name], counts_disk)

    def _stuck(self, outcome: RoomOutcome) -> None:
        """No server can move first."""
        (before,) = outcome.before.values()
        outcome.bound, outcome.proof = before, Proof.OPTIMAL
        outcome.certificate = proofs.stuck(self._case)

    def _alone(self, place: int) -> int:
        cluster = self._case.alone(place)
        return int(cluster.slot_counts(cluster.free).sum())

    def _counted(self, outcome: RoomOutcome) -> bool:
        """Plan by counts; whether their program has an answer."""
        if self._request.flavors is None:
            return self._most(outcome)
        return self._fewest(outcome)

    def _fewest(self, outcome: RoomOutcome) -> bool:
        """As few moves as possible for the wanted numbers."""
        case, most = self._case, self._simulation.remaining
        first = Counts(case.cluster, case.targets).fewest_moves()
        if first is NoPlacement.NOT_KNOWN:
            return False
        if isinstance(first, NoPlacement):
            outcome.proof = Proof.IMPOSSIBLE
            outcome.certificate = proofs.impossible(case)
            self._nearest(outcome, math.inf)
            outcome.staying = self._staying()
            return True
        if first.bound <= most < first.moves:
            return False
        outcome.bound = int(first.bound)
        if outcome.bound:
            outcome.certificate = proofs.fewest(case, outcome.bound)
        outcome.proof = Proof.BOUND if first.moves else Proof.OPTIMAL
        if first.moves > most:
            outcome.budget = int(most)
            self._nearest(outcome, most)
            return True
        result = self._carried_out(first)
        if result is not None:
            outcome.after = self._after(result)
            if len(result.moves) == outcome.bound:
                outcome.proof = Proof.OPTIMAL
        return True

    def _staying(self) -> dict[str, str]:
        return staying.reasons(
            self._simulation,
            self._inputs,
            self._flavors,
            self._request.apart,
        )

    def _nearest(self, outcome: RoomOutcome, moves: float) -> None:
        """What is possible with so many moves, in whatever order."""
        case = self._case
        nearest = Counts(case.cluster, case.targets).most_slots(moves)
        if nearest is None or sum(nearest.slots) < nearest.bound:
            outcome.nearest = proofs.nearest(case, moves)
            return
        outcome.nearest = dict(zip(case.names, nearest.slots, strict=True))

    def _most(self, outcome: RoomOutcome) -> bool:
        """As many slots as possible with the moves that are left."""
        case = self._case
        moves = self._simulation.remaining
        if not ordering.any_move(case.cluster):
            self._stuck(outcome)
            return True
        first = Counts(case.cluster, case.targets).most_slots(moves)
        if first is None:
            return False
        outcome.bound = int(first.bound)
        outcome.certificate = proofs.most(case, int(moves), outcome.bound)
        result = self._carried_out(first)
        if result is not None:
            outcome.after = self._after(result)
        (after,) = outcome.after.values()
        is_best = after == outcome.bound
        outcome.proof = Proof.OPTIMAL if is_best else Proof.BOUND
        return True

    def _carried_out(self, first: Counted) -> Ordered | None:
        """The first placement that an order leads to, in the simulation."""
        case = self._case
        refused: set[tuple[int, int]] = set()
        counted: Counted | NoPlacement | None = first
        for _ in range(TRIES):
            if not isinstance(counted, Counted) or not counted.moves:
                return None
            if counted.moves > self._simulation.remaining:
                return None
            spare = self._simulation.remaining - counted.moves
            result = ordering.ordered(
                case.cluster,
                sorted(counted.columns.items()),
                int(min(SPARE, spare)),
                self._rules,
            )
            if not result.stuck:
                return result
            self._rules.take_back()
            refused |= result.waiting
            program = Counts(case.cluster, case.targets, refused)
            counted = (
                program.most_slots(self._simulation.remaining)
                if self._request.flavors is None
                else program.fewest_moves()
            )
        return None

    def _after(self, result: Ordered) -> dict[str, int]:
        after = {}
        for place, name in enumerate(self._case.names):
            cluster = self._case.alone(place)
            after[name] = int(cluster.slot_counts(result.free).sum())
        return after

    def _greedy(self, outcome: RoomOutcome) -> None:
        """Without a solver: host by host, for one flavor."""
        case = self._case
        if len(case.names) > 1:
            return
        (name,), (target,) = case.names, case.targets
        most = self._simulation.remaining
        if most == math.inf:
            most = sum(map(len, case.cluster.servers.values()))
        planned = greedy.ordered(case.cluster, int(most))
        hosts = {host: place for place, host in enumerate(case.cluster.hosts)}
        for move in planned.moves:
            place = hosts[move.destination]
            is_there = 0 < target.number <= outcome.after[name]
            if is_there or not self._rules.allows(move.server, place):
                break
            self._rules.make(move.server, place)
            outcome.after[name] = self._now()

    def _now(self) -> int:
        """Slots of the first flavor as the simulation is now."""
        return int(self._case.cluster.slot_counts(self._free()).sum())

    def _free(self) -> IntArray:
        """[hosts, resources] as the simulation is now."""
        cluster = self._case.cluster
        free = cluster.free.copy()
        ways = {
            server: way
            for (_, way), servers in cluster.servers.items()
            for server in servers
        }
        index = self._simulation.utilization.index
        for step in self._simulation.steps:
            way = ways[index.instances[step.undo.instance]]
            free[step.undo.source] += cluster.demands[way]
            free[step.undo.destination] -= cluster.demands[way]
        return free


class _Search(_CountedSearch):
    """Whatever the size of the scope."""

    def plan(self) -> RoomOutcome:
        case = self._case
        before = [self._alone(place) for place in range(len(case.targets))]
        outcome = RoomOutcome(
            wanted=dict(self._request.numbers),
            before=dict(zip(case.names, before, strict=True)),
            after=dict(zip(case.names, before, strict=True)),
            by_sum={
                name: case.alone(place).by_sum()
                for place, name in enumerate(case.names)
            },
        )
        if highs.solver() is None or self._size() > LIMIT:
            self._greedy(outcome)
        elif self._size() > SMALL or not self._counted(outcome):
            self._large(outcome)
        outcome.moves = len(self._simulation.steps)
        outcome.by_host = _by_host(self._case, self._free())
        return outcome

    def check(self, certificate: Certificate | None) -> PhaseResult:
        """Compute a proof again, and plan nothing."""
        if certificate is None:
            return PhaseResult(StopReason.STUCK, texts.NO_CERTIFICATE)
        verdict = checking.check(self._case, certificate)
        stopped = StopReason.DONE if verdict.holds else StopReason.STUCK
        return PhaseResult(stopped, texts.checked(certificate, verdict))

    def _size(self) -> int:
        cluster = self._case.cluster
        return len(cluster.hosts) * len(cluster.ways)

    def _large(self, outcome: RoomOutcome) -> None:
        """By priced trades, for either request."""
        case, moves = self._case, self._simulation.remaining
        is_most = self._request.flavors is None
        if is_most and not ordering.any_move(case.cluster):
            self._stuck(outcome)
            return
        plan = plans.MarketPlan(
            case, Aim.MOST if is_most else Aim.FEWEST, moves
        )
        outcome.bound = plan.priced.whole
        outcome.proof = Proof.BOUND
        outcome.certificate = proofs.of(
            case, plan.priced, int(moves) if is_most else None
        )
        if not is_most and not self._is_possible(outcome):
            return
        result = plan.carried_out(self._rules, moves)
        if result is not None:
            outcome.after = self._after(result)
        elif not is_most and not plan.has_placement:
            outcome.proof = Proof.NOT_KNOWN
        reached = sum(outcome.after.values())
        if not is_most:
            reached = len(self._simulation.steps)
        if reached == outcome.bound and (is_most or result is not None):
            outcome.proof = Proof.OPTIMAL

    def _is_possible(self, outcome: RoomOutcome) -> bool:
        """Whether the moves that are left may be enough."""
        moves = self._simulation.remaining
        if not outcome.bound:
            outcome.proof = Proof.OPTIMAL
            return False
        if outcome.bound > moves:
            outcome.budget = int(moves)
        elif certificate := proofs.impossible(self._case):
            outcome.certificate = certificate
            outcome.proof, outcome.bound = Proof.IMPOSSIBLE, None
            outcome.staying = self._staying()
            moves = math.inf
        else:
            return True
        outcome.nearest = proofs.nearest(self._case, moves)
        return False


def _by_host(case: ScopeCase, free: IntArray) -> dict[str, list[HostSlots]]:
    """The slots of each flavor alone.

    :param free: [hosts, resources] after the plan
    """
    by_host = {}
    for place, name in enumerate(case.names):
        cluster = case.alone(place)
        slots = zip(
            cluster.hosts,
            cluster.slot_counts(cluster.free).tolist(),
            cluster.slot_counts(free).tolist(),
            strict=True,
        )
        by_host[name] = [HostSlots(*row) for row in slots]
    return by_host
