# SPDX-License-Identifier: Apache-2.0
"""The searches that spread a scope, by the name that ``[kronos] search`` has.

All have one signature, :data:`SpreadSearch`, and one way to say how they
ended, :class:`SearchResult`.
"""

from collections.abc import Callable

from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.search import best, greedy, optimal
from kronos.engine.planning.search.outcome import SearchResult
from kronos.engine.planning.search.sequencing import EarlyGains
from kronos.engine.settings import SearchName
from kronos.engine.simulation.simulation import Simulation

SpreadSearch = Callable[[Simulation, PhaseInput], SearchResult]
"""Plans the spreading of a scope: its moves are in the simulation afterwards.

Each of them was legal when its turn came.
"""

SEARCHES: dict[SearchName, SpreadSearch] = {
    SearchName.GREEDY: greedy.run,
    SearchName.BEST: best.run,
    SearchName.OPTIMAL: optimal.run,
}


def run(simulation: Simulation, inputs: PhaseInput) -> SearchResult:
    """Run the search that is set.

    The greedy search has an order of its own: by the rule, move by move.
    """
    start = len(simulation.steps)
    result = SEARCHES[inputs.settings.search](simulation, inputs)
    if inputs.settings.search is not SearchName.GREEDY:
        EarlyGains(simulation, inputs.settings, start).run()
    return result
