# SPDX-License-Identifier: Apache-2.0
"""The best search: the lowest of several plans, made lower still.

It plans greedily, and searches for final placements beside that. The lowest
placement that can be reached by legal moves wins; if none is lower, the
greedy plan stays.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kronos.engine.arrays import EPSILON
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.search import ranking
from kronos.engine.planning.search.greedy import Greedy
from kronos.engine.planning.search.local import orders
from kronos.engine.planning.search.local.neighbourhood import (
    GreedyEnd,
    is_small,
)
from kronos.engine.planning.search.local.proposals import LocalSearch
from kronos.engine.planning.search.outcome import SearchResult
from kronos.engine.planning.search.sequencing import Sequencing, Unit
from kronos.engine.settings import SearchName, Settings, TieBreak
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.types import StopReason

TRIES = 8
"""Orders that are tried of the moves of one placement."""
STAGES = 3
"""A longer plan of a small scope is also made of so many short ones."""
Made = tuple[int, int, int | None]
"""Instance, destination, and the instance whose move it requires."""


def run(simulation: Simulation, inputs: PhaseInput) -> SearchResult:
    """Spread until all is within thresholds, or the budget or moves end."""
    search = Best(simulation, inputs.settings)
    stopped = search.run()
    unsafe = (
        stopped is StopReason.STUCK
        and Greedy(simulation, inputs.settings).has_unsafe_swap()
    )
    return SearchResult(stopped, SearchName.BEST, has_unsafe_swap=unsafe)


@dataclass(frozen=True)
class Candidate:
    """A plan, as it was made in the simulation."""

    moves: list[Made]
    rank: tuple[int, float]
    """The lower, the better."""

    over: float
    """How far policies are over their thresholds."""

    def is_lower(self, other: 'Candidate') -> bool:
        if self.rank[0] != other.rank[0]:
            return self.rank[0] < other.rank[0]
        return self.rank[1] < other.rank[1] - EPSILON

    def is_nearer(self, other: 'Candidate') -> bool:
        """Whether it is nearer to where all policies are within."""
        if self.over < other.over - EPSILON:
            return True
        return self.over < other.over + EPSILON and self.is_lower(other)


class Best:
    """The search in one scope; it changes the simulation.

    One class, since each plan is made in the simulation and taken back.
    """

    def __init__(self, simulation: Simulation, settings: Settings) -> None:
        self._simulation = simulation
        self._settings = settings
        self._start = len(simulation.steps)

    def run(self) -> StopReason:
        """Plan; the moves are in the simulation."""
        if not self._is_done() and self._simulation.movable.any():
            best = self._best()
            self._take_back(self._start)
            self._make(best.moves)
        if self._is_balanced():
            return StopReason.BALANCED
        if self._simulation.remaining <= 0:
            return StopReason.BUDGET
        return StopReason.STUCK

    def _best(self) -> Candidate:
        """The best of all plans that were made."""
        best, end = self._greedy()
        budget = int(
            min(self._simulation.remaining, self._simulation.movable.sum())
        )
        is_long = budget > orders.MOST and is_small(self._simulation)
        if is_long and not self._settings.exhaust:
            best = self._lower(best, end, orders.MOST)
            if best.rank[0] == 0:
                return best
        best = self._lower(best, end, budget)
        return self._staged(best) if is_long else best

    def _greedy(self) -> tuple[Candidate, GreedyEnd]:
        """The better greedy plan, and what it comes to.

        Where memory costs something, one that saves it is made, too.
        """
        ways = [self._settings]
        if self._settings.cost_weight > 0.0:
            saving = TieBreak.VARIANCE_PER_GIB
            ways.append(replace(self._settings, tie_break=saving))
        plans = []
        for settings in ways:
            end = self._greedy_end(settings)
            self._trim()
            plans.append((self._candidate(), end))
            self._take_back(self._start)
        best = plans[0]
        for other in plans[1:]:
            if other[0].is_lower(best[0]):
                best = other
        return best

    def _greedy_end(self, settings: Settings) -> GreedyEnd:
        """Plan greedily, from here."""
        start = len(self._simulation.steps)
        Greedy(self._simulation, settings).run()
        utilization = self._simulation.utilization
        return GreedyEnd(
            [
                (step.undo.instance, step.undo.destination)
                for step in self._simulation.steps[start:]
            ],
            np.array([extremes.values[0] for extremes in utilization.highest]),
            np.array([extremes.values[0] for extremes in utilization.lowest]),
        )

    def _trim(self) -> None:
        """Take the last moves back that do not buy what they cost."""
        if self._is_balanced() or not self._settings.cost_weight:
            return
        simulation = self._simulation
        end = lowest = len(simulation.steps)
        if end == self._start:
            return
        weights = simulation.utilization.weights
        value, price = math.inf, self._price(self._start)
        for length in range(end, self._start, -1):
            step = simulation.steps[length - 1]
            now = float(np.sum(weights * step.after)) + price
            # No half of a swap is left.
            is_whole = (
                length == end or simulation.steps[length].requires is None
            )
            if is_whole and now < value - EPSILON:
                value, lowest = now, length
            price -= self._price_of([step.undo.instance])
        first = simulation.steps[self._start]
        if float(np.sum(weights * first.before)) < value - EPSILON:
            lowest = self._start
        self._take_back(lowest)

    def _lower(
        self, best: Candidate, end: GreedyEnd, budget: int
    ) -> Candidate:
        """The best of a plan and what a local search proposes from here."""
        for candidate in self._candidates(end, budget):
            if candidate.is_lower(best):
                best = candidate
        return best

    def _candidates(self, end: GreedyEnd, budget: int) -> Iterator[Candidate]:
        """What a local search proposes from here, as it could be made."""
        start = len(self._simulation.steps)
        sequencing = Sequencing(self._simulation, self._settings, TRIES)
        proposals = LocalSearch(self._simulation, self._settings, end, budget)
        for rows in proposals.run():
            is_whole = False
            for row in rows:
                is_whole |= self._follow(row, sequencing)
                candidate = self._candidate()
                self._take_back(start)
                yield candidate
            if is_whole:
                break

    def _follow(self, row: Sequence[Unit], sequencing: Sequencing) -> bool:
        """Make the moves that are proposed, and go on from there.

        :returns: whether all of them could be made
        """
        start = len(self._simulation.steps)
        is_whole = sequencing.follow(row)
        if not is_whole:
            self._take_back(start)
            is_whole = sequencing.run([move for unit in row for move in unit])
        self._top_up()
        return is_whole

    def _staged(self, best: Candidate) -> Candidate:
        """The best of a plan and one that is made of several short ones."""
        for _ in range(STAGES):
            start = len(self._simulation.steps)
            if self._is_done() or not self._simulation.movable.any():
                break
            end = self._greedy_end(self._settings)
            nearest = self._candidate()
            self._take_back(start)
            remaining = min(
                self._simulation.remaining, self._simulation.movable.sum()
            )
            budget = int(min(remaining, orders.MOST))
            for candidate in self._candidates(end, budget):
                if candidate.is_lower(best):
                    best = candidate
                if candidate.is_nearer(nearest):
                    nearest = candidate
            done = start - self._start
            more = nearest.moves[done : done + budget]
            if not more:
                break
            self._make(more)
        return best

    def _make(self, moves: Sequence[Made]) -> None:
        for instance, destination, requires in moves:
            self._simulation.move(instance, destination, requires)

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
            if gain < self._price(steps):
                self._take_back(steps)
                return

    def _candidate(self) -> Candidate:
        """What is in the simulation now."""
        simulation = self._simulation
        moves = [
            (step.undo.instance, step.undo.destination, step.requires)
            for step in simulation.steps[self._start :]
        ]
        utilization = simulation.utilization
        over = np.maximum(utilization.imbalances - utilization.thresholds, 0.0)
        if self._settings.exhaust:
            over = utilization.imbalances
        needed = math.fsum(utilization.weights * over)
        price = self._price(self._start)
        if self._is_balanced():
            rank = 0, len(moves) + 0.5 * min(price, 1.0)
            return Candidate(moves, rank, 0.0)
        value = utilization.combined() + price
        return Candidate(moves, (1, value + self._penalties(moves)), needed)

    def _price(self, start: int) -> float:
        """What the moves since a step must buy."""
        return self._price_of(
            [step.undo.instance for step in self._simulation.steps[start:]]
        )

    def _price_of(self, moved: list[int]) -> float:
        memory = self._simulation.utilization.memory_mb[moved]
        costs = ranking.costs(memory, self._settings.cost_weight)
        return self._settings.min_gain * len(moved) + float(costs.sum())

    def _penalties(self, moves: Sequence[Made]) -> float:
        """What the soft rules cost that a plan breaks."""
        simulation = self._simulation
        if not simulation.constraints.weighs_soft_rules:
            return 0.0
        self._take_back(self._start)
        breaks = 0
        for instance, host, requires in moves:
            instances = np.array([instance])
            row = simulation.constraints.soft_breaks_rows(instances)[0]
            breaks += int(row[host])
            simulation.move(instance, host, requires)
        return self._settings.soft_rule_penalty * breaks

    def _is_done(self) -> bool:
        return self._is_balanced() or self._simulation.remaining <= 0

    def _is_balanced(self) -> bool:
        """Whether all that is required is done."""
        if self._settings.exhaust:
            return False
        return not self._simulation.utilization.over_threshold().any()

    def _take_back(self, start: int) -> None:
        while len(self._simulation.steps) > start:
            self._simulation.take_back()
