# SPDX-License-Identifier: Apache-2.0
"""The certificate of a plan: how low any other one could get.

Counting always says something, in milliseconds. Where the scope is small
enough and a solver is installed, it is asked, too, once the plan is made: it
takes seconds, and no plan depends on what it says. What the search itself has
proven counts as well.
"""

import functools

from kronos.engine.planning.proof import exact_model, lower_bound
from kronos.engine.planning.proof.lp_relaxation import LpRelaxation
from kronos.engine.planning.search.outcome import SearchResult
from kronos.engine.settings import SearchName, Settings
from kronos.engine.types import Bound, Certificate

SOUGHT_GAP = 0.1
"""A gap that is no larger is not made smaller, but by the optimal search."""
STOPS_AT = 0.05
"""So near to the lowest placement the solver stops."""
MOST_SECONDS = 10.0
"""So long the solver may take for it, if the optimal search may not less."""


def of(
    scope: LpRelaxation,
    before: float,
    reached: float,
    settings: Settings,
    search: SearchResult,
) -> Certificate:
    """Certify a plan, as far as that takes no time.

    :param scope: before its first move
    :param before: the combined imbalance then
    :param reached: the combined imbalance after its last one
    :param search: what its search knows
    """
    levels = lower_bound.levels(scope)
    certificate = Certificate(
        scope.moves,
        _within(sum(levels), reached),
        reached,
        Bound.COUNTING,
        before=before,
    )
    _raise(certificate, search.bound)
    certificate.is_proven = search.is_proven
    if not search.bound and _is_worth_asking(scope, certificate, settings):
        seconds = settings.optimal_seconds
        certificate.ask = functools.partial(_ask, scope, levels, seconds)
    return certificate


def sharpen(certificate: Certificate | None) -> None:
    """Run the solver, where it may find a better bound."""
    if certificate and certificate.ask:
        _raise(certificate, certificate.ask())
        certificate.ask = None


def _raise(certificate: Certificate, bound: float) -> None:
    if bound > certificate.bound:
        certificate.bound = _within(bound, certificate.reached)
        certificate.found_by = Bound.EXACT


def _is_worth_asking(
    scope: LpRelaxation, certificate: Certificate, settings: Settings
) -> bool:
    return (
        settings.search == SearchName.BEST
        and certificate.gap > SOUGHT_GAP
        and scope.size <= settings.optimal_limit
    )


def _ask(
    scope: LpRelaxation, levels: tuple[float, float], seconds: float
) -> float:
    """The solver's bound after a short time; 0 if there is none."""
    if exact_model.solver() is None:
        return 0.0
    model = exact_model.ExactModel(scope, levels)
    return model.solve(min(MOST_SECONDS, seconds), STOPS_AT).bound


def _within(bound: float, reached: float) -> float:
    """A bound that no sum in another order puts above what was reached."""
    return max(0.0, min(bound, reached))
