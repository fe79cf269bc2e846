# SPDX-License-Identifier: Apache-2.0
"""The searches that spread a scope, by the name that ``[kronos] search`` has.

Another package brings one as a class derived from :class:`SpreadSearch`, by an
entry point of the group ``kronos.searches``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

from kronos.common.plugins.registry import Registry
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.search import best, greedy, optimal
from kronos.engine.planning.search.outcome import SearchResult
from kronos.engine.planning.search.sequencing import EarlyGains
from kronos.engine.settings import SearchName
from kronos.engine.simulation.simulation import Simulation
from kronos.options.planning import SEARCHES as NAMESPACE


class SpreadSearch(ABC):
    """A search of another package."""

    @abstractmethod
    def run(self, simulation: Simulation, inputs: PhaseInput) -> SearchResult:
        """Plan the spreading of a scope: move instances in the simulation.

        Each move must be legal when its turn comes.
        """


SEARCHES: dict[str, Callable[[Simulation, PhaseInput], SearchResult]] = {
    SearchName.GREEDY: greedy.run,
    SearchName.BEST: best.run,
    SearchName.OPTIMAL: optimal.run,
}
_OTHERS = Registry(NAMESPACE, {}, SpreadSearch)  # type: ignore[type-abstract]


def run(simulation: Simulation, inputs: PhaseInput) -> SearchResult:
    """Run the search that is set.

    The greedy search has an order of its own: by the rule, move by move.

    :raises ConfigurationError: no package that is installed has the search,
        or it cannot be loaded
    """
    start = len(simulation.steps)
    name = inputs.settings.search
    search = SEARCHES.get(name) or _OTHERS.required('search', name)().run
    result = search(simulation, inputs)
    if name != SearchName.GREEDY:
        EarlyGains(simulation, inputs.settings, start).run()
    return result
