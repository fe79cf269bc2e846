# SPDX-License-Identifier: Apache-2.0
"""The dust: plans that only follow what measuring errs by.

Each audit would find another one. The spreading asks :class:`Dust` before it
keeps a plan.
"""

from collections.abc import Callable

import numpy as np

from kronos.engine import wording
from kronos.engine.arrays import EPSILON, FloatArray
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.search.outcome import SearchResult
from kronos.engine.settings import SearchName, Settings
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.types import StopReason

CERTAIN = 2.5
"""Times ``min_plan_gain``: what no noise of the hosts comes to alone."""
HALF = 0.5
AHEAD = 50
"""So many migrations further a plan is followed that its budget cuts off."""


class Dust:
    """What a plan is measured by, as it is before its first move."""

    def __init__(
        self, simulation: Simulation, phase_input: PhaseInput
    ) -> None:
        self._simulation = simulation
        self._input = phase_input
        self._start = len(simulation.steps)
        self._least = _least(phase_input.settings)
        self._before = simulation.utilization.imbalances
        self._usage = self._measured()
        self._explained = self._explained_now()

    def why(
        self,
        search: Callable[[Simulation, PhaseInput], SearchResult],
        stopped: StopReason,
    ) -> str:
        """Why the plan in the simulation is dust; '' if it is not.

        :param search: by which it was planned
        :param stopped: how that ended
        """
        number = len(self._simulation.steps) - self._start
        if not number or not self._least or self._is_worth():
            return ''
        text = self._text(number)
        is_cut_off = stopped is StopReason.BUDGET
        return '' if is_cut_off and self._leads_on(search) else text

    def take_back(self) -> None:
        """Undo the plan."""
        while len(self._simulation.steps) > self._start:
            self._simulation.take_back()

    def _is_worth(self) -> bool:
        """Whether it lowers a policy by more than noise.

        Less than what is certain counts if what servers are measured to use
        becomes more even, too, which the noise of the hosts has no part in.
        So plan after plan of that kind comes to an end.
        """
        falls = self._falls()
        explained = self._explained - self._explained_now()
        is_seen = explained >= HALF * self._least - EPSILON
        needed = np.where(is_seen, self._least, CERTAIN * self._least)
        return bool((falls >= needed - EPSILON).any())

    def _falls(self) -> FloatArray:
        """[P]: by how much the imbalances fall; 0 where none cares."""
        utilization = self._simulation.utilization
        falls: FloatArray = self._before - utilization.imbalances
        return np.where(utilization.weights > 0.0, falls, 0.0)

    def _measured(self) -> FloatArray:
        """[P, V]: what instances are measured to use, or else supposed.

        Times the factors of the policies, as the scores that it is held
        against.
        """
        utilization = self._simulation.utilization
        usage = utilization.usage.copy()
        for p, name in enumerate(utilization.policies):
            measured = self._input.scorecard.measured.get(name)
            if measured is not None:
                own, factor = measured.usage, utilization.factors[p]
                usage[p] = [
                    own[uuid] * factor if uuid in own else supposed
                    for uuid, supposed in zip(
                        utilization.index.instances, usage[p], strict=True
                    )
                ]
        return usage

    def _explained_now(self) -> FloatArray:
        """[P]: how uneven the hosts are by what their instances use."""
        utilization = self._simulation.utilization
        host_of = self._simulation.placement.host_of
        widths = []
        for p, judged in enumerate(utilization.ends.judged):
            sums = np.bincount(host_of, self._usage[p], len(judged))
            shares = (sums / utilization.capacity[p])[judged]
            widths.append(shares.max() - shares.min())
        return np.array(widths)

    def _leads_on(
        self, search: Callable[[Simulation, PhaseInput], SearchResult]
    ) -> bool:
        """Whether more audits of the same budget would come to something.

        The plan is in the simulation afterwards as it was before.
        """
        simulation, budget = self._simulation, self._simulation.budget
        moves = [
            (step.undo.instance, step.undo.destination, step.requires)
            for step in simulation.steps[self._start :]
        ]
        self.take_back()
        # With one more than may move it never ends by its budget.
        more = min(len(moves) + AHEAD, int(simulation.movable.sum()) + 1)
        simulation.budget = self._start + more
        is_cut_off = search(simulation, self._input).stopped
        leads_on = is_cut_off is StopReason.BUDGET or self._is_worth()
        self.take_back()
        simulation.budget = budget
        for instance, destination, requires in moves:
            simulation.move(instance, destination, requires)
        return leads_on

    def _text(self, number: int) -> str:
        """The sentence about it."""
        moves = wording.counted(number, 'migration')
        falls = self._falls()
        most = int(falls.argmax())
        if falls[most] < self._least - EPSILON:
            return (
                f'; {moves} would lower no policy by min_plan_gain '
                f'({self._least:g})'
            )
        name = self._simulation.utilization.policies[most]
        return (
            f'; {moves} would lower {name} by {falls[most]:.3f}, but the '
            'measured usages of the instances do not show that: less than '
            f'{CERTAIN * self._least:g} may be noise in the samples of the '
            f'hosts (min_plan_gain is {self._least:g})'
        )


def _least(settings: Settings) -> float:
    """By how much a plan must lower some policy."""
    if settings.search is SearchName.GREEDY or settings.exhaust:
        return 0.0
    return settings.min_plan_gain
