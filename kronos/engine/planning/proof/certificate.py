# SPDX-License-Identifier: Apache-2.0
"""The certificate of a plan: how low any other one could get.

Counting always says something, in milliseconds. Where the scope is small
enough and a solver is installed, it is asked whether a plan can be a tenth
lower; what the optimal search has proven counts, too.
"""

from kronos.engine.planning.proof import counting, exact_model
from kronos.engine.planning.proof.relaxed_scope import RelaxedScope
from kronos.engine.settings import SearchName, Settings
from kronos.engine.types import Bound, Certificate

SOUGHT_GAP = 0.1
"""A gap that is no larger is not made smaller, but by the optimal search."""
MOST_SECONDS = 10.0
"""So long the solver may take for it, if the optimal search may not less."""


def of(
    scope: RelaxedScope,
    reached: float,
    settings: Settings,
    known: float | None = None,
) -> Certificate:
    """Certify a plan.

    :param scope: before its first move
    :param reached: the combined imbalance after its last one
    :param known: a bound that its search has found
    """
    levels = counting.levels(scope)
    found = Certificate(
        scope.moves, _within(sum(levels), reached), reached, Bound.COUNTING
    )
    if known is not None and known > found.bound:
        bound = _within(known, reached)
        found = Certificate(scope.moves, bound, reached, Bound.EXACT)
    if found.gap <= SOUGHT_GAP or settings.search is not SearchName.BEST:
        return found
    if scope.size > settings.optimal_limit or exact_model.solver() is None:
        return found
    answer = exact_model.ExactModel(scope, levels).solve(
        reached * (1.0 - SOUGHT_GAP),
        min(MOST_SECONDS, settings.optimal_seconds),
    )
    if answer.bound is None or answer.bound <= found.bound:
        return found
    bound = _within(answer.bound, reached)
    return Certificate(scope.moves, bound, reached, Bound.EXACT)


def _within(bound: float, reached: float) -> float:
    """A bound that no sum in another order puts above what was reached."""
    return max(0.0, min(bound, reached))
