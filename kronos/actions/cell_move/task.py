# SPDX-License-Identifier: Apache-2.0
"""A cell move's task: which server is to go to which other cell, and how."""

from dataclasses import dataclass, field
from typing import Any, Self

RESIZE = 'resize'
"""The mode in which the server gets another flavor, and Nova chooses the host;
in the other one, ``migrate``, it keeps its flavor."""


@dataclass
class CellMoveTask:
    """One planned move to another cell, as the action's parameters have it."""

    instance: str
    name: str
    source: str
    destination: str
    """Of a resize it is a forecast."""
    source_cell: str
    destination_cell: str
    source_flavor: str
    destination_flavor: str
    target_cells: list[str] = field(default_factory=list)
    destination_flavor_id: str = ''
    """Of the flavor that a resize gives it."""
    source_zone: str = ''
    destination_zone: str = ''
    unpins: bool = False
    """Whether it is pinned to its zone, and is unpinned for the move."""
    confirm: str = 'auto'
    aggregate: str = ''
    phase: str = 'cell_drain'
    mode: str = 'migrate'
    finishes: str = ''
    """Uuid of the action whose move this one ends, after its applier died."""

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

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        """:param parameters: of the action, as its schema has them"""
        return cls(
            instance=parameters['resource_id'],
            name=parameters.get('resource_name', ''),
            source=parameters['source_node'],
            destination=parameters['destination_node'],
            source_cell=parameters['source_cell'],
            destination_cell=parameters['destination_cell'],
            source_flavor=parameters['source_flavor'],
            destination_flavor=parameters['destination_flavor'],
            target_cells=list(parameters.get('target_cells') or []),
            destination_flavor_id=parameters.get('destination_flavor_id', ''),
            source_zone=parameters.get('source_zone', ''),
            destination_zone=parameters.get('destination_zone', ''),
            unpins=parameters.get('unpin_zone', False),
            confirm=parameters.get('confirm', 'auto'),
            aggregate=parameters['aggregate'],
            phase=parameters.get('phase', 'cell_drain'),
            mode=parameters['mode'],
            finishes=parameters.get('finishes', ''),
        )
