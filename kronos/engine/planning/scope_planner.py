# SPDX-License-Identifier: Apache-2.0
"""The planner of one scope: everything around the search itself.

Who explains a plan prepares the very same scope, and asks what the search
asked.
"""

from collections.abc import Sequence

from kronos.engine.eligibility import cooldown
from kronos.engine.planning import result as outcome
from kronos.engine.planning import stop_reasons
from kronos.engine.planning.phases import PhaseRunner
from kronos.engine.planning.shared_hosts import EarlierPlans
from kronos.engine.reasons import Reason
from kronos.engine.scoring import profiles, scorecard
from kronos.engine.settings import Settings
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.types import (
    AggregateResult,
    EarlierMove,
    MigrationStep,
    Outcome,
    Snapshot,
    Stage,
    StopReason,
)
from kronos.policies.models import Policy


class ScopePlanner:
    """The planning of one scope."""

    def __init__(
        self,
        snapshot: Snapshot,
        policies: Sequence[Policy],
        settings: Settings,
        carry: EarlierPlans,
    ) -> None:
        self._snapshot = snapshot
        self._settings = settings
        self._carry = carry
        self.card = scorecard.score(snapshot, policies, settings)
        """What the policies say of its hosts."""
        self.fixed: dict[str, Reason] = {}
        """Instance uuid to the reason why no phase may move it; once it
        is prepared."""
        self.unavailable: dict[str, Reason] = {}
        """Those of them that the past or an earlier scope forbids."""
        self.profiles = profiles.Profiles()
        self.memory = cooldown.Cooldowns()
        self.now = carry.place(snapshot)
        """As earlier scopes leave it."""
        self._used = [one for one in policies if one.name in self.card.values]
        self._stages = [
            Stage('services', len(snapshot.services or {})),
            Stage('score', len(set().union(*self.card.values.values()))),
        ]
        self.stopped: StopReason | None = None
        self.reason = ''

    def plan(self) -> AggregateResult:
        phases = self.prepare()
        if phases is None:
            return self._nothing()
        simulation = phases.run(self.budget())
        result = self._result(phases, simulation)
        self.hand_on(result.steps)
        return result

    def prepare(self) -> PhaseRunner | None:
        """Its phases before the first move.

        None where it stands still: ``stopped`` and ``reason`` say why.
        """
        card, snapshot = self.card, self._snapshot
        self.stopped, self.reason = card.blocked, card.reason
        if card.blocked is not None:
            return None
        self.memory = memory = cooldown.remember(snapshot, self._settings)
        self._stages.append(Stage('cooldown', 0, memory.standstill or ''))
        if memory.standstill:
            self.stopped = StopReason.COOLDOWN
            self.reason = memory.standstill
            return None
        self.profiles = profiles.profile(
            snapshot, self._used, card, self._settings
        )
        self._stages.append(Stage('profile', len(self.profiles.profiles)))
        card.warnings += self.profiles.warnings + memory.notes
        self.unavailable = memory.unavailable | self._carry.planned()
        self._carry.shift(snapshot, card, self.profiles)
        self.fixed = self._fixed()
        return self.phases()

    def phases(self) -> PhaseRunner:
        """The phases once more, before the first move; it is prepared."""
        return PhaseRunner(
            self.now,
            self.card,
            self.profiles,
            self._used,
            self.memory,
            self.fixed,
            self._settings,
        )

    def budget(self) -> int | None:
        """How many moves the scope may plan; None: any number.

        What is under way at its hosts already, of other plans or by hand,
        counts: several audits may plan one scope. Not so resizes, which
        tenants make all the time, and what is stuck.
        """
        settings = self._settings
        if settings.max_migrations is None and settings.unlimited:
            return None
        budget = settings.max_migrations or max(
            policy.max_migrations_per_cycle for policy in self._used
        )
        busy = under_way(self._snapshot, settings)
        if busy:
            self.card.warnings.append(
                f'the budget of {budget} is less by {len(busy)}: so many '
                'instances are on their way from or to its hosts'
            )
        return max(0, budget - len(busy))

    def _fixed(self) -> dict[str, Reason]:
        card, now = self.card, self.now
        frozen = {
            host: reason
            for host, reason in card.frozen_hosts.items()
            if host not in card.draining
        }
        everyone = now.instances.values()
        unavailable = sum(uuid in now.instances for uuid in self.unavailable)
        self._stages += [
            Stage('down', sum(one.host in frozen for one in everyone)),
            Stage('unavailable', unavailable),
        ]
        return stop_reasons.fixed_instances(
            now, frozen, self.profiles, self.unavailable, self._settings
        )

    def _nothing(self) -> AggregateResult:
        now, stopped = self.now, self.stopped or StopReason.DONE
        result = outcome.standing(
            now, self.card, stopped, self.reason, self._settings
        )
        result.stayed |= {
            uuid: why
            for uuid, why in self._carry.planned().items()
            if uuid in now.instances
        }
        result.stages = self._stages
        result.warnings += self._snapshot.warnings
        return result

    def _result(
        self, phases: PhaseRunner, simulation: Simulation
    ) -> AggregateResult:
        result = outcome.planned(phases, simulation, self.fixed)
        result.stages = self._stages + phases.stages
        result.warnings += self._snapshot.warnings
        return result

    def hand_on(self, steps: Sequence[MigrationStep]) -> None:
        """Let later scopes know of what is planned in this one.

        It has to be prepared.
        """
        for step in steps:
            self._carry.moves.append(
                EarlierMove(
                    self._snapshot.scope,
                    self._snapshot.instances[step.instance],
                    step.source,
                    step.destination,
                    self.profiles.profiles[step.instance].usage,
                )
            )


def under_way(snapshot: Snapshot, settings: Settings) -> set[str]:
    """The instances that are on their way from or to hosts of a scope."""
    hosts, now = snapshot.hosts, snapshot.taken_at
    return {
        event.instance
        for event in snapshot.events
        if event.outcome in (Outcome.PLANNED, Outcome.UNDER_WAY)
        and not event.is_resize
        and not cooldown.is_stuck(event, settings, now)
        and (event.source in hosts or event.destination in hosts)
    }
