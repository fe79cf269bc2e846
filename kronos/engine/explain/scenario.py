# SPDX-License-Identifier: Apache-2.0
"""A scenario: the planner's own objects at a moment of its plan.

A scenario is a planning input, prepared as the planner prepares it; a moment
is a simulation of it, led through some of the steps. Whoever changes the input
and makes a scenario of it asks the planner itself what the change would do.
"""

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kronos.engine.constraints.constraint_set import ConstraintSet
from kronos.engine.eligibility import hosts
from kronos.engine.phase_rules import PhaseRules
from kronos.engine.planning import drain_without_metrics
from kronos.engine.planning.affinity import Repair
from kronos.engine.planning.phases import PhaseRunner
from kronos.engine.planning.scope_planner import ScopePlanner, Stopped
from kronos.engine.reasons import Reason
from kronos.engine.scoring import evaluation, usages
from kronos.engine.settings import Settings
from kronos.engine.simulation.placement import Placement
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.simulation.utilization import Utilization
from kronos.engine.types import (
    AggregateResult,
    CycleReport,
    EarlierMove,
    MigrationPhase,
    MigrationStep,
    Phase,
    PlanningInput,
    Rest,
    Snapshot,
)
from kronos.policies.models import Policy

MOMENTS = 8
"""So many moments of a scenario are kept."""


def cases(
    snapshots: Sequence[Snapshot],
    policies: Sequence[Policy],
    settings: Settings,
    report: CycleReport,
) -> list[PlanningInput]:
    """What the planner was given, scope by scope.

    :param report: of the same snapshots, in the same order
    """
    enabled = [policy for policy in policies if policy.enabled]
    earlier: list[EarlierMove] = []
    inputs = []
    for snapshot, result in zip(snapshots, report.scopes, strict=True):
        case = PlanningInput(snapshot, enabled, settings, list(earlier))
        chosen = drain_without_metrics.choose(case).input
        inputs.append(chosen)
        if result.steps:
            earlier += ScopePlanner(chosen).moves(result.steps)
    return inputs


@dataclass
class PlanningMoment:
    """The planner at one point of its plan."""

    phases: PhaseRunner
    simulation: Simulation
    repair: Repair | None = None
    """In the phase that repairs groups, and only there."""
    rest: Rest | None = None
    """The hosts that the planner sets aside in the end."""

    @property
    def rules(self) -> PhaseRules:
        """The rules of its phase."""
        return self.simulation.rules

    @property
    def phase(self) -> Phase:
        return self.rules.phase

    @property
    def placement(self) -> Placement:
        return self.simulation.placement

    @property
    def utilization(self) -> Utilization:
        return self.simulation.utilization

    def make(self, step: MigrationStep) -> None:
        """Make the next step of the plan."""
        index = self.simulation.utilization.index
        self.simulation.move(
            index.instance[step.instance], index.host[step.destination]
        )
        self.set_aside()

    def set_aside(self) -> None:
        """Judge policies without some hosts, as soon as the planner does."""
        rest, utilization = self.rest, self.utilization
        if (
            rest is None
            or self.phase is not MigrationPhase.SPREAD
            or utilization.has_aside
            or len(self.simulation.steps) < rest.after
        ):
            return
        aside = np.array(
            [
                np.isin(utilization.index.hosts, rest.hosts(name))
                for name in utilization.policies
            ]
        )
        if (utilization.whole.judged & ~aside).any(axis=1).all():
            utilization.set_aside(aside)


