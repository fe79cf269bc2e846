# SPDX-License-Identifier: Apache-2.0
"""The costs of migrations: what each copies, and how long that takes.

A result of planning has them for each step.
"""

import functools
import statistics
from collections.abc import Callable

from kronos.engine.settings import Settings
from kronos.engine.types import (
    Event,
    Host,
    Instance,
    Outcome,
    Snapshot,
)

SETUP_SECONDS = 6.0
"""What a live migration takes beside the copying."""
TELLING_SECONDS = 2 * SETUP_SECONDS
"""A migration that took less is no measure of the bandwidth."""
LATEST = 50
"""Migrations of a scope that count: hosts and networks change."""
MOST_ROUNDS = 10.0
"""So often the memory of a guest is copied at most that is migrated at all."""
MIB_PER_GIB = 1024
MIB = 2.0**20


def bandwidth_of(
    snapshot: Snapshot, settings: Settings
) -> Callable[[], float]:
    """MiB per second in a scope, computed when it is first needed."""
    return functools.cache(
        lambda: MigrationCosts(snapshot, settings).bandwidth
    )


class MigrationCosts:
    """What the live migrations of a scope cost."""

    def __init__(self, snapshot: Snapshot, settings: Settings) -> None:
        self._snapshot = snapshot
        self._counts_disk = settings.check_disk
        measured = self._measured()
        self.is_measured = measured is not None
        self.bandwidth = measured or settings.migration_bandwidth
        """MiB per second."""

    def copied_mb(self, instance: Instance, host: str) -> int:
        """Memory, and local disk where a block migration is to be expected.

        That is where operators let disk count, and the host has its own.
        """
        disk = instance.disk_gb if self._has_disk(host) else 0
        return instance.memory_mb + disk * MIB_PER_GIB

    def seconds(self, instance: Instance, host: str) -> float:
        """How long a live migration to a host is expected to take."""
        copied = self.copied_mb(instance, host)
        again = instance.memory_mb * (self._factor(instance) - 1.0)
        return SETUP_SECONDS + (copied + again) / self.bandwidth

    def _factor(self, instance: Instance) -> float:
        """How often memory is copied, as the guest goes on writing to it.

        What it writes in one round is copied in the next: a share r of it,
        r of that share and so on, 1 / (1 - r) in all. It is no more than
        :data:`MOST_ROUNDS`: QEMU slows a guest down that writes nearly as
        fast.
        """
        share = instance.dirty_rate / MIB / self.bandwidth
        return min(MOST_ROUNDS, 1.0 / max(1.0 - share, 1.0 / MOST_ROUNDS))

    def _has_disk(self, name: str) -> bool:
        host = self._snapshot.hosts.get(name) or Host(name)
        return self._counts_disk and 'DISK_GB' in (host.headroom or {})

    def _measured(self) -> float | None:
        """The median of the scope's latest live migrations; None: unknown."""
        events = sorted(
            (event for event in self._snapshot.events if self._tells(event)),
            key=lambda event: event.at,
        )
        rates = [
            self.copied_mb(
                self._snapshot.instances[event.instance], event.destination
            )
            / (event.seconds - SETUP_SECONDS)
            for event in events[-LATEST:]
        ]
        return statistics.median(rates) if rates else None

    def _tells(self, event: Event) -> bool:
        instance = self._snapshot.instances.get(event.instance)
        return (
            event.outcome is Outcome.MOVED
            and event.seconds >= TELLING_SECONDS
            and {event.source, event.destination} <= set(self._snapshot.hosts)
            and instance is not None
            and instance.memory_mb > 0
        )
