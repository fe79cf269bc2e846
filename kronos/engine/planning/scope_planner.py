# SPDX-License-Identifier: Apache-2.0
"""The planner of one scope: everything around the search itself.

Who explains a plan prepares the very same scope, and asks what the search
asked.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kronos.engine.eligibility import cooldown, stuck_migrations, window
from kronos.engine.planning import relieve, stop_reasons
from kronos.engine.planning import result as outcome
from kronos.engine.planning.phases import Prepared
from kronos.engine.planning.shared_hosts import EarlierPlans
from kronos.engine.scoring import profiles, scorecard
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    EarlierMove,
    MigrationStep,
    Outcome,
    PlanningInput,
    Snapshot,
    Stage,
    Stop,
    StopReason,
)
from kronos.policies.models import Policy


@dataclass(frozen=True)
class Stopped:
    """A scope at a standstill."""

    card: scorecard.Scorecard
    now: Snapshot
    """As earlier scopes leave it."""
    stages: list[Stage]
    stopped: Stop
    reason: str
    """``stopped`` as a sentence."""


class ScopePlanner:
    """The planning of one scope.

    :param inputs: all that it is planned by; it stays as it is
    """

    def __init__(self, inputs: PlanningInput) -> None:
        instances = inputs.snapshot.instances
        # All that follows asks for this order, which takes long to find.
        ordered = {uuid: instances[uuid] for uuid in sorted(instances)}
        self._snapshot = replace(inputs.snapshot, instances=ordered)
        self._inputs = replace(inputs, snapshot=self._snapshot)
        self._settings = inputs.settings
        self._earlier = EarlierPlans(inputs.earlier)

    def plan(self) -> AggregateResult:
        """Plan it, or report why it is at a standstill."""
        scope = self.scope
        if isinstance(scope, Stopped):
            return self._standing(scope)
        phases = scope.phases()
        budget, busy = self._budget(scope.policies)
        most = self._moves_in_window()
        is_short = most is not None and (budget is None or most < budget)
        simulation = phases.run(most if is_short else budget)
        result = outcome.planned(phases, simulation, scope.fixed, busy)
        if is_short:
            window.tell_limit(result, self._snapshot)
        result.stages = scope.stages + phases.stages
        result.warnings += self._snapshot.warnings
        return result

    @functools.cached_property
    def scope(self) -> Prepared | Stopped:
        """The scope before the first move, or why there is none."""
        snapshot, settings = self._snapshot, self._settings
        card = scorecard.score(snapshot, self._inputs.policies, settings)
        earlier = self._earlier
        now = earlier.place(snapshot) if earlier.moves else snapshot
        stages = [
            Stage('services', len(snapshot.services or {})),
            Stage('score', len(set().union(*card.values.values()))),
        ]
        if closed := window.why_closed(snapshot):
            stop = window.STOPS[closed.code]
            return Stopped(card, now, stages, stop, str(closed))
        if card.blocked is not None:
            return Stopped(card, now, stages, card.blocked, card.reason)
        cooldowns = cooldown.remember(snapshot, settings)
        stages.append(Stage('cooldown', 0, cooldowns.standstill or ''))
        if cooldowns.standstill and not relieve.is_needed(
            card, self._inputs.policies, settings
        ):
            stopped = StopReason.COOLDOWN
            return Stopped(card, now, stages, stopped, cooldowns.standstill)
        return self._prepared(card, now, stages, cooldowns)

    def _prepared(
        self,
        card: scorecard.Scorecard,
        now: Snapshot,
        stages: list[Stage],
        cooldowns: cooldown.Cooldowns,
    ) -> Prepared:
        snapshot, settings = self._snapshot, self._settings
        policies = self._inputs.policies
        used = [policy for policy in policies if policy.name in card.values]
        weights = profiles.profile(snapshot, used, card, settings)
        stages.append(Stage('profile', len(weights.profiles)))
        warnings = card.warnings + weights.warnings + cooldowns.notes
        card = replace(card, warnings=warnings)
        unavailable = cooldowns.unavailable
        if self._earlier.moves:
            card = self._earlier.shifted(snapshot, card, weights)
            unavailable = unavailable | self._earlier.planned()
        frozen, everyone = card.frozen, now.instances.values()
        stages += [
            Stage('down', sum(server.host in frozen for server in everyone)),
            Stage(
                'unavailable',
                sum(uuid in now.instances for uuid in unavailable),
            ),
        ]
        fixed = stop_reasons.fixed_instances(
            now, frozen, weights, unavailable, settings
        )
        return Prepared(
            card,
            now,
            stages,
            used,
            weights,
            cooldowns,
            fixed,
            unavailable,
            settings,
        )

    def _budget(self, used: Sequence[Policy]) -> tuple[int | None, list[str]]:
        """How many moves the scope may plan; None: any number.

        What is under way at its hosts already, of other plans or by hand,
        counts: several audits may plan one scope. Not so resizes, which
        tenants make all the time, and what is stuck.

        :returns: with what to warn of
        """
        settings = self._settings
        if settings.max_migrations is None and settings.unlimited:
            return None, []
        budget = budget_in_force(settings, used)
        busy = under_way(self._snapshot, settings)
        if not busy:
            return budget, []
        warning = (
            f'the budget of {budget} is reduced by {len(busy)}: that '
            'many instances are already being migrated from or to its hosts'
        )
        return max(0, budget - len(busy)), [warning]

    def _moves_in_window(self) -> int | None:
        """How many moves end before the window closes; None: any number.

        Those under way come first.
        """
        most = window.most_moves(self._snapshot)
        if most is None:
            return None
        return max(0, most - len(under_way(self._snapshot, self._settings)))

    def moves(self, steps: Sequence[MigrationStep]) -> list[EarlierMove]:
        """The steps of this scope, for later scopes."""
        if isinstance(self.scope, Stopped):
            return []
        weights = self.scope.profiles.profiles
        return [
            EarlierMove(
                self._snapshot.scope,
                self._snapshot.instances[step.instance],
                step.source,
                step.destination,
                weights[step.instance].usage,
            )
            for step in steps
        ]

    def _standing(self, scope: Stopped) -> AggregateResult:
        result = outcome.standing(
            scope.now, scope.card, scope.stopped, scope.reason, self._settings
        )
        result.stayed |= {
            uuid: why
            for uuid, why in self._earlier.planned().items()
            if uuid in scope.now.instances
        }
        result.stages = scope.stages
        result.warnings += self._snapshot.warnings
        return result


def budget_in_force(settings: Settings, used: Sequence[Policy]) -> int:
    """How many moves a scope may plan, less those under way.

    :param used: the policies in use
    """
    return settings.max_migrations or max(
        policy.max_migrations_per_cycle for policy in used
    )


def under_way(snapshot: Snapshot, settings: Settings) -> set[str]:
    """The instances that are on their way from or to hosts of a scope.

    And those that only an extension knows of.
    """
    hosts, now = snapshot.hosts, snapshot.taken_at
    return settings.extension.under_way(snapshot, settings) | {
        event.instance
        for event in snapshot.events
        if event.outcome in (Outcome.PLANNED, Outcome.UNDER_WAY)
        and not event.is_resize
        and not stuck_migrations.is_stuck(event, settings, now)
        and (event.source in hosts or event.destination in hosts)
    }
