# SPDX-License-Identifier: Apache-2.0
"""Does a plan name the servers that would not arrive in time?"""

from typing import Any

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.scheduling import time_limits
from kronos.engine.settings import Settings
from kronos.engine.types import MigrationPhase, MigrationStep
from kronos.extensions.cells.cell_drain import CellPhase
from tests.builders import scopes
from tests.builders.scopes import policy, vm

GIB = 1024


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
    def test_the_larger_of_both(self) -> None:
        settings = Settings(
            migration_timeout_seconds=600, migration_timeout_per_gib=16
        )
        self.assertEqual(600.0, time_limits.limit(8 * GIB, settings))
        self.assertEqual(16384.0, time_limits.limit(1024 * GIB, settings))

    def test_size_does_not_matter(self) -> None:
        settings = Settings(
            migration_timeout_seconds=600, migration_timeout_per_gib=0
        )
        self.assertEqual(600.0, time_limits.limit(1024 * GIB, settings))


class TestWarnings(base.BaseTestCase):
    def warnings(self, *steps: MigrationStep) -> list[str]:
        return time_limits.warnings(steps, 40.0, Settings())

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
