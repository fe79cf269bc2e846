# SPDX-License-Identifier: Apache-2.0
"""The action's parameters and options, as settings of one migration."""

from dataclasses import dataclass, field
from typing import Any

from kronos.actions.core import parameters as of_moves
from kronos.actions.core import slots
from kronos.actions.core.concurrency import ConcurrencyLimits
from kronos.actions.core.parameters import (
    MigrationTask,
    MoveSettings,
    MoveTiming,
)
from kronos.actions.live.force_complete import AtStall
from kronos.engine import phase_rules, types
from kronos.engine.phase_rules import SoftGroups
from kronos.engine.settings import SoftRules
from kronos.policies.models import Mode


@dataclass
class MigrationTiming(MoveTiming):
    """Limits, in seconds."""

    migration_timeout: float = 600.0
    stall_timeout: float = 300.0
    """0: a migration may stand still."""
    stall_passes: int = 3
    """0: its passes may be in vain."""
    migration_timeout_per_gib: float = 16.0
    """0: the size of a migration does not matter."""

    def limit(self, gib: float) -> float:
        """Seconds from leaving the queue that a migration may take.

        :param gib: that are to be sent at least
        """
        by_size = self.migration_timeout_per_gib * gib
        return max(self.migration_timeout, by_size)


@dataclass
class MigrationSettings(MoveSettings):
    """What is to be moved, and within which limits."""

    timing: MigrationTiming = field(default_factory=MigrationTiming)
    limits: ConcurrencyLimits = field(default_factory=ConcurrencyLimits)
    at_stall: AtStall = AtStall.ABORT
    max_pause_seconds: float = 5.0
    recover_rows: bool = False
    soft_rules_bind: bool = True


def settings_of(parameters: dict[str, Any], kronos: Any) -> MigrationSettings:
    """The settings of one action.

    :param parameters: the action's input parameters
    :param kronos: the group ``[kronos]``
    :raises PreFlightError: ``not_before`` is no time
    """
    task = MigrationTask.from_parameters(parameters)
    return MigrationSettings(
        **of_moves.shared(parameters, kronos),
        task=task,
        timing=MigrationTiming(
            queue_timeout=kronos.queue_timeout,
            migration_timeout=kronos.migration_timeout,
            migration_timeout_per_gib=kronos.migration_timeout_per_gib,
            stall_timeout=kronos.stall_timeout,
            stall_passes=kronos.stall_passes,
            poll_interval=kronos.migration_poll_interval,
        ),
        limits=ConcurrencyLimits(
            in_scope=kronos.max_concurrent_migrations,
            stuck_seconds=kronos.stuck_after,
            stagger_seconds=kronos.stagger_seconds,
            yield_seconds=2 * kronos.migration_poll_interval,
        ),
        at_stall=AtStall(kronos.at_stall),
        max_pause_seconds=kronos.max_pause_seconds,
        recover_rows=kronos.recover_rows,
        soft_rules_bind=_bind(task.phase, kronos),
    )


def _bind(phase: str, kronos: Any) -> bool:
    """Whether no plan of that phase breaks a soft rule knowingly.

    The action does not know the mode of the policies: that of the two is
    taken in which a plan may.
    """
    if phase not in list(types.MigrationPhase):
        return True
    meaning = phase_rules.soft_groups(
        types.MigrationPhase(phase),
        Mode.SPREAD,
        SoftRules(kronos.soft_rules),
        kronos.enforce_soft_affinity,
    )
    return meaning is SoftGroups.VETO


def slots_of(
    parameters: dict[str, Any], settings: MigrationSettings
) -> slots.Slots:
    """The turn of an action, which Watcher's database keeps."""
    timing = settings.timing
    return slots.Slots(
        parameters.get('action_uuid', ''),
        recent=settings.limits.stagger_seconds,
        # A move may be in Nova's queue, then under way, then be aborted.
        max_age=timing.queue_timeout
        + 2 * timing.migration_timeout
        + 2 * timing.settle_timeout,
    )
