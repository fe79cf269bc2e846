# SPDX-License-Identifier: Apache-2.0
"""The best search: the lowest of several plans, made lower still.

It plans greedily, and searches for final placements beside that. The lowest
placement that can be reached by legal moves wins; if none is lower, the
greedy plan stays.
"""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kronos.engine.arrays import EPSILON, IntArray
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.search.greedy import Greedy
from kronos.engine.planning.search.local import focus, orders
from kronos.engine.planning.search.local.goal import Goal
from kronos.engine.planning.search.local.lots import Lots
from kronos.engine.planning.search.local.model import ScopeModel
from kronos.engine.planning.search.local.pruning import pruned
from kronos.engine.planning.search.local.target_windows import (
    Found,
    TargetWindows,
)
from kronos.engine.planning.search.local.wide_windows import WideWindows
from kronos.engine.planning.search.moves import Move
from kronos.engine.planning.search.outcome import SearchResult
from kronos.engine.planning.search.sequencing import Sequencing, Unit
from kronos.engine.settings import SearchName, Settings
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.types import StopReason

TRIES = 8
"""Orders that are tried of the moves of one placement."""
LOOKED_AT = 100
"""Placements of which it is looked at what can be reached of them."""
PLACEMENTS = 4
"""Placements that are brought into an order, the lowest first."""


def run(simulation: Simulation, given: PhaseInput) -> SearchResult:
    """Spread until all is within thresholds, or the budget or moves end."""
    search = Best(simulation, given.settings)
    stopped = search.run()
    unsafe = (
        stopped is StopReason.STUCK
        and Greedy(simulation, given.settings).has_unsafe_swap()
    )
    return SearchResult(stopped, SearchName.BEST, has_unsafe_swap=unsafe)


@dataclass(frozen=True)
class Candidate:
    """A plan, as it was made in the simulation."""

    moves: list[tuple[int, int, int | None]]
    """Instance, destination, and the instance whose move it requires."""
    rank: tuple[int, float]
    """The lower, the better."""