class Scenario:
    """A planning input as the planner prepares it.

    :param rest: what its plan sets aside
    """

    def __init__(self, case: PlanningInput, rest: Rest | None = None) -> None:
        self.case = case
        self.rest = rest
        self.scope = ScopePlanner(case).scope
        self.phases = (
            None if isinstance(self.scope, Stopped) else self.scope.phases()
        )
        """None where the scope stands still."""
        self._reasons: dict[str, list[Reason]] = {}
        self._passing: tuple[PlanningMoment, int] | None = None
        """The last passing moment, and how many steps are made."""
        self._moments: dict[tuple[Phase, int], PlanningMoment] = {}

    @functools.cached_property
    def _available(self) -> dict[str, None]:
        """The hosts that count, or lack nothing but a policy's value."""
        out = self.scope.card.excluded
        return {
            host: None
            for host in sorted(self.case.snapshot.hosts)
            if host not in out or out[host].code in hosts.GAPS
        }

    @functools.cached_property
    def _evaluations(self) -> list[evaluation.PolicyEvaluation]:
        """The policies in use, with their values of every host."""
        case, names = self.case, list(self._available)
        return [
            evaluation.attempt(policy, case.snapshot, names, case.settings)
            for policy in case.policies
            if policy.name in self.scope.card.values
        ]

    def host_reasons(self, name: str) -> list[Reason]:
        """All that keeps a host from taking anything, in a fixed order."""
        if name not in self._reasons:
            case = self.case
            is_out = name in self.scope.card.excluded
            self._reasons[name] = [
                reason.worded(str(reason), name)
                for reason in hosts.reasons(
                    case.snapshot,
                    name,
                    case.settings,
                    self._gaps(name) if is_out else (),
                )
            ]
        return self._reasons[name]

    def _gaps(self, name: str) -> list[Reason]:
        ignored = self.ignored_policies(name)
        return [
            reason
            for evaluated in self._evaluations
            if evaluated.policy.name not in ignored
            for reason in evaluated.gaps(name)
        ]

    def ignored_policies(self, name: str) -> set[str]:
        """The policies that could not be used if a host took part as it is.

        The host lacks a value of theirs, and with it too few hosts would
        have one. One policy is always left.
        """
        if name in self._available or self.case.settings.require_all_policies:
            return set()
        evaluations = [
            evaluated
            for evaluated in self._evaluations
            if not evaluated.result.skipped
        ]
        thin = self._thin_values
        lost = [
            evaluated
            for evaluated in evaluations
            if any(
                name not in values for values in thin[evaluated.policy.name]
            )
        ]
        heavy = [
            evaluated for evaluated in lost if evaluated.policy.weight > 0.0
        ]
        if not any(
            evaluated.policy.weight
            for evaluated in evaluations
            if evaluated not in lost
        ):
            lost = [
                evaluated for evaluated in lost if evaluated is not heavy[0]
            ]
        return {evaluated.policy.name for evaluated in lost}

    @functools.cached_property
    def _thin_values(self) -> dict[str, list[Mapping[str, float]]]:
        """By policy the values that just enough hosts have."""
        names = self._available
        least = self.case.settings.min_host_coverage * (len(names) + 1)

        def is_thin(values: Mapping[str, float]) -> bool:
            measured = sum(host in values for host in names)
            return measured < least - usages.NOISE or not measured

        return {
            each.policy.name: [
                values
                for values in (each.values, each.capacities, each.loads)
                if values is not None and is_thin(values)
            ]
            for each in self._evaluations
        }

    def passing(
        self, phase: Phase, steps: Sequence[MigrationStep]
    ) -> PlanningMoment:
        """As :meth:`moment`, but good only until it is called again.

        Who asks in the order of the plan pays for each step once.
        """
        key = phase, len(steps)
        if key in self._moments:
            return self._moments[key]
        last = self._passing
        if last is None or last[0].phase is not phase or last[1] > len(steps):
            last = self._lead(phase, steps), len(steps)
        for step in steps[last[1] :]:
            last[0].make(step)
        self._passing = last[0], len(steps)
        return last[0]

    def moment(
        self,
        phase: Phase,
        steps: Sequence[MigrationStep],
        is_shared: bool = True,
    ) -> PlanningMoment:
        """The planner in a phase, after some steps of its plan.

        :param steps: those made before, of this phase or an earlier one
        :param is_shared: whether others may be given the same; it must not be
            changed then
        """
        key = phase, len(steps)
        if is_shared and key in self._moments:
            return self._moments[key]
        moment = self._lead(phase, steps)
        if is_shared:
            if len(self._moments) >= MOMENTS:
                del self._moments[next(iter(self._moments))]
            self._moments[key] = moment
        return moment

    def _lead(
        self, phase: Phase, steps: Sequence[MigrationStep]
    ) -> PlanningMoment:
        if isinstance(self.scope, Stopped):
            raise ValueError(f'it stands still: {self.scope.reason}')
        phases = self.scope.phases()
        simulation = phases.simulation(None)
        moment = PlanningMoment(phases, simulation, rest=self.rest)
        before = [step for step in steps if step.phase is not phase]
        for earlier, own in itertools.groupby(before, lambda step: step.phase):
            # The planner was through with it: nothing is asked of it.
            simulation.begin(
                phases.rules(earlier), ConstraintSet([]), simulation.movable
            )
            for step in own:
                moment.make(step)
        phases.begin(simulation, phase)
        if phase is MigrationPhase.AFFINITY:
            moment.repair = phases.repair(simulation)
        moment.set_aside()
        for step in steps[len(before) :]:
            moment.make(step)
        return moment


def after_phase(result: AggregateResult, phase: Phase) -> list[MigrationStep]:
    """The steps up to the end of a phase."""
    order: list[Phase] = [*MigrationPhase]
    if phase in order:
        later = order[order.index(phase) + 1 :]
        return [step for step in result.steps if step.phase not in later]
    own = [
        number
        for number, step in enumerate(result.steps, start=1)
        if step.phase is phase
    ]
    return result.steps[: own[-1] if own else 0]
