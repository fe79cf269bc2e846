# SPDX-License-Identifier: Apache-2.0
"""The optimal search: an exact solver, where the scope is small enough.

The solver seeks a placement, since an order of moves is too much for it. So
it may find what no order leads to, under rules that hold at every step: then
it is asked for another one, and at last ``best`` has the word.
"""

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np

from kronos.common import timing
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.proof import exact_model, lower_bound
from kronos.engine.planning.proof.exact_model import ExactModel
from kronos.engine.planning.proof.lp_relaxation import LpRelaxation
from kronos.engine.planning.search import best, first_moves
from kronos.engine.planning.search.moves import Move
from kronos.engine.planning.search.outcome import SearchResult
from kronos.engine.planning.search.sequencing import Sequencing
from kronos.engine.settings import SearchName, Settings, VetoReference
from kronos.engine.simulation.simulation import SimulatedMove, Simulation
from kronos.engine.types import UNNOTICED, StopReason

PLACEMENTS = 12
"""So many that no order leads to, and no more is asked for."""
ALL_ORDERS = 10
"""So many moves are tried in every order that may matter."""
ORDERS = 8
"""So many orders of more moves are tried."""


def run(simulation: Simulation, inputs: PhaseInput) -> SearchResult:
    """The plan that is proven to be the lowest; else that of ``best``."""
    settings = inputs.settings
    start = len(simulation.steps)
    scope = LpRelaxation.of(simulation, settings.optimal_limit)
    result = best.run(simulation, inputs)
    why = _why_not(scope, settings.optimal_limit)
    if not why and result.stopped is StopReason.BALANCED:
        why = 'it brings all policies within their thresholds'
    if why:
        return _fallen_back(result, why)
    return Optimal(simulation, inputs.settings, scope, start).run(result)


def _why_not(scope: LpRelaxation, limit: int) -> str:
    """Why the solver is not run; '' if it is."""
    if exact_model.solver() is None:
        return 'scipy is not installed (the extra "optimal")'
    if scope.size > limit:
        return (
            f'{len(scope.host_of)} instances on {scope.scores.shape[1]} hosts '
            f'are {scope.size} pairs, and optimal_limit is {limit}'
        )
    return ''


def _fallen_back(result: SearchResult, why: str) -> SearchResult:
    result.notices.append(
        f'search is {SearchName.OPTIMAL}, but {result.searched_by} made the '
        f'plan: {why}'
    )
    return result