class Best:
    """The search in one scope; it changes the simulation."""

    def __init__(self, simulation: Simulation, settings: Settings) -> None:
        self._simulation = simulation
        self._settings = settings
        self._start = len(simulation.steps)

    def run(self) -> StopReason:
        """Plan; the moves are in the simulation."""
        if self._is_done():
            return self._stopped()
        best = self._candidates()
        self._take_back()
        for instance, destination, requires in best.moves:
            self._simulation.move(instance, destination, requires)
        return self._stopped()

    def _candidates(self) -> Candidate:
        """The best of all plans that were made."""
        movable = self._simulation.movable.copy()
        Greedy(self._simulation, self._settings).run()
        best = self._candidate()
        if not best.moves and not movable.any():
            return best
        utilization = self._simulation.utilization
        end = focus.GreedyEnd(
            [(one, host) for one, host, _ in best.moves],
            np.array([one.values[0] for one in utilization.highest]),
            np.array([one.values[0] for one in utilization.lowest]),
        )
        self._take_back()
        sequencing = Sequencing(self._simulation, self._settings, TRIES)
        for units in self._placements(end):
            is_whole = sequencing.follow(units)
            if not is_whole:
                self._take_back()
                is_whole = sequencing.run(
                    [one for unit in units for one in unit]
                )
            self._top_up()
            found = self._candidate()
            self._take_back()
            if _is_lower(found, best):
                best = found
            if is_whole:
                break
        return best

    def _placements(self, end: focus.GreedyEnd) -> Iterator[list[Unit]]:
        """Moves to final placements, the lowest placement first."""
        simulation, settings = self._simulation, self._settings
        budget = int(min(simulation.left, simulation.movable.sum()))
        looked_at = focus.of(simulation, end)
        if len(looked_at.hosts) < 2 or not len(looked_at.instances):
            return
        model = ScopeModel(simulation, looked_at.instances, looked_at.hosts)
        goal = Goal(model, budget, settings.exhaust, settings.min_gain)
        seed, effort = _seed(model, end.moves), looked_at.effort
        if effort.placements == 1:
            wide = WideWindows(model, goal, effort, Lots())
            yield from self._by_gain(model, goal, wide.run(seed))
            return
        few = budget <= orders.MOST
        reach = functools.partial(self._reached, model, goal) if few else None
        search = TargetWindows(model, goal, effort, Lots(), reach)
        placed = self._in_order if few else self._by_gain
        yield from placed(model, goal, search.run([seed]))

    def _reached(self, model: ScopeModel, goal: Goal, at: IntArray) -> float:
        swaps = self._settings.swap_moves
        return orders.Orders(model, goal, at, swaps).value

    def _in_order(
        self, model: ScopeModel, goal: Goal, placements: Sequence[Found]
    ) -> Iterator[list[Unit]]:
        """What can be reached of each; few moves, so all orders are known."""
        best: list[tuple[float, int, list[Unit]]] = []
        for number, found in enumerate(placements[:LOOKED_AT]):
            if best and found.value >= min(best)[0] - EPSILON:
                break
            if np.array_equal(found.at, model.home):
                continue
            swaps = self._settings.swap_moves
            order = orders.Orders(model, goal, found.at, swaps)
            moves = _moves(model, found.at, order.moved)
            units = [tuple(moves[one] for one in unit) for unit in order.way()]
            best.append((order.value, number, units))
        for _, _, units in sorted(best)[:PLACEMENTS]:
            yield units

    def _by_gain(
        self, model: ScopeModel, goal: Goal, placements: Sequence[Found]
    ) -> Iterator[list[Unit]]:
        seen: set[bytes] = set()
        for found in placements:
            at = pruned(model, goal, found.at)
            if at.tobytes() in seen:
                continue
            seen.add(at.tobytes())
            moved = np.flatnonzero(at != model.home)
            if len(seen) > PLACEMENTS or not moved.size:
                return
            yield [(move,) for move in _moves(model, at, moved)]

    def _top_up(self) -> None:
        """Go on as long as a move buys enough."""
        simulation = self._simulation
        more = Greedy(simulation, self._settings)
        while not self._is_done():
            steps = len(simulation.steps)
            before = simulation.utilization.combined()
            if not more.improve():
                return
            gain = before - simulation.utilization.combined()
            if gain < self._settings.min_gain:
                while len(simulation.steps) > steps:
                    simulation.take_back()
                return

    def _candidate(self) -> Candidate:
        simulation = self._simulation
        made = simulation.steps[self._start :]
        moves = [
            (one.undo.instance, one.undo.destination, one.requires)
            for one in made
        ]
        if not self._settings.exhaust and self._is_balanced():
            return Candidate(moves, (0, float(len(moves))))
        price = self._settings.min_gain * len(moves)
        value = simulation.utilization.combined() + price
        return Candidate(moves, (1, value + self._penalties(moves)))

    def _penalties(
        self, moves: Sequence[tuple[int, int, int | None]]
    ) -> float:
        """What the soft rules cost that a plan breaks."""
        simulation = self._simulation
        if not simulation.constraints.weighs_soft_rules:
            return 0.0
        self._take_back()
        breaks = 0
        for instance, host, requires in moves:
            one = np.array([instance])
            row = simulation.constraints.soft_breaks_rows(one)[0]
            breaks += int(row[host])
            simulation.move(instance, host, requires)
        return self._settings.soft_rule_penalty * breaks

    def _is_done(self) -> bool:
        if not self._settings.exhaust and self._is_balanced():
            return True
        return self._simulation.left <= 0

    def _is_balanced(self) -> bool:
        return not self._simulation.utilization.over_threshold().any()

    def _stopped(self) -> StopReason:
        if not self._settings.exhaust and self._is_balanced():
            return StopReason.BALANCED
        if self._simulation.left <= 0:
            return StopReason.BUDGET
        return StopReason.STUCK

    def _take_back(self) -> None:
        while len(self._simulation.steps) > self._start:
            self._simulation.take_back()


def _is_lower(one: Candidate, other: Candidate) -> bool:
    if one.rank[0] != other.rank[0]:
        return one.rank[0] < other.rank[0]
    return one.rank[1] < other.rank[1] - EPSILON


def _moves(model: ScopeModel, at: IntArray, moved: IntArray) -> list[Move]:
    """The moves of some instances of a model to where they are to be."""
    return [
        (int(model.instances[one]), int(model.hosts[at[one]]))
        for one in moved.tolist()
    ]


def _seed(model: ScopeModel, moves: Sequence[tuple[int, int]]) -> IntArray:
    """Where moves bring the instances of a model."""
    at = model.home.copy()
    instance_at = {one: n for n, one in enumerate(model.instances.tolist())}
    host_at = {one: n for n, one in enumerate(model.hosts.tolist())}
    for instance, host in moves:
        at[instance_at[instance]] = host_at[host]
    return at
