# SPDX-License-Identifier: Apache-2.0
"""The context of a move: whom it asks and tells, and how it waits."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from kronos.actions.core import destination, notifications
from kronos.actions.core.turn import slots
from kronos.actions.live import recovery
from kronos.clients import placement
from kronos.clients.nova.client import NovaClient
from kronos.clients.nova.live_migration import LiveMigration
from kronos.engine import faults
from kronos.engine.faults import Fault


@dataclass
class Patience:
    """How time passes for a move, and what it does while it waits."""

    is_cancelled: Callable[[], bool]
    """Whether the plan was cancelled; asked all the time."""
    tell: Callable[[str], object]
    """Shows why the move waits; '' when it does no more."""
    clock: Callable[[], float] = time.monotonic
    """Seconds that only grow."""
    wall: Callable[[], float] = time.time
    """Unix seconds."""
    sleep: Callable[[float], object] = time.sleep
    """Waits so many seconds, or less when it is to end early."""

    def stop_if_cancelled(self) -> None:
        """:raises MigrationCancelled: the plan was cancelled"""
        if self.is_cancelled():
            raise faults.error(Fault.PLAN_CANCELLED, 'its plan was cancelled')


@dataclass(kw_only=True)
class MigrationContext(Patience):
    """Besides, whom a move asks and tells."""

    nova: NovaClient
    live_migration: LiveMigration
    placement: placement.PlacementClient
    slots: slots.Slots
    notices: notifications.Notices
    guest_states: recovery.States = lambda uuid: {}
    exclusions: destination.Exclusions | None = None
