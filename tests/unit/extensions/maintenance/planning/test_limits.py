# SPDX-License-Identifier: Apache-2.0
"""Is a host closed only where its zone and its window allow it?"""

from dataclasses import replace

from oslotest import base

from kronos.engine.types import ScopeWindow
from kronos.extensions.maintenance import outcome
from kronos.extensions.maintenance.maintenance import Maintenance
from tests.builders import maintained

UNTIL = '2026-11-28 05:30 (UTC)'


class TestLimits(base.BaseTestCase):
    def run_of(self, **spec: object) -> maintained.Run:
        """Three hosts with servers, and three empty ones."""
        cloud = maintained.cloud(3, 0.5, 1, spares=3)
        names = tuple(sorted(cloud.hosts)[:3])
        for number, name in enumerate(cloud.hosts):
            cloud.hosts[name].availability_zone = f'az{number % 2}'
        run = Maintenance('r', names, at_once=3)
        return maintained.Run(cloud, replace(run, **spec))

    def window(self, seconds: float, **more: bool) -> list[str]:
        run = self.run_of(work_time=600.0)
        run.cloud.window = ScopeWindow(
            **({'is_open': True} | more),
            until=UNTIL,
            changes_at=run.cloud.taken_at + seconds,
        )
        waves = outcome.of(run.plan()).waves
        self.assertEqual(bool(waves.waits), len(waves.closing) < 3)
        if waves.waits:
            self.assertIn(f'the window closes at {UNTIL}', waves.waits)
        return waves.closing

    def test_zones(self) -> None:
        run = self.run_of(at_once_per_az=1)
        waves = outcome.of(run.plan()).waves
        zones = {run.cloud.hosts[h].availability_zone for h in waves.closing}
        self.assertEqual({'az0', 'az1'}, zones)
        self.assertEqual(2, len(waves.closing))
        self.assertIn('at_once_per_az is 1', waves.waits)
        closed = self.run_of(at_once_per_az=1)
        assert closed.cloud.services is not None
        for name in list(closed.cloud.hosts)[-2:]:
            closed.cloud.services[name].state = 'down'
        waves = outcome.of(closed.plan()).waves
        self.assertEqual([], waves.closing)
        self.assertIn('1 of availability zone az', waves.waits)

    def test_windows(self) -> None:
        """Emptied, maintained and opened before it ends, or not closed."""
        self.assertEqual([], self.window(700.0))
        self.assertEqual(3, len(self.window(7200.0)))
        self.assertEqual(3, len(self.window(700.0, is_exempt=True)))
