# SPDX-License-Identifier: Apache-2.0
"""The context of a live migration: the services, its turn, the exporters."""

from collections.abc import Callable
from dataclasses import dataclass

from kronos.actions.core.context import MoveContext
from kronos.clients.nova.live_migration import LiveMigration

GuestStates = Callable[[str], dict[str, float]]
"""Gives the state of a server's guest by host, as its exporters tell ({}: none
knows of it); raises PrometheusError where they cannot be asked."""


@dataclass(kw_only=True)
class MigrationContext(MoveContext):
    """Besides what every kind of move needs, what a live migration does."""

    live_migration: LiveMigration
    guest_states: GuestStates = lambda uuid: {}
