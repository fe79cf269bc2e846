# SPDX-License-Identifier: Apache-2.0
"""What should be moved, in every scope? The one entry of the engine.

It decides and changes nothing: its snapshots are left as they are.
"""

from collections.abc import Sequence

from kronos.engine import (
    cooldown,
    explain,
    outcome,
    profiling,
    scoring,
)
from kronos.engine.carry import Carried, Carry
from kronos.engine.draft import Draft
from kronos.engine.events import Outcome
from kronos.engine.phases import Phases
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    CycleReport,
    MigrationStep,
    Snapshot,
    Stage,
    StopReason,
)
from kronos.policies.models import Policy


def propose(
    snapshots: Sequence[Snapshot],
    policies: Sequence[Policy],
    settings: Settings,
) -> CycleReport:
    """Plan every scope, one after the other, in the order given.

    Per scope (A14): score, cooldown, profile, leave out what is not
    available; then the phases: evacuation, repair of server groups, and
    spread or pack by the mode of the policies. They share a budget (H10),
    and each starts from what the one before left. A host that is in several
    scopes is found by the later one as the earlier one leaves it, and no
    instance is planned in two (A10).

    :param snapshots: one per scope, of one moment
    :param policies: of one mode; those not enabled are ignored
    :returns: the steps in an order in which each is legal, for every scope
        why it ended, and for every instance that does not move why
    :raises ValueError: if the enabled policies are of two modes,
        ``settings.max_migrations`` is less than 1, or the settings ask for
        no phase
    """
    enabled = [policy for policy in policies if policy.enabled]
    if len({policy.mode for policy in enabled}) > 1:
        raise ValueError('all enabled policies must have one mode')
    if settings.max_migrations is not None and settings.max_migrations < 1:
        raise ValueError(
            f'max_migrations is {settings.max_migrations}: it must be at '
            'least 1'
        )
    if not (settings.evacuate or settings.enforces or settings.rebalance):
        raise ValueError('the settings ask for no phase')
    carry = Carry()
    return CycleReport(
        [_Scope(one, enabled, settings, carry).plan() for one in snapshots]
    )


class _Scope:
    """The planning of one scope."""

    def __init__(
        self,
        snapshot: Snapshot,
        policies: Sequence[Policy],
        settings: Settings,
        carry: Carry,
    ) -> None:
        self._snapshot = snapshot
        self._settings = settings
        self._carry = carry
        self._card = scoring.score(snapshot, policies, settings)
        self._used = [one for one in policies if one.name in self._card.values]
        self._stages = [
            Stage('services', len(snapshot.services or {})),
            Stage('score', len(set().union(*self._card.values.values()))),
        ]

    def plan(self) -> AggregateResult:
        card, snapshot = self._card, self._snapshot
        if card.blocked is not None:
            return self._nothing(card.blocked, card.reason)
        memory = cooldown.remember(snapshot, self._settings)
        self._stages.append(Stage('cooldown', 0, memory.standstill))
        if memory.standstill:
            return self._nothing(StopReason.COOLDOWN, memory.standstill)
        profiles = profiling.profile(
            snapshot, self._used, card, self._settings
        )
        self._stages.append(Stage('profile', len(profiles.profiles)))
        card.warnings += profiles.warnings + memory.notes
        unavailable = memory.unavailable | self._carry.planned()
        self._carry.shift(snapshot, card, profiles)
        now = self._carry.place(snapshot)
        fixed = self._fixed(now, profiles, unavailable)
        phases = Phases(
            now, card, profiles, self._used, memory, fixed, self._settings
        )
        draft = phases.run(self._budget())
        result = self._result(phases, draft, fixed)
        self._hand_on(result.steps, profiles)
        return result

    def _budget(self) -> int | None:
        """How many moves the scope may plan (H10); None: any number.

        What is under way at its hosts already, of other plans or by hand,
        counts: several audits may plan one scope.
        """
        settings = self._settings
        if settings.max_migrations is None and settings.unlimited:
            return None
        budget = settings.max_migrations or max(
            policy.max_migrations_per_cycle for policy in self._used
        )
        hosts = self._snapshot.hosts
        busy = {
            event.instance
            for event in self._snapshot.events
            if event.outcome in (Outcome.PLANNED, Outcome.UNDER_WAY)
            and (event.source in hosts or event.destination in hosts)
        }
        if busy:
            self._card.warnings.append(
                f'the budget of {budget} is less by {len(busy)}: so many '
                'instances are on their way from or to its hosts'
            )
        return max(0, budget - len(busy))

    def _fixed(
        self,
        now: Snapshot,
        profiles: profiling.Profiles,
        unavailable: dict[str, str],
    ) -> dict[str, str]:
        """Instance uuid to the reason why no phase may move it."""
        card = self._card
        frozen = {
            host: reason
            for host, reason in card.frozen_hosts.items()
            if host not in card.draining
        }
        everyone = now.instances.values()
        self._stages += [
            Stage('down', sum(one.host in frozen for one in everyone)),
            Stage('unavailable', sum(u in now.instances for u in unavailable)),
        ]
        return explain.fixed_instances(
            now, frozen, profiles, unavailable, self._settings
        )

    def _nothing(self, stopped: StopReason, reason: str) -> AggregateResult:
        now = self._carry.place(self._snapshot)
        result = outcome.standing(
            now, self._card, stopped, reason, self._settings
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
        self, phases: Phases, draft: Draft, fixed: dict[str, str]
    ) -> AggregateResult:
        result = outcome.planned(phases, draft, fixed)
        result.stages = self._stages + phases.stages
        result.warnings += self._snapshot.warnings
        return result

    def _hand_on(
        self, steps: list[MigrationStep], profiles: profiling.Profiles
    ) -> None:
        for step in steps:
            self._carry.moves.append(
                Carried(
                    self._snapshot.scope,
                    self._snapshot.instances[step.instance],
                    step.source,
                    step.destination,
                    profiles.profiles[step.instance].usage,
                )
            )
