# SPDX-License-Identifier: Apache-2.0
"""The context of a move to another cell: whom it asks and tells."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from oslo_log import log as logging

from kronos.actions.core.context import MoveContext
from kronos.clients import glance
from kronos.clients.nova.cell_listings import CellListings
from kronos.clients.nova.cell_migration import CellMigration
from kronos.clients.nova.server_details import ServerDetails
from kronos.clients.prometheus.client import PrometheusClient
from kronos.common import exceptions
from kronos.extensions.cells.actions.checkpoint import Checkpoint, PlanStanding
from kronos.extensions.cells.actions.journal import Journal
from kronos.extensions.cells.actions.parameters import CellMoveSettings
from kronos.extensions.cells.cell_drain import CELL_MARK
from kronos.extensions.cells.readings import cell_needs

LOG = logging.getLogger(__name__)


@dataclass(kw_only=True)
class CellMoveContext(MoveContext):
    """Besides what every kind of move needs, what one to a cell does."""

    cell_migration: CellMigration
    details: ServerDetails
    listings: CellListings
    glance: glance.GlanceClient
    prometheus: Callable[[], PrometheusClient]
    plan: Callable[[], PlanStanding]
    """What has become of the plan's other moves."""
    keep: Callable[[dict[str, Any]], object] = lambda document: None
    """Keeps the journal."""
    sources: cell_needs.Sources = field(default_factory=cell_needs.Sources)
    """What is asked beside Nova."""

    def mark(self, checkpoint: Checkpoint, must_go_on: bool = False) -> None:
        """Write a checkpoint; a database that is away may only be logged.

        :raises TurnUnknown: only if it ``must_go_on``
        """
        try:
            self.slots.mark(CELL_MARK, checkpoint.document(), must_go_on)
        except exceptions.KronosException as error:
            if must_go_on:
                raise
            LOG.warning(
                'Instance %s: not marked: %s', checkpoint.server, error
            )


@dataclass(frozen=True)
class StartedMove:
    """A move for which Nova was asked, and what is kept of it."""

    settings: CellMoveSettings
    context: CellMoveContext
    checkpoint: Checkpoint
    journal: Journal


class MovePart:
    """What looks at a move that was begun, or ends it."""

    def __init__(self, begun: StartedMove) -> None:
        self._settings = begun.settings
        self._task = begun.settings.task
        self._context = begun.context
        self._checkpoint = begun.checkpoint
        self._journal = begun.journal
