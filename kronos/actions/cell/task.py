# SPDX-License-Identifier: Apache-2.0
"""The task of a move to another cell: which server goes where, and how."""

from dataclasses import dataclass, field
from typing import Any, Self

from kronos.actions.core.task import MigrationTask

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
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        told = parameters
        return cls(
            instance=told['resource_id'],
            source=told['source_node'],
            destination=told['destination_node'],
            phase=told['phase'],
            aggregate=told['aggregate'],
            name=told.get('resource_name', ''),
            source_cell=told['source_cell'],
            destination_cell=told['destination_cell'],
            target_cells=list(told.get('target_cells') or []),
            source_flavor=told['source_flavor'],
            destination_flavor=told['destination_flavor'],
            destination_flavor_id=told.get('destination_flavor_id', ''),
            source_zone=told.get('source_zone', ''),
            destination_zone=told.get('destination_zone', ''),
            unpins=told.get('unpin_zone', False),
            confirm=told.get('confirm', 'auto'),
            mode=told['mode'],
            finishes=told.get('finishes', ''),
        )
