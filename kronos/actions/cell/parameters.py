# SPDX-License-Identifier: Apache-2.0
"""The action's parameters and options, as settings of one cell move."""

from dataclasses import dataclass, field
from typing import Any

from kronos.actions.cell.task import CellMoveTask
from kronos.actions.core.turn import slots
from kronos.actions.live import parameters as of_migration
from kronos.snapshots.cells import CellSource


@dataclass
class Timing:
    """Limits, in seconds."""

    queue_timeout: float = 1800.0
    poll_interval: float = 5.0
    move_timeout: float = 7200.0
    confirm_timeout: float = 600.0
    revert_timeout: float = 3600.0
    settle_timeout: float = 120.0
    """For what Nova shows of server and migration to agree."""
    agree_seconds: float = 5.0
    """For so long a migration that ended badly is looked at once more."""


@dataclass
class Limits:
    """Moves under way at a time."""

    out_of_cell: int = 2
    stuck_seconds: float = 86400.0


@dataclass
class CellMoveSettings:
    """What is to be moved, and within which limits."""

    task: CellMoveTask
    timing: Timing = field(default_factory=Timing)
    limits: Limits = field(default_factory=Limits)
    not_before: float = 0.0
    """Unix seconds."""
    recovers: bool = True
    """Whether broken ends are mended."""
    preflight_wait: float = 60.0
    """Seconds for what stands in the way to go away by itself."""
    max_retries: int = 3
    retry_backoff: float = 30.0
    verify_query: str = ''
    verify_seconds: float = 30.0
    is_lossy: bool = False
    allowed_extra_specs: list[str] = field(default_factory=list)
    long_rpc_timeout: float = 1800.0
    snapshot_mb_per_second: float = 100.0
    cell_source: CellSource = CellSource.METADATA
    hypervisor_types: list[str] = field(
        default_factory=lambda: ['QEMU', 'KVM']
    )
    """Of hosts that count."""
    require_headroom: bool = True
    resources: list[str] = field(default_factory=lambda: ['VCPU', 'MEMORY_MB'])
    """The classes that are looked at in Placement."""


def settings_of(told: dict[str, Any], kronos: Any) -> CellMoveSettings:
    """The settings of one action.

    :param told: the action's input parameters
    :param kronos: the group ``[kronos]``
    :raises PreFlightError: ``not_before`` is no time
    """
    resources = ['VCPU', 'MEMORY_MB']
    if kronos.check_disk:
        resources.append('DISK_GB')
    return CellMoveSettings(
        task=CellMoveTask.from_parameters(told),
        timing=Timing(
            # Those before it may take as long as this one may.
            queue_timeout=max(kronos.queue_timeout, kronos.cell_move_timeout),
            poll_interval=kronos.migration_poll_interval,
            move_timeout=kronos.cell_move_timeout,
            confirm_timeout=kronos.confirm_timeout,
            revert_timeout=kronos.revert_timeout,
        ),
        limits=Limits(
            out_of_cell=kronos.max_concurrent_cell_moves,
            stuck_seconds=kronos.stuck_after,
        ),
        not_before=of_migration.unix_seconds(told.get('not_before', '')),
        recovers=kronos.cell_recover,
        preflight_wait=kronos.preflight_wait,
        max_retries=kronos.max_retries,
        retry_backoff=kronos.retry_backoff,
        verify_query=kronos.cell_verify_query,
        verify_seconds=kronos.cell_verify_seconds,
        is_lossy=kronos.cell_move_lossy,
        allowed_extra_specs=list(kronos.allowed_extra_specs),
        long_rpc_timeout=kronos.long_rpc_timeout,
        snapshot_mb_per_second=kronos.snapshot_mb_per_second,
        cell_source=CellSource(kronos.cell_source),
        hypervisor_types=list(kronos.hypervisor_types),
        require_headroom=kronos.require_headroom,
        resources=resources,
    )


def slots_of(told: dict[str, Any], settings: CellMoveSettings) -> slots.Slots:
    """The turn of an action, which Watcher's database keeps."""
    timing = settings.timing
    return slots.Slots(
        told.get('action_uuid', ''),
        max_age=timing.queue_timeout
        + timing.move_timeout
        + timing.confirm_timeout
        + timing.revert_timeout
        + 2 * timing.settle_timeout,
    )