class Optimal:
    """The search in one scope, from a plan that is in the simulation.

    :param scope: before that plan
    :param start: how many steps were in the simulation then
    """

    def __init__(
        self,
        simulation: Simulation,
        settings: Settings,
        scope: LpRelaxation,
        start: int,
    ) -> None:
        self._simulation = simulation
        self._settings = settings
        self._start = start
        self._model = ExactModel(scope, lower_bound.levels(scope))
        self._steps_of_plan = simulation.steps[start:]
        self._reached = simulation.utilization.combined()
        self._has_learnt = False
        self._sequencing = Sequencing(simulation, settings, ORDERS)

    def run(self, result: SearchResult) -> SearchResult:
        """Solve for placements until one can be reached, or none is lower.

        The bound is what the solver has said first: of all placements, also
        of those that no order leads to.

        :param result: how the plan in the simulation was found
        """
        is_proven, sees_all = False, not self._settings.repeat_moves
        improved = False
        countdown = timing.Countdown(self._settings.optimal_seconds)
        for _ in range(PLACEMENTS):
            answer = self._model.solve(countdown.remaining())
            result.bound = result.bound or answer.bound
            lower = answer.value < self._reached - UNNOTICED / 2
            improved = lower and self._make(answer.moves)
            if improved or not lower:
                is_proven = sees_all and answer.is_proven
                break
            sees_all &= len(answer.moves) <= ALL_ORDERS
            self._learn()
        return self._outcome(result, is_proven, improved)

    def _learn(self) -> None:
        """Exclude moves that a policy forbids at the start; once is enough."""
        settings = self._settings
        step_by_step = settings.veto_reference is VetoReference.STEP
        if self._has_learnt or not step_by_step or settings.repeat_moves:
            return
        self._has_learnt = True
        steps = self._simulation.steps[self._start :]
        self._unwind()
        self._model.begin_with(
            first_moves.alone(self._simulation),
            first_moves.exchanged(self._simulation, settings.swap_moves),
        )
        self._remake(steps)

    def _outcome(
        self,
        result: SearchResult,
        is_proven: bool,
        improved: bool,
    ) -> SearchResult:
        result.is_proven = is_proven
        if improved or is_proven:
            result.searched_by = SearchName.OPTIMAL
            result.stopped = self._stopped()
            result.has_unsafe_swap = False
        if is_proven:
            return result
        why = 'the solver did not prove within optimal_time_limit that'
        if not improved:
            return _fallen_back(result, f'{why} no plan is lower')
        result.notices.append(f'{why} no plan is lower than this one')
        return result

    def _stopped(self) -> StopReason:
        if self._is_enough():
            return StopReason.BALANCED
        if self._simulation.remaining <= 0:
            return StopReason.BUDGET
        return StopReason.STUCK

    def _make(self, moves: Sequence[Move]) -> bool:
        """Make moves in an order that is legal at every step.

        Where there is none, the plan so far stays, and the model will not
        come up with them again.

        :returns: whether all were made, or all that are needed
        """
        self._unwind()
        if len(moves) > ALL_ORDERS:
            is_made = self._sequencing.run(moves)
        else:
            is_made = self._order(moves) or self._order_to_end(moves)
        if is_made:
            return True
        self._unwind()
        self._remake(self._steps_of_plan)
        return False

    def _remake(self, steps: Sequence[SimulatedMove]) -> None:
        for step in steps:
            self._simulation.move(
                step.undo.instance, step.undo.destination, step.requires
            )

    def _order_to_end(self, moves: Sequence[Move]) -> bool:
        """Make moves so that no policy objects to where they end.

        That is enough where policies are compared with what was before the
        plan; the model has seen to it. All else holds at every step.
        """
        with self._unjudged():
            is_made = self._order(moves)
            block = [] if is_made else self._block(moves)
        if is_made and self._settings.veto_reference is VetoReference.INITIAL:
            return True
        self._unwind()
        waiting = self._simulation.constraints.together()
        if block and not waiting & {instance for instance, _ in block}:
            self._model.block(block)
        else:
            self._model.exclude(moves)
        return False

    @contextlib.contextmanager
    def _unjudged(self) -> Iterator[None]:
        """No policy objects, inside."""
        utilization = self._simulation.utilization
        before = utilization.vetoed_above
        utilization.vetoed_above = np.full(len(utilization.policies), np.inf)
        try:
            yield
        finally:
            utilization.vetoed_above = before

    def _block(self, moves: Sequence[Move]) -> list[Move]:
        """Few of moves without an order that have none by themselves.

        All that make room for them are among them.
        """
        host_of = self._simulation.placement.host_of
        remaining = list(moves)
        for move in sorted(moves):
            fewer = [other for other in remaining if other != move]
            ends = {host for _, host in fewer}
            others = dict(moves).keys() - dict(fewer)
            if ends & {int(host_of[instance]) for instance in others}:
                continue
            if self._order(fewer):
                self._unwind()
            else:
                remaining = fewer
        return remaining

    def _order(self, moves: Sequence[Move]) -> bool:
        """Make moves in some order, if there is one; else none of them."""
        return self._follow(dict(moves), set())

    def _follow(
        self, remaining: dict[int, int], dead: set[frozenset[int]]
    ) -> bool:
        """:param dead: what cannot be made once all else is made"""
        if not remaining or self._is_enough():
            return True
        key = frozenset(remaining)
        if key in dead:
            return False
        for unit in self._sequencing.options(remaining):
            rest = dict(remaining)
            requires = None
            for instance, destination in unit:
                self._simulation.move(instance, destination, requires)
                del rest[instance]
                requires = instance
            if self._follow(rest, dead):
                return True
            for _ in unit:
                self._simulation.take_back()
        dead.add(key)
        return False

    def _is_enough(self) -> bool:
        return not (
            self._settings.exhaust
            or self._simulation.utilization.over_threshold().any()
        )

    def _unwind(self) -> None:
        while len(self._simulation.steps) > self._start:
            self._simulation.take_back()
