# SPDX-License-Identifier: Apache-2.0
"""A continuous audit keeps the lab even while demands change."""

import itertools
import time
from typing import Any, ClassVar

from tests.lab import base

THRESHOLD = 0.15
MINUTES = 10
INTERVAL_SECONDS = 10
QUIET_SECONDS = 40
CALM = 0.505
BUSY = 4 * CALM
"""Every imbalance is then a multiple of CALM/32, and none of them is nearer
to the threshold than .007: there the next scrape would decide."""


class TestContinuous(base.LabTestCase):
    options: ClassVar = {
        'cooldown': base.WINDOW_SECONDS + 10,
        # That of the hosts is a third of their load here, and it is their own.
        'unexplained_load': 'stays',
        # It waits for every step below the threshold, however small.
        'min_plan_gain': 0,
    }

    def test_ten_minutes_of_changing_demands(self):
        """Uneven is repaired, even is left alone, one empty plan."""
        names = [f'{host}-{n}' for host in base.ALPHA for n in range(4)]
        self.boot(
            base.Wanted(name, name.partition('-')[0], CALM, 1500)
            for name in names
        )
        audit = self.going_on(
            'aggregates=alpha max_migrations=10', INTERVAL_SECONDS
        )
        self.stays_quiet(audit)
        end = time.monotonic() + 60 * MINUTES
        for hot in itertools.cycle(base.ALPHA):
            self.make_busy(hot)
            self.wait_for_metrics()
            self.wait(self.is_even, f'{hot} to be relieved')
            self.stays_quiet(audit)
            if time.monotonic() > end:
                break
        self.assertEqual('ONGOING', self.shown(audit)['State'])
        self.assertEqual(
            [], [p for p in self.plans(audit) if p['state'] == 'FAILED']
        )

    def make_busy(self, host: str) -> None:
        """Everything on one host becomes busy, all else calms down."""
        self.cloud.set_demand(
            **{
                name: {'cpu': BUSY, 'memory_mb': 1500}
                for name, where in self.cloud.placement().items()
                if where == host
            }
        )

    def is_even(self) -> bool:
        """As measured, and as it is: a window may be half full."""
        among = [
            [values[host] for host in base.ALPHA]
            for values in self.expected().values()
        ]
        real = max(max(values) - min(values) for values in among)
        measured = max(self.imbalances(base.ALPHA).values())
        return max(real, measured) <= THRESHOLD

    def stays_quiet(self, audit: dict[str, Any]) -> None:
        """Even and unchanged: several runs, no move, one empty plan."""
        self.wait_for_metrics()
        self.wait(self.is_idle, 'the last migration to end')
        before = self.cloud.placement()
        url = f'/v1/audits/{audit["UUID"]}'
        since = self.cloud.watcher(url)['next_run_time']
        end = time.monotonic() + QUIET_SECONDS
        while time.monotonic() < end:
            self.assertEqual(before, self.cloud.placement())
            time.sleep(2)
        self.assertNotEqual(since, self.cloud.watcher(url)['next_run_time'])
        empty = [p for p in self.plans(audit) if not self.actions(p)]
        self.assertLessEqual(len(empty), 1)

    def is_idle(self) -> bool:
        return {'ACTIVE'} == {
            server['status'] for server in self.cloud.servers().values()
        }
