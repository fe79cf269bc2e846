# SPDX-License-Identifier: Apache-2.0
"""The best search: the lowest of several plans, made lower still."""

import dataclasses

from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.search import greedy
from kronos.engine.planning.search.outcome import SearchResult
from kronos.engine.settings import SearchName
from kronos.engine.simulation.simulation import Simulation


def run(simulation: Simulation, given: PhaseInput) -> SearchResult:
    """Spread until all is within thresholds, or the budget or moves end."""
    found = greedy.run(simulation, given)
    return dataclasses.replace(found, searched_by=SearchName.BEST)
