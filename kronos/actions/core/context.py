# SPDX-License-Identifier: Apache-2.0
"""The context of an action: how time passes, the services, its turn."""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from kronos.actions.core import notifications, slots
from kronos.clients import placement
from kronos.clients.nova.client import NovaClient
from kronos.engine import faults
from kronos.engine.faults import Fault


@dataclass
class Patience:
    """How time passes for an action, and what it does while it waits."""

    is_cancelled: Callable[[], bool]
    """Whether the plan was cancelled; asked all the time."""
    tell: Callable[[str], object]
    """Shows why the action waits; '' when it does no more."""
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


Exclusions = Callable[[Collection[str]], Mapping[str, float]]
"""Gives those of the hosts that ``exclude_hosts_query`` excludes, with its
values; raises PrometheusError where that is not known."""


@dataclass(kw_only=True)
class ServerContext(Patience):
    """Besides how time passes, what every action on a server needs."""

    nova: NovaClient
    placement: placement.PlacementClient
    exclusions: Exclusions | None = None
    """None: there is no such query."""


@dataclass(kw_only=True)
class MoveContext(ServerContext):
    """Besides, what every kind of move needs."""

    slots: slots.Slots
    notices: notifications.Notices
