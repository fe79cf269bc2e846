# SPDX-License-Identifier: Apache-2.0
"""In which order are the needs of a scope met, and under which rules?

Evacuation, then the repair of server groups, then spread or pack (G7). All
work on one draft; the rules differ by phase: spread is not held to capacity
ceilings (C18), and only spread and pack must not move anything back.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from kronos.engine.arrays import BoolArray
from kronos.engine.constraints import constraint_set
from kronos.engine.constraints.base import Constraint, ReturnRule
from kronos.engine.eligibility import in_flight
from kronos.engine.eligibility.cooldown import Cooldowns
from kronos.engine.planning import stop_reasons
from kronos.engine.planning.affinity import Repair
from kronos.engine.planning.evacuate import Evacuation
from kronos.engine.planning.pack import Pack
from kronos.engine.planning.spread import Spread
from kronos.engine.scoring.profiles import Profiles
from kronos.engine.scoring.scorecard import Scorecard
from kronos.engine.settings import Settings
from kronos.engine.simulation import build
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.types import MigrationPhase, Snapshot, Stage, StopReason
from kronos.policies.models import Mode, Policy


class PhaseRunner:
    """The phases of one scope.

    :param snapshot: as earlier scopes leave it
    :param policies: those in use, at least one
    :param fixed: instance uuid to the reason why no phase may move it
    """

    def __init__(
        self,
        snapshot: Snapshot,
        scorecard: Scorecard,
        profiles: Profiles,
        policies: Sequence[Policy],
        memory: Cooldowns,
        fixed: Mapping[str, str],
        settings: Settings,
    ) -> None:
        self.snapshot = snapshot
        self.scorecard = scorecard
        self.settings = settings
        self.state = build.build(snapshot, scorecard, profiles)
        self.host_of_before = self.state.host_of.copy()
        self.hosts_over_before = self.state.hosts_over()
        self.combined_before = self.state.combined()
        self.ends: list[PhaseResult] = []
        self.stages: list[Stage] = []
        self.policies = list(policies)
        self._memory = memory
        self._fixed = dict(fixed)
        self.draining: BoolArray = np.array(
            [name in scorecard.draining for name in self.state.index.hosts],
            dtype=bool,
        )
        self._free: BoolArray = np.array(
            [uuid not in fixed for uuid in self.state.index.instances],
            dtype=bool,
        )

    def run(self, budget: int | None) -> Simulation:
        """Plan all phases.

        :param budget: how many moves may be planned; None: any number
        :returns: the draft; how each phase ended is in ``ends``
        """
        searches = {
            MigrationPhase.EVACUATE: self._evacuate,
            MigrationPhase.AFFINITY: self._repair,
            MigrationPhase.SPREAD: self._spread,
            MigrationPhase.PACK: self._pack,
        }
        draft = Simulation(self.state, budget)
        for phase in self.asked():
            self._run(draft, phase, searches[phase])
        return draft

    def asked(self) -> list[MigrationPhase]:
        """The phases that run, in their order."""
        settings = self.settings
        found = []
        if settings.evacuate and (
            self.draining.any() or not settings.rebalance
        ):
            found.append(MigrationPhase.EVACUATE)
        if settings.enforces:
            found.append(MigrationPhase.AFFINITY)
        if settings.rebalance:
            found.append(
                MigrationPhase.PACK if self.packs else MigrationPhase.SPREAD
            )
        return found

    @property
    def packs(self) -> bool:
        """Whether the policies want hosts filled."""
        return self.policies[0].mode is Mode.PACK

    def _run(
        self,
        draft: Simulation,
        phase: MigrationPhase,
        search: Callable[[Simulation], PhaseResult],
    ) -> None:
        self.begin(draft, phase)
        before = len(draft.made)
        end = search(draft)
        self.ends.append(end)
        self.stages.append(
            Stage(phase.value, len(draft.made) - before, end.reason)
        )

    def begin(self, draft: Simulation, phase: MigrationPhase) -> None:
        """Let a draft enter a phase, with its rules and who may move."""
        hosts = self.state.counts
        if phase is MigrationPhase.EVACUATE:
            hosts = self.draining
        elif phase is MigrationPhase.AFFINITY:
            hosts = hosts | self.draining
        draft.begin(
            phase,
            self._constraints(phase),
            self._free & hosts[self.state.host_of],
            self.settings.repeat_moves,
        )

    def _constraints(
        self, phase: MigrationPhase
    ) -> constraint_set.Constraints:
        more: list[Constraint] = []
        if phase is not MigrationPhase.SPREAD:
            more.append(
                build.ceilings(self.state, self.scorecard, self.policies)
            )
        if phase in (MigrationPhase.SPREAD, MigrationPhase.PACK):
            more.append(self._return_rule())
        return constraint_set.build(
            self.snapshot,
            self.state.index,
            self.state.host_of,
            self.scorecard.frozen_hosts,
            self.settings,
            more,
            self._memory.held_destinations,
        )

    def _return_rule(self) -> ReturnRule:
        index = self.state.index
        refused = {
            index.instance[uuid]: {
                index.host[host]: reason
                for host, reason in hosts.items()
                if host in index.host
            }
            for uuid, hosts in self._memory.returns.items()
            if uuid in index.instance
        }
        return ReturnRule(len(index.instances), len(index.hosts), refused)

    def _evacuate(self, draft: Simulation) -> PhaseResult:
        sources = np.flatnonzero(self.draining).tolist()
        mode = self.policies[0].mode
        search = Evacuation(draft, sources, mode, self.settings, self._fixed)
        return search.run()

    def _repair(self, draft: Simulation) -> PhaseResult:
        return self.repair(draft).run()

    def repair(self, draft: Simulation) -> Repair:
        """The repair of server groups, before its first move."""
        return Repair(
            draft,
            self.snapshot,
            self.settings,
            self.policies[0].mode,
            self._fixed,
            np.flatnonzero(self.draining).tolist(),
        )

    def _pack(self, draft: Simulation) -> PhaseResult:
        return self.pack(draft).run()

    def pack(self, draft: Simulation) -> Pack:
        """The packing, before its first move."""
        index = self.state.index
        awaited = {
            index.host[host]
            for hosts in in_flight.destinations(self.snapshot).values()
            for host in hosts
            if host in index.host
        }
        return Pack(draft, self.settings, self._fixed, awaited, self._gone())

    def _gone(self) -> Counter[int]:
        """How many instances left a host lately, by its position.

        Those that the return guard keeps from coming back.
        """
        index = self.state.index
        return Counter(
            index.host[host]
            for uuid, hosts in self._memory.returns.items()
            for host in hosts
            if uuid in index.instance and host in index.host
        )

    def _spread(self, draft: Simulation) -> PhaseResult:
        search = Spread(draft, self.settings)
        stopped = search.run()
        reason = stop_reasons.why_stopped(
            stopped,
            self.state,
            len(draft.made),
            self.settings,
            all_judged=not any(one.skipped for one in self.scorecard.results),
        )
        if stopped is not StopReason.STUCK:
            return PhaseResult(stopped, reason)
        return PhaseResult(
            stopped,
            reason
            + stop_reasons.held(self.state, self._fixed)
            + stop_reasons.unsafe_swap(search.has_unsafe_swap()),
            stop_reasons.stuck_instances(draft),
        )
