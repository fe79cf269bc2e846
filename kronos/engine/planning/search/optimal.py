# SPDX-License-Identifier: Apache-2.0
"""The optimal search: an exact solver, where the scope is small enough."""

from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.search import best
from kronos.engine.planning.search.outcome import SearchResult
from kronos.engine.settings import SearchName
from kronos.engine.simulation.simulation import Simulation


def run(simulation: Simulation, given: PhaseInput) -> SearchResult:
    """The plan of ``best``, which says that it is one: no solver is there."""
    found = best.run(simulation, given)
    found.notices.append(
        f'search is {SearchName.OPTIMAL}, but no exact solver is installed: '
        f'planned by {found.searched_by}'
    )
    return found
