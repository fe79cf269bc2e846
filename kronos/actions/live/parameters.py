# SPDX-License-Identifier: Apache-2.0
"""The action's parameters and options, as settings of one migration."""

import datetime
from dataclasses import dataclass, field
from typing import Any

from kronos.actions.core import notifications
from kronos.actions.core.task import MigrationTask
from kronos.actions.core.turn import concurrency, slots
from kronos.actions.live import verification
from kronos.actions.live.force_complete import AtStall
from kronos.engine import faults, phase_rules, types
from kronos.engine.faults import Fault
from kronos.engine.phase_rules import SoftGroups
from kronos.engine.settings import SoftRules
from kronos.policies.models import Mode


@dataclass
class MigrationSettings:
    """What is to be moved, and within which limits."""

    task: MigrationTask
    timing: verification.Timing = field(default_factory=verification.Timing)
    limits: concurrency.Limits = field(default_factory=concurrency.Limits)
    not_before: float = 0.0
    """Unix seconds."""
    at_stall: AtStall = AtStall.ABORT
    max_pause_seconds: float = 5.0
    recover_rows: bool = False
    preflight_wait: float = 60.0
    """Seconds for what stands in the way to go away by itself."""
    max_retries: int = 3
    retry_backoff: float = 30.0
    """Seconds before the first further try; then doubled."""
    soft_rules_bind: bool = True
    require_headroom: bool = True
    resources: list[str] = field(default_factory=lambda: ['VCPU', 'MEMORY_MB'])
    """The classes that are looked at in Placement."""


def settings_of(told: dict[str, Any], kronos: Any) -> MigrationSettings:
    """The settings of one action.

    :param told: the action's input parameters
    :param kronos: the group ``[kronos]``
    :raises PreFlightError: ``not_before`` is no time
    """
    task = MigrationTask.from_parameters(told)
    resources = ['VCPU', 'MEMORY_MB']
    if kronos.check_disk:
        resources.append('DISK_GB')
    return MigrationSettings(
        task=task,
        timing=verification.Timing(
            queue_timeout=kronos.queue_timeout,
            migration_timeout=kronos.migration_timeout,
            migration_timeout_per_gib=kronos.migration_timeout_per_gib,
            stall_timeout=kronos.stall_timeout,
            stall_passes=kronos.stall_passes,
            poll_interval=kronos.migration_poll_interval,
        ),
        limits=concurrency.Limits(
            in_scope=kronos.max_concurrent_migrations,
            stuck_seconds=kronos.stuck_after,
            stagger_seconds=kronos.stagger_seconds,
            yield_seconds=2 * kronos.migration_poll_interval,
        ),
        not_before=unix_seconds(told.get('not_before', '')),
        at_stall=AtStall(kronos.at_stall),
        max_pause_seconds=kronos.max_pause_seconds,
        recover_rows=kronos.recover_rows,
        preflight_wait=kronos.preflight_wait,
        max_retries=kronos.max_retries,
        retry_backoff=kronos.retry_backoff,
        soft_rules_bind=_bind(task.phase, kronos),
        require_headroom=kronos.require_headroom,
        resources=resources,
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


def unix_seconds(moment: str) -> float:
    """Unix seconds of a time in ISO 8601; in UTC if it names no zone."""
    if not moment:
        return 0.0
    try:
        found = datetime.datetime.fromisoformat(moment)
    except ValueError as error:
        raise faults.error(
            Fault.BAD_PARAMETERS,
            f'its parameter not_before is no time: "{moment}"',
        ) from error
    if found.tzinfo is None:
        found = found.replace(tzinfo=datetime.UTC)
    return found.timestamp()


def slots_of(told: dict[str, Any], settings: MigrationSettings) -> slots.Slots:
    """The turn of an action, which Watcher's database keeps."""
    timing = settings.timing
    return slots.Slots(
        told.get('action_uuid', ''),
        recent=settings.limits.stagger_seconds,
        # A move may be in Nova's queue, then under way, then be aborted.
        max_age=timing.queue_timeout
        + 2 * timing.migration_timeout
        + 2 * timing.settle_timeout,
    )


def facts(told: dict[str, Any]) -> notifications.Facts:
    """What every notice of an action tells."""
    return notifications.Facts(
        instance_uuid=told['resource_id'],
        instance_name=told.get('resource_name', ''),
        scope=told['aggregate'],
        phase=told['phase'],
        source=told['source_node'],
        destination=told['destination_node'],
        action_uuid=told.get('action_uuid', ''),
        action_plan_uuid=told.get('action_plan_uuid', ''),
        audit_uuid=told.get('audit_uuid', ''),
    )
