# SPDX-License-Identifier: Apache-2.0
"""What should be moved, in every scope? The one entry of the engine.

It decides and changes nothing: its snapshots are left as they are.
"""

import math
from collections.abc import Sequence

import numpy as np

from kronos.engine import (
    constraints,
    cooldown,
    explain,
    layout,
    profiling,
    scoring,
)
from kronos.engine.carry import Carried, Carry
from kronos.engine.profiling import Profiles
from kronos.engine.settings import Settings
from kronos.engine.spread import Made, Spread
from kronos.engine.state import State
from kronos.engine.types import (
    AggregateResult,
    CycleReport,
    MigrationPhase,
    MigrationStep,
    Snapshot,
    StopReason,
)
from kronos.policies.models import Mode, Policy


def propose(
    snapshots: Sequence[Snapshot],
    policies: Sequence[Policy],
    settings: Settings,
) -> CycleReport:
    """Plan every scope, one after the other, in the order given.

    Per scope (A14): score, cooldown, profile, plan. A scope is planned if a
    policy is over its threshold (G8) or ``settings.exhaust`` is set; it has
    a budget of its own (H10), shared by its phases. A host that is in
    several scopes is found by the later one as the earlier one leaves it,
    and no instance is planned in two (A10).

    :param snapshots: one per scope, of one moment
    :param policies: of mode spread; those not enabled are ignored
    :returns: the steps in an order in which each is legal, and for every
        scope why it ended and for every instance that cannot move why
    :raises ValueError: if an enabled policy has another mode, or
        ``settings.max_migrations`` is less than 1
    """
    enabled = [policy for policy in policies if policy.enabled]
    for policy in enabled:
        if policy.mode is not Mode.SPREAD:
            raise ValueError(
                f'policy {policy.name} has mode {policy.mode.value}: only '
                'mode spread can be planned'
            )
    if settings.max_migrations is not None and settings.max_migrations < 1:
        raise ValueError(
            f'max_migrations is {settings.max_migrations}: it must be at '
            'least 1'
        )
    carry = Carry()
    return CycleReport(
        [_Scope(one, enabled, settings, carry).plan() for one in snapshots]
    )


def _budget(policies: Sequence[Policy], settings: Settings) -> int:
    """How many moves a scope may plan (H10).

    :param policies: those in use, at least one
    """
    if settings.max_migrations is not None:
        return settings.max_migrations
    return max(policy.max_migrations_per_cycle for policy in policies)


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
        self._profiles = Profiles()

    def plan(self) -> AggregateResult:
        card = self._card
        if card.blocked is not None:
            return self._result(card.blocked, card.reason)
        if reason := cooldown.standstill(self._snapshot, self._settings):
            return self._result(StopReason.COOLDOWN, reason)
        self._profiles = profiling.profile(
            self._snapshot, self._used, card, self._settings
        )
        card.warnings += self._profiles.warnings
        planned = self._carry.planned()
        snapshot = self._carry.apply(self._snapshot, card, self._profiles)
        fixed = explain.fixed_instances(
            snapshot,
            card.frozen_hosts,
            self._profiles,
            planned,
            self._settings,
        )
        return self._spread(snapshot, fixed)

    def _spread(
        self, snapshot: Snapshot, fixed: dict[str, str]
    ) -> AggregateResult:
        now = layout.build(snapshot, self._card, self._profiles)
        rules = constraints.build(
            snapshot, now, self._card.frozen_hosts, self._settings
        )
        movable = np.array(
            [uuid not in fixed for uuid in now.index.instances], dtype=bool
        )
        over_before = now.hosts_over()
        search = Spread(
            now,
            rules,
            movable,
            _budget(self._used, self._settings),
            self._settings,
        )
        stopped = search.run()
        result = self._result(
            stopped,
            explain.why_stopped(
                stopped, now, len(search.made), self._settings
            ),
        )
        result.steps = [self._step(made, now) for made in search.made]
        result.combined_after = now.combined()
        result.hosts_over_before = over_before
        result.hosts_over_after = now.hosts_over()
        result.unmovable = fixed
        if stopped is StopReason.STUCK:
            result.unmovable |= explain.stuck_instances(now, rules, movable)
        after = dict(zip(now.policies, now.imbalances.tolist(), strict=True))
        for policy in result.policies:
            policy.imbalance_after = after.get(policy.name, 0.0)
        self._hand_on(result.steps)
        return result

    def _result(self, stopped: StopReason, reason: str) -> AggregateResult:
        """The result of a scope in which nothing is moved."""
        snapshot, card = self._snapshot, self._card
        combined = math.fsum(
            one.weight * one.imbalance_before for one in card.results
        )
        return AggregateResult(
            name=snapshot.scope,
            stopped=stopped,
            reason=reason,
            policies=card.results,
            combined_before=combined,
            combined_after=combined,
            availability_zones={
                host: constraints.zone_of(snapshot, host)
                for host in sorted(snapshot.hosts)
            },
            unavailable_hosts=card.frozen_hosts,
            warnings=card.warnings,
        )

    def _step(self, made: Made, now: State) -> MigrationStep:
        undo = made.undo
        uuid = now.index.instances[undo.instance]
        instance = self._snapshot.instances[uuid]
        before, after = (
            dict(zip(now.policies, one.tolist(), strict=True))
            for one in (made.before, made.after)
        )
        return MigrationStep(
            scope=self._snapshot.scope,
            phase=MigrationPhase.SPREAD,
            instance=uuid,
            instance_name=instance.name,
            source=now.index.hosts[undo.source],
            destination=now.index.hosts[undo.destination],
            memory_mb=instance.memory_mb,
            imbalance_before=before,
            imbalance_after=after,
            combined_before=math.fsum(now.weights * made.before),
            combined_after=math.fsum(now.weights * made.after),
            requires=(
                ''
                if made.requires is None
                else now.index.instances[made.requires]
            ),
        )

    def _hand_on(self, steps: list[MigrationStep]) -> None:
        for step in steps:
            self._carry.moves.append(
                Carried(
                    self._snapshot.scope,
                    self._snapshot.instances[step.instance],
                    step.source,
                    step.destination,
                    self._profiles.profiles[step.instance].usage,
                )
            )
