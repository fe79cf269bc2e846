# SPDX-License-Identifier: Apache-2.0
"""The costs of migrations: what each copies, and how long that takes.

A result of planning has them for each step, with a warning of those that
the action would abort.
"""

import statistics
from collections.abc import Iterable, Sequence

from kronos.common import durations
from kronos.engine import wording
from kronos.engine.settings import Settings
from kronos.engine.types import (
    Event,
    Host,
    Instance,
    MigrationStep,
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


class MigrationCosts:
    """What the live migrations of a scope cost."""

    def __init__(self, snapshot: Snapshot, settings: Settings) -> None:
        self._snapshot = snapshot
        self._settings = settings
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

    def limit(self, copied_mb: int) -> float:
        """Seconds after which the action aborts a migration."""
        settings = self._settings
        by_size = settings.migration_timeout_per_gib * copied_mb / MIB_PER_GIB
        return max(settings.migration_timeout_seconds, by_size)

    def warnings(self, steps: Iterable[MigrationStep]) -> list[str]:
        """Who is not expected to arrive in time; a text or none."""
        late = [
            f'{wording.named(step.instance_name, step.instance)} '
            f'({step.copied_mb / MIB_PER_GIB:.0f} GiB, '
            f'{durations.beside(step.seconds, most)} of '
            f'{durations.beside(most, step.seconds)})'
            for step in steps
            if (most := self.limit(step.copied_mb)) < step.seconds
        ]
        if not late:
            return []
        return [
            f'{wording.counted(len(late), "migration")} would be aborted '
            f'before the end, at {self.bandwidth:.0f} MiB/s: '
            f'{wording.some(late)}. Raise migration_timeout_per_gib, or pin '
            'these servers (kronos:pin)'
        ]

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
        checks = self._settings.check_disk
        return checks and 'DISK_GB' in (host.headroom or {})

    def _measured(self) -> float | None:
        """The median of the scope's latest live migrations; None: unknown."""
        instances = self._snapshot.instances
        rates = [
            self.copied_mb(instances[event.instance], event.destination)
            / (event.seconds - SETUP_SECONDS)
            for event in _latest(
                event
                for event in _arrivals(self._snapshot)
                if event.seconds >= TELLING_SECONDS
                and event.instance in instances
                and instances[event.instance].memory_mb > 0
            )
        ]
        return statistics.median(rates) if rates else None


def seconds_by_scope(snapshots: Iterable[Snapshot]) -> dict[str, float]:
    """Seconds per move of each scope of which any is known.

    The median of its live migrations that arrived, by Nova's clock, from
    when it wrote the migration down to its end.
    """
    arrivals = {
        snapshot.scope: _latest(_arrivals(snapshot)) for snapshot in snapshots
    }
    return {
        scope: statistics.median(event.seconds for event in events)
        for scope, events in arrivals.items()
        if events
    }


def _arrivals(snapshot: Snapshot) -> list[Event]:
    """The live migrations within a scope of which it is known how long."""
    return [
        event
        for event in snapshot.events
        if event.outcome is Outcome.MOVED
        and event.seconds > 0
        and {event.source, event.destination} <= snapshot.hosts.keys()
    ]


def _latest(events: Iterable[Event]) -> Sequence[Event]:
    return sorted(events, key=lambda event: event.at)[-LATEST:]
