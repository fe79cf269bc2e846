# SPDX-License-Identifier: Apache-2.0
"""The trials of remedies: what the planner does with exactly these arguments.

A remedy is worth what the plan makes of it. So the whole cycle is planned
again by what a replay with the arguments of the remedy would be given, and
what lies outside of its settings is lifted in the input of the scope.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kronos.engine.edits import Pair
from kronos.engine.explain import scenario
from kronos.engine.explain.blockers import OF_INSTANCE
from kronos.engine.explain.relaxations import relax
from kronos.engine.explain.remedies import Remedy
from kronos.engine.explain.verdicts import Verdict
from kronos.engine.explain.why_not import Explainer
from kronos.engine.planning import propose
from kronos.engine.reasons import Reason
from kronos.engine.types import (
    AggregateResult,
    CycleInput,
    MigrationStep,
    PlanningInput,
    Snapshot,
)

MOST_TRIALS = 24
"""So often it is planned again for one answer."""
FEW_HOSTS = 160
"""Of a larger scope it is planned again less often, in proportion."""
LEAST_TRIALS = 4

Prepare = Callable[[Remedy], CycleInput | None]
"""What a replay with the arguments of a remedy plans by; None: it refuses
them. Arguments are text, which the engine leaves to its caller."""
Lifted = tuple[Reason, Pair]


@dataclass
class Trial:
    """What the planner made of a remedy."""

    remedy: Remedy
    case: PlanningInput
    result: AggregateResult

    def moves(self, uuid: str) -> list[tuple[int, MigrationStep]]:
        """The steps that move an instance, with their numbers from 1."""
        return [
            (number, step)
            for number, step in enumerate(self.result.steps, start=1)
            if step.instance == uuid
        ]

    def makes(self, verdict: Verdict) -> bool:
        """Whether the plan moves the instance there."""
        return any(
            step.destination == verdict.destination
            for _, step in self.moves(verdict.instance)
        )

    def judged(self, verdict: Verdict) -> Verdict | None:
        """The verdict on the same pair then; None if it is not there."""
        pair = verdict.instance, verdict.destination
        try:
            return Explainer(self.case, self.result).verdict(*pair)
        except KeyError:
            return None


class Trials:
    """The trials for the answers about one scope.

    :param name: of the scope
    """

    def __init__(self, name: str, hosts: int, prepare: Prepare) -> None:
        self._name = name
        self._prepare = prepare
        self._remaining = max(
            LEAST_TRIALS,
            MOST_TRIALS * FEW_HOSTS // max(hosts, FEW_HOSTS),
        )
        self.share = self._remaining // 2
        """So many are for one move, so that some are left for another."""
        self._results: dict[tuple[object, ...], Trial | None] = {}

    @property
    def is_over(self) -> bool:
        """Whether there have been as many as there may be."""
        return self._remaining <= 0

    def of(
        self,
        remedy: Remedy,
        lifted: Sequence[Lifted] = (),
        is_counted: bool = True,
    ) -> Trial | None:
        """What the planner makes of a remedy.

        :param lifted: reasons that are lifted besides
        :param is_counted: false of what an answer tries once
        :returns: None if it cannot be tried, or not any more
        """
        key = (
            *remedy.arguments(),
            *(
                (reason, reason.about, reason.host, str(pair))
                for reason, pair in lifted
            ),
        )
        if key not in self._results:
            if is_counted and self.is_over:
                return None
            self._remaining -= is_counted
            self._results[key] = self._run(remedy, lifted)
        return self._results[key]

    def _run(self, remedy: Remedy, lifted: Sequence[Lifted]) -> Trial | None:
        cycle = self._prepare(remedy)
        if cycle is None:
            return None
        names = [snapshot.scope for snapshot in cycle.snapshots]
        if self._name not in names:
            return None
        position = names.index(self._name)
        policies, settings = cycle.policies, cycle.settings
        snapshots = [
            *(
                _lifted(snapshot, cycle, lifted)
                for snapshot in cycle.snapshots[:position]
            ),
            cycle.snapshots[position],
        ]
        report = propose.propose(snapshots, policies, settings)
        case = scenario.cases(snapshots, policies, settings, report)[position]
        result = report.scopes[position]
        if lifted:
            for reason, pair in lifted:
                case = relax(case, reason, pair)
            result = propose.plan_again(case)
        return Trial(remedy, case, result)


def _lifted(
    snapshot: Snapshot, cycle: CycleInput, lifted: Sequence[Lifted]
) -> Snapshot:
    """An earlier scope, which may have the same instances.

    What is lifted for an instance there, too, is so in all scopes.
    """
    case = PlanningInput(snapshot, cycle.policies, cycle.settings)
    for reason, pair in lifted:
        if reason.code in OF_INSTANCE and pair.instance in snapshot.instances:
            case = relax(case, reason, pair)
    return case.snapshot
