# SPDX-License-Identifier: Apache-2.0
"""The phases of a plan: the order in which a scope's needs are met.

Evacuation, then the repair of server groups, then spread, or relief and pack.
All work on one simulation; what differs by phase stands in
:mod:`..phase_rules`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from kronos.engine import phase_rules
from kronos.engine.arrays import BoolArray
from kronos.engine.constraints import constraint_set
from kronos.engine.constraints.base import ConstraintInput
from kronos.engine.effect import use
from kronos.engine.eligibility import budgets, consent, young_instances
from kronos.engine.eligibility.budgets import ScopeBudgets
from kronos.engine.eligibility.consent import Wish
from kronos.engine.eligibility.cooldown import Cooldowns
from kronos.engine.phase_rules import PhaseRules
from kronos.engine.planning import affinity, evacuate, pack, relieve, spread
from kronos.engine.planning.phase_input import PhaseInput, Search
from kronos.engine.reasons import Code, Reason
from kronos.engine.scoring.profiles import Profiles
from kronos.engine.scoring.scorecard import Scorecard
from kronos.engine.settings import Settings, VetoReference
from kronos.engine.simulation import build
from kronos.engine.simulation.placement import Placement
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.types import (
    MigrationPhase,
    Phase,
    Snapshot,
    Stage,
    StopReason,
)
from kronos.policies.models import Policy

SEARCHES: dict[Phase, Search] = {
    MigrationPhase.EVACUATE: evacuate.run,
    MigrationPhase.AFFINITY: affinity.run,
    MigrationPhase.RELIEVE: relieve.run,
    MigrationPhase.SPREAD: spread.run,
    MigrationPhase.PACK: pack.run,
}
"""What plans in each phase of the trunk."""


@dataclass(frozen=True)
class Prepared:
    """A scope before the first move of its plan."""

    card: Scorecard
    """What the policies say of its hosts, as earlier scopes leave them."""
    now: Snapshot
    """As earlier scopes leave it."""
    stages: list[Stage]
    policies: list[Policy]
    """Those in use, at least one."""
    profiles: Profiles
    cooldowns: Cooldowns
    fixed: dict[str, Reason]
    """Instance uuid to the reason why no phase may move it."""
    unavailable: dict[str, Reason]
    """Those of them that the past or an earlier scope forbids."""
    settings: Settings

    @functools.cached_property
    def wishes(self) -> dict[str, Wish]:
        """By uuid what the owner of an instance asks for, if it counts."""
        return consent.of_scope(self.now, self.settings)

    def phases(self) -> PhaseRunner:
        """The phases before the first move; anew with each call."""
        return PhaseRunner(self)


class PhaseRunner:
    """The phases of one scope."""

    def __init__(self, scope: Prepared) -> None:
        self.scope = scope
        self.snapshot = scope.now
        self.scorecard = scope.card
        self.settings = scope.settings
        self.utilization = build.build(
            scope.now,
            scope.card,
            scope.profiles,
            use.factors(scope.now.effects, scope.settings),
        )
        if scope.settings.veto_reference is VetoReference.INITIAL:
            self.utilization.vetoed_above = self.utilization.imbalances
        self.placement = Placement.of(scope.now, self.utilization.index)
        self.host_of_before = self.placement.host_of.copy()
        self.hosts_over_before = self.utilization.hosts_over()
        self.combined_before = self.utilization.combined()
        self.ends: list[PhaseResult] = []
        self.stages: list[Stage] = []
        self.effect_limit = use.limited(
            scope.now.effects, self.utilization.policies, scope.settings
        )
        self._young = young_instances.of(scope.now, scope.settings)
        index = self.utilization.index
        self.draining: BoolArray = np.array(
            [name in scope.card.draining for name in index.hosts], dtype=bool
        )
        self._free: BoolArray = np.array(
            [uuid not in scope.fixed for uuid in index.instances], dtype=bool
        )
        self.inputs = PhaseInput(
            scope.now,
            scope.card,
            scope.policies,
            scope.cooldowns,
            scope.fixed,
            self.draining,
            scope.settings,
        )

    @functools.cached_property
    def budgets(self) -> ScopeBudgets | None:
        """Those before the first move; None: there are none."""
        if not budgets.is_limited(self.settings):
            return None
        position = self.utilization.index.instance
        return ScopeBudgets(self.snapshot, self.settings, position)

    def run(self, budget: int | None) -> Simulation:
        """Plan all phases.

        :param budget: how many moves may be planned; None: any number
        :returns: the simulation; how each phase ended is in ``ends``
        """
        simulation = self.simulation(budget)
        for phase in self.order():
            self._run(simulation, phase)
        return simulation

    def simulation(self, budget: int | None) -> Simulation:
        """The scope before its first move."""
        return Simulation(self.placement, self.utilization, budget)

    def rules(self, phase: Phase) -> PhaseRules:
        """The rules of a phase."""
        return phase_rules.rules_of(phase, self.inputs.mode, self.settings)

    def order(self) -> list[Phase]:
        """The phases that run, in their order."""
        settings = self.settings
        if settings.extension.phases:
            return [*settings.extension.phases]
        if self.inputs.cooldowns.standstill:
            return [MigrationPhase.RELIEVE]
        phases: list[Phase] = []
        if settings.evacuate and (
            self.draining.any() or not settings.rebalance
        ):
            phases.append(MigrationPhase.EVACUATE)
        if settings.enforces:
            phases.append(MigrationPhase.AFFINITY)
        if relieve.is_needed(self.scorecard, self.inputs.policies, settings):
            phases.append(MigrationPhase.RELIEVE)
        if settings.rebalance:
            phases.append(
                MigrationPhase.PACK
                if self.inputs.packs
                else MigrationPhase.SPREAD
            )
        return phases

    def _run(self, simulation: Simulation, phase: Phase) -> None:
        young = self.begin(simulation, phase)
        before = len(simulation.steps)
        own = self.settings.extension.phases.get(phase)
        search = own.search if own else SEARCHES[phase]
        fixed = {**self.inputs.fixed, **young}
        budget = simulation.budget
        self._limit(simulation)
        end = search(simulation, replace(self.inputs, fixed=fixed))
        simulation.budget, simulation.canary = budget, None
        position = self.utilization.index.instance
        end.stayed |= {position[uuid]: why for uuid, why in young.items()}
        if end.stopped is not StopReason.BALANCED:
            _explain_budgets(simulation, end)
        self.ends.append(end)
        self.stages.append(
            Stage(phase.value, len(simulation.steps) - before, end.reason)
        )

    def _limit(self, simulation: Simulation) -> None:
        """Set the budget of the phase: ``canary_moves`` limits balance."""
        if not (self.effect_limit and simulation.rules.is_balance):
            return
        used = sum(
            self.rules(step.phase).is_balance for step in simulation.steps
        )
        left_over = max(0, self.settings.canary_moves - used)
        most = len(simulation.steps) + left_over
        if simulation.budget is None or most < simulation.budget:
            simulation.budget = most
            simulation.canary = self.settings.canary_moves

    def begin(self, simulation: Simulation, phase: Phase) -> dict[str, Reason]:
        """Let a simulation enter a phase, with its rules and who may move.

        :returns: by uuid why those stay that could move but for the phase
        """
        rules = self.rules(phase)
        movable = self._free & self._from(rules)[self.placement.host_of]
        position = self.utilization.index.instance
        spared = self._spared(phase)
        movable[[position[uuid] for uuid in spared]] = False
        simulation.begin(rules, self._constraints(rules), movable)
        return spared

    def _spared(self, phase: Phase) -> dict[str, Reason]:
        """Those that could move but for stay, consent or budget, by uuid."""
        rules = self.rules(phase)
        spared = self.inputs.cooldowns.resting if rules.spares_moved else {}
        if rules.spares_young:
            spared = spared | self._young
        before, wishes = (self.scope.now, self.settings), self.scope.wishes
        spared = spared | consent.of_phase(*before, rules, wishes)
        if not budgets.is_exempt(self.settings, phase):
            spared = budgets.of_phase(*before, phase, self.budgets) | spared
        if not spared:
            return {}
        position, sources = self.utilization.index.instance, self._from(rules)
        host_of = self.placement.host_of
        return {
            uuid: reason
            for uuid, reason in spared.items()
            if self._free[position[uuid]] and sources[host_of[position[uuid]]]
        }

    def _from(self, rules: PhaseRules) -> BoolArray:
        """[H]; the hosts that instances may leave in a phase."""
        hosts: BoolArray = np.zeros(len(self.draining), dtype=bool)
        if rules.from_draining:
            hosts |= self.draining
        if rules.from_counting:
            hosts |= self.utilization.counts
        return hosts

    def _constraints(self, rules: PhaseRules) -> constraint_set.ConstraintSet:
        readings = None
        if rules.ceilings:
            readings = build.capacity_readings(
                self.utilization,
                self.scorecard,
                self.scope.profiles,
                self.scope.policies,
                self.host_of_before,
            )
        return constraint_set.build(
            ConstraintInput(
                snapshot=self.snapshot,
                settings=self.settings,
                rules=rules,
                index=self.utilization.index,
                host_of=self.placement.host_of,
                excluded=self.scorecard.excluded,
                cooldowns=self.scope.cooldowns,
                readings=readings,
                budgets=self.budgets,
                wishes=self.scope.wishes,
            )
        )

    def repair(self, simulation: Simulation) -> affinity.Repair:
        """The repair of server groups, before its first move."""
        return affinity.Repair(simulation, self.inputs)

    def pack(self, simulation: Simulation) -> pack.Consolidation:
        """The packing, before its first move."""
        return pack.Consolidation(simulation, self.inputs)


def _explain_budgets(simulation: Simulation, end: PhaseResult) -> None:
    """Give a reason to those that the moves of the plan leave no budget.

    A reason of the search comes first.
    """
    movable = np.flatnonzero(simulation.movable)
    spent = movable[~simulation.constraints.within_budgets(movable)]
    for instance in spent.tolist():
        host = int(simulation.placement.host_of[instance])
        if instance in end.stayed:
            continue
        for reason in simulation.constraints.reasons(instance, host):
            if reason.code is Code.DISRUPTION_BUDGET:
                end.stayed[instance] = reason
                break
