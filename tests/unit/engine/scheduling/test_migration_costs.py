# SPDX-License-Identifier: Apache-2.0
"""Is it known what a migration copies, and how long that takes?"""

from typing import Any

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.scheduling.migration_costs import (
    LATEST,
    MigrationCosts,
    seconds_by_scope,
)
from kronos.engine.settings import Settings
from kronos.engine.types import (
    Event,
    Headroom,
    Host,
    Instance,
    MigrationPhase,
    MigrationStep,
    Origin,
    Outcome,
    Snapshot,
)
from kronos.extensions.cells.cell_drain import CellPhase
from tests.builders import scopes
from tests.builders.scopes import policy, vm

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


def step(name: str, gib: int, seconds: float, **more: Any) -> MigrationStep:
    fields: dict[str, Any] = {
        'scope': 'scope',
        'phase': MigrationPhase.SPREAD,
        'instance': f'uuid-of-{name}',
        'instance_name': name,
        'source': 'a',
        'destination': 'b',
        'memory_mb': gib * GIB,
        'imbalance_before': {},
        'imbalance_after': {},
        'combined_before': 0.0,
        'combined_after': 0.0,
        'copied_mb': gib * GIB,
        'seconds': seconds,
    }
    return MigrationStep(**{**fields, **more})


class TestLimit(base.BaseTestCase):
    def limit(self, gib: int, per_gib: int) -> float:
        settings = Settings(
            migration_timeout_seconds=600, migration_timeout_per_gib=per_gib
        )
        snapshot = Snapshot('scope', {}, {}, {})
        return MigrationCosts(snapshot, settings).limit(gib * GIB)

    def test_the_larger_of_both(self) -> None:
        self.assertEqual(600.0, self.limit(8, per_gib=16))
        self.assertEqual(16384.0, self.limit(1024, per_gib=16))

    def test_size_does_not_matter(self) -> None:
        self.assertEqual(600.0, self.limit(1024, per_gib=0))


class TestWarnings(base.BaseTestCase):
    def warnings(self, *steps: MigrationStep) -> list[str]:
        settings = Settings(migration_bandwidth=40.0)
        snapshot = Snapshot('scope', {}, {}, {})
        return MigrationCosts(snapshot, settings).warnings(steps)

    def test_all_in_time(self) -> None:
        self.assertEqual(
            [], self.warnings(step('one', 8, 600), step('two', 512, 8192))
        )

    def test_those_that_are_late(self) -> None:
        (text,) = self.warnings(
            step('one', 8, 300),
            step('two', 512, 13107),
            step('', 8, 700, instance='uuid-3'),
        )
        self.assertEqual(
            '2 migrations would be aborted before the end, at 40 MiB/s: two '
            '(512 GiB, 3 h 38 min of 2 h 17 min), uuid-3 (8 GiB, '
            '12 min of 10 min). Raise '
            'migration_timeout_per_gib, or pin these servers (kronos:pin)',
            text,
        )

    def test_a_move_to_another_cell_has_other_limits(self) -> None:
        """Its own action has them; the plan knows no time of it."""
        phase = CellPhase.CELL_DRAIN
        self.assertEqual([], self.warnings(step('one', 0, 0, phase=phase)))


class TestPlan(base.BaseTestCase):
    """Two servers of 1 TiB are what makes two hosts uneven."""

    def plan(self, **settings: Any) -> tuple[list[str], list[str]]:
        cpu = policy('cpu', 1.0, threshold=0.1)
        snapshot = scopes.scope(
            [cpu],
            {'a': [0.6], 'b': [0.0]},
            [
                vm(f'v{number}', 'a', [0.3], memory_mb=1024 * GIB)
                for number in range(2)
            ],
        )
        plan = propose([snapshot], [cpu], Settings(**settings))
        (scope,) = plan.scopes
        return [one.instance for one in scope.steps], scope.warnings

    def test_it_arrives_by_default(self) -> None:
        """At 0.5 GiB/s, too, which is less than the default."""
        for bandwidth in (800.0, 512.0):
            _steps, warnings = self.plan(migration_bandwidth=bandwidth)
            self.assertEqual([], warnings)

    def test_it_is_named_if_it_cannot(self) -> None:
        """The plan stays as it is."""
        (moved,), _ = self.plan()
        (late,), (warning,) = self.plan(
            migration_bandwidth=512.0, migration_timeout_per_gib=1.0
        )
        self.assertEqual(moved, late)
        self.assertIn(f'{late} (1024 GiB, 34 min of 17 min)', warning)


def moved(
    seconds: float,
    at: float = 0.0,
    ends: tuple[str, str] = ('a', 'b'),
    outcome: Outcome = Outcome.MOVED,
) -> Event:
    return Event('one', *ends, outcome, at, Origin.NOVA, seconds=seconds)


class TestSecondsPerMove(base.BaseTestCase):
    def median(self, *events: Event) -> float | None:
        hosts = {name: Host(name) for name in 'abc'}
        snapshot = Snapshot('scope', hosts, {}, {}, events=list(events))
        return seconds_by_scope([snapshot]).get('scope')

    def test_none(self) -> None:
        self.assertIsNone(self.median())

    def test_the_median(self) -> None:
        """One that took an hour says little of the others."""
        self.assertEqual(30.0, self.median(*map(moved, (20, 3600, 30))))

    def test_what_does_not_count(self) -> None:
        self.assertIsNone(
            self.median(
                moved(0.0),
                moved(9.0, outcome=Outcome.FAILED),
                moved(9.0, outcome=Outcome.UNDER_WAY),
                moved(9.0, ends=('a', 'x')),
                moved(9.0, ends=('x', 'b')),
            )
        )

    def test_scopes_of_which_nothing_is_known_are_left_out(self) -> None:
        hosts = {name: Host(name) for name in 'ab'}
        snapshots = [
            Snapshot('known', hosts, {}, {}, events=[moved(7.0)]),
            Snapshot('unknown', hosts, {}, {}),
        ]
        self.assertEqual({'known': 7.0}, seconds_by_scope(snapshots))

    def test_the_latest(self) -> None:
        old = [moved(900.0, at=1.0) for _ in range(60)]
        new = [moved(10.0, at=2.0) for _ in range(LATEST)]
        self.assertEqual(10.0, self.median(*old, *new))
