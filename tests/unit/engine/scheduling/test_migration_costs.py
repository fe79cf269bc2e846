# SPDX-License-Identifier: Apache-2.0
"""Is it known what a migration copies, and how long that takes?"""

from typing import Any

from oslotest import base

from kronos.engine.scheduling.migration_costs import (
    MigrationCosts,
    bandwidth_of,
)
from kronos.engine.settings import Settings
from kronos.engine.types import (
    Event,
    Headroom,
    Host,
    Instance,
    Origin,
    Outcome,
    Snapshot,
)

GIB = 1024
MIB = 2.0**20


def event(seconds: float, **more: Any) -> Event:
    fields: dict[str, Any] = {
        'instance': 'one',
        'source': 'a',
        'destination': 'b',
        'outcome': Outcome.MOVED,
        'at': 0.0,
        'origin': Origin.NOVA,
        'seconds': seconds,
    }
    return Event(**{**fields, **more})


class TestMigrationCosts(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        own = {'DISK_GB': Headroom(100, 0)}
        self.snapshot = Snapshot(
            'scope',
            {'a': Host('a'), 'b': Host('b'), 'c': Host('c', headroom=own)},
            {
                'one': Instance('one', 'b', memory_mb=8 * GIB, disk_gb=10),
                'none': Instance('none', 'b'),
            },
            {},
        )
        self.one = self.snapshot.instances['one']

    def costs(self, *events: Event, **settings: Any) -> MigrationCosts:
        self.snapshot.events = list(events)
        return MigrationCosts(self.snapshot, Settings(**settings))

    def test_by_the_option(self) -> None:
        """Until something is known."""
        found = self.costs(migration_bandwidth=1024.0)
        self.assertEqual(6 + 8, found.seconds(self.one, 'a'))
        self.assertFalse(found.is_measured)

    def test_by_what_migrations_took(self) -> None:
        """The median, less what none is without."""
        found = self.costs(*map(event, (14.0, 22.0, 3600.0)))
        self.assertTrue(found.is_measured)
        self.assertEqual(512.0, found.bandwidth)
        self.assertEqual(22.0, found.seconds(self.one, 'a'))

    def test_the_latest(self) -> None:
        old = [event(3600.0, at=1.0) for _ in range(60)]
        new = [event(14.0, at=2.0) for _ in range(50)]
        self.assertEqual(1024.0, self.costs(*new, *old).bandwidth)

    def test_what_tells_nothing(self) -> None:
        found = self.costs(
            event(11.9),
            event(0.0),
            event(60.0, outcome=Outcome.FAILED),
            event(60.0, instance='gone'),
            event(60.0, instance='none'),
            event(60.0, source='elsewhere'),
            event(60.0, destination='elsewhere'),
        )
        self.assertFalse(found.is_measured)

    def test_local_disk(self) -> None:
        """Where disk counts, and the destination has its own."""
        for host, counts, copied in (
            ('c', True, 18 * GIB),
            ('c', False, 8 * GIB),
            ('a', True, 8 * GIB),
            ('elsewhere', True, 8 * GIB),
        ):
            found = self.costs(check_disk=counts)
            self.assertEqual(copied, found.copied_mb(self.one, host))
        found = self.costs(check_disk=True, migration_bandwidth=1024.0)
        self.assertEqual(6 + 18, found.seconds(self.one, 'c'))

    def test_what_the_guest_writes_meanwhile(self) -> None:
        """It is copied again, and what it writes meanwhile, too."""
        for share, factor in (
            (0.0, 1.0),
            (0.5, 2.0),
            (0.75, 4.0),
            (1.0, 10.0),
        ):
            self.one.dirty_rate = share * 1024.0 * MIB
            found = self.costs(migration_bandwidth=1024.0)
            self.assertEqual(6 + factor * 8, found.seconds(self.one, 'a'))
            found = self.costs(check_disk=True, migration_bandwidth=1024.0)
            self.assertEqual(6 + factor * 8 + 10, found.seconds(self.one, 'c'))
            self.assertEqual(8 * GIB, found.copied_mb(self.one, 'a'))

    def test_bandwidth_of(self) -> None:
        self.snapshot.events = [event(14.0)]
        found = bandwidth_of(self.snapshot, Settings())
        self.assertEqual(1024.0, found())
