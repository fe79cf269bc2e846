# SPDX-License-Identifier: Apache-2.0
"""The context of a move to another cell: whom it asks and tells."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kronos.actions.cell.checkpoint import Mark, PlanStanding
from kronos.actions.cell.journal import Evidence
from kronos.actions.cell.parameters import CellMoveSettings
from kronos.actions.core import destination, notifications
from kronos.actions.core.turn import slots
from kronos.actions.live.context import Patience
from kronos.clients import glance, placement
from kronos.clients.nova.cell_listings import CellListings
from kronos.clients.nova.cell_migration import CellMigration
from kronos.clients.nova.client import NovaClient
from kronos.clients.nova.server_details import ServerDetails
from kronos.clients.prometheus.client import PrometheusClient
from kronos.snapshots import cell_needs


@dataclass(kw_only=True)
class CellMoveContext(Patience):
    """Besides how time passes: the services, the turn, the plan."""

    nova: NovaClient
    cell_migration: CellMigration
    details: ServerDetails
    listings: CellListings
    placement: placement.PlacementClient
    glance: glance.GlanceClient
    prometheus: Callable[[], PrometheusClient]
    slots: slots.Slots
    plan: Callable[[], PlanStanding]
    """What has become of the plan's other moves."""
    notices: notifications.Notices
    keep: Callable[[dict[str, Any]], object] = lambda document: None
    """Keeps the evidence."""
    exclusions: destination.Exclusions | None = None
    sources: cell_needs.Sources = field(default_factory=cell_needs.Sources)
    """What is asked beside Nova."""


@dataclass(frozen=True)
class BegunMove:
    """A move for which Nova was asked, and what is kept of it."""

    settings: CellMoveSettings
    context: CellMoveContext
    mark: Mark
    evidence: Evidence
