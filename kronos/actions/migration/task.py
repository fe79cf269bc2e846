# SPDX-License-Identifier: Apache-2.0
"""The settings of a move, and its context: whom it asks, how it waits."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from kronos.actions.migration import (
    concurrency,
    notifications,
    preflight,
    slots,
    verification,
)
from kronos.clients import placement
from kronos.clients.nova.client import NovaClient
from kronos.clients.nova.live_migration import LiveMigration
from kronos.engine import faults
from kronos.engine.faults import Fault


@dataclass
class MigrationSettings:
    """What is to be moved, and within which limits."""

    task: preflight.MigrationTask
    timing: verification.Timing = field(default_factory=verification.Timing)
    limits: concurrency.Limits = field(default_factory=concurrency.Limits)
    not_before: float = 0.0
    """Unix seconds."""
    preflight_wait: float = 60.0
    """Seconds for what stands in the way to go away by itself."""
    max_retries: int = 3
    retry_backoff: float = 30.0
    """Seconds before the first further try; then doubled."""
    soft_rules_bind: bool = True
    require_headroom: bool = True
    resources: list[str] = field(default_factory=lambda: ['VCPU', 'MEMORY_MB'])
    """The classes that are looked at in Placement."""


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
