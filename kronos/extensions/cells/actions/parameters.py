# SPDX-License-Identifier: Apache-2.0
"""The action's parameters and options, as settings of one cell move."""

from dataclasses import dataclass, field, fields
from typing import Any

from kronos.actions.core import parameters as of_moves
from kronos.actions.core import slots
from kronos.actions.core.parameters import (
    MigrationTask,
    MoveSettings,
    MoveTiming,
)
from kronos.extensions.cells.options import CellOptions
from kronos.options import choices, row
from kronos.snapshots.cells import CellSource

RESIZE = 'resize'
"""The mode in which the server gets another flavor, and Nova chooses the host;
in the other one, ``migrate``, it keeps its flavor."""


@dataclass
class CellMoveTask(MigrationTask):
    """One planned move, as the action's parameters have it."""

    source_cell: str = ''
    destination_cell: str = ''
    target_cells: list[str] = field(default_factory=list)
    source_flavor: str = ''
    destination_flavor: str = ''
    destination_flavor_id: str = ''
    """Of a flavor that is another one."""
    source_zone: str = ''
    destination_zone: str = ''
    unpins: bool = False
    """Whether the server is pinned to its zone, and is unpinned for it."""
    confirm: str = 'auto'
    mode: str = 'migrate'
    finishes: str = ''
    """Uuid of the action that began it, and whose applier died; '': none."""

    @property
    def is_resize(self) -> bool:
        """Whether Nova chooses the host: the planned one is a forecast."""
        return self.mode == RESIZE

    @property
    def cells(self) -> set[str]:
        """The cells in which it may arrive."""
        if self.is_resize:
            return {self.destination_cell, *self.target_cells}
        return {self.destination_cell}

    @property
    def is_manual(self) -> bool:
        """Whether an operator confirms it."""
        return self.confirm == 'manual'

    @classmethod
    def _fields(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        # What every move has goes by other names in the parameters.
        shared = {field.name for field in fields(MigrationTask)}
        own = {field.name for field in fields(cls)} - shared
        return {
            **super()._fields(parameters),
            **{name: parameters[name] for name in own & parameters.keys()},
            'unpins': parameters.get('unpin_zone', False),
        }


@dataclass
class CellMoveTiming(MoveTiming):
    """Limits, in seconds."""

    move_timeout: float = 7200.0
    confirm_timeout: float = 600.0
    revert_timeout: float = 3600.0
    agree_seconds: float = 5.0
    """For so long a migration that ended badly is looked at once more."""


@dataclass
class CellMoveSettings(MoveSettings):
    """What is to be moved, and within which limits."""

    task: CellMoveTask
    timing: CellMoveTiming = field(default_factory=CellMoveTiming)
    max_out_of_cell: int = 2
    """Moves under way at a time."""
    stuck_seconds: float = 86400.0
    recovers: bool = True
    """Whether broken ends are mended."""
    verify_query: str = ''
    verify_seconds: float = 30.0
    options: CellOptions = field(default_factory=CellOptions)
    allowed_extra_specs: list[str] = field(default_factory=list)
    cell_source: CellSource = CellSource.METADATA
    hypervisor_types: list[str] = field(
        default_factory=lambda: [*choices.HYPERVISOR_TYPES]
    )
    """Of hosts that count."""


def settings_of(parameters: dict[str, Any], kronos: Any) -> CellMoveSettings:
    """The settings of one action.

    :param parameters: the action's input parameters
    :param kronos: the group ``[kronos]``
    :raises PreFlightError: ``not_before`` is no time
    """
    return CellMoveSettings(
        **of_moves.shared(parameters, kronos),
        task=CellMoveTask.from_parameters(parameters),
        timing=CellMoveTiming(
            # Those before it may take as long as this one may.
            queue_timeout=max(kronos.queue_timeout, kronos.cell_move_timeout),
            poll_interval=kronos.migration_poll_interval,
            move_timeout=kronos.cell_move_timeout,
            confirm_timeout=kronos.confirm_timeout,
            revert_timeout=kronos.revert_timeout,
        ),
        max_out_of_cell=kronos.max_concurrent_cell_moves,
        stuck_seconds=kronos.stuck_after,
        recovers=kronos.cell_recover,
        verify_query=kronos.cell_verify_query,
        verify_seconds=kronos.cell_verify_seconds,
        options=CellOptions(**row.values(CellOptions, kronos)),
        allowed_extra_specs=list(kronos.allowed_extra_specs),
        cell_source=CellSource(kronos.cell_source),
        hypervisor_types=list(kronos.hypervisor_types),
    )


def slots_of(
    parameters: dict[str, Any], settings: CellMoveSettings
) -> slots.Slots:
    """The turn of an action, which Watcher's database keeps."""
    timing = settings.timing
    return slots.Slots(
        parameters.get('action_uuid', ''),
        max_age=timing.queue_timeout
        + timing.move_timeout
        + timing.confirm_timeout
        + timing.revert_timeout
        + 2 * timing.settle_timeout,
    )
