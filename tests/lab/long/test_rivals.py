# SPDX-License-Identifier: Apache-2.0
"""Audits over the same hosts, again and again, on one engine and on two."""

import itertools
import time
from typing import Any

from tests.lab import base, rivals

ROUNDS = 10
MINUTES = 10
INTERVAL_SECONDS = 10
OVERLAPPING = ('alpha', 'alpha,beta', 'beta')


class TestRivals(rivals.RivalsTestCase):
    def test_the_other_one_says_why(self):
        """One of two audits plans, on two engines."""
        self.second_engine()
        self.fill(base.ALPHA[0])
        self.wait_for_metrics()
        audits = self.oneshots(2)
        plans = self.started(audits)
        self.assertEqual(1, len(plans), audits)
        self.check_plans(plans)
        [idle] = [
            audit
            for audit in audits
            if not any(self.actions(plan) for plan in self.plans(audit))
        ]
        self.assertRegex(
            self.shown(idle)['Status Message'], 'cools down|came up while'
        )

    def test_the_same_second_on_one_engine(self):
        self.rounds()

    def test_the_same_second_on_two_engines(self):
        self.second_engine()
        self.rounds()

    def rounds(self) -> None:
        """Two audits of one aggregate at a time, ten times."""
        self.fill(*base.ALPHA)
        self.wait_for_metrics()
        moves = 0
        for hot in itertools.islice(itertools.cycle(base.ALPHA), ROUNDS):
            self.make_busy(hot)
            plans = self.started(self.oneshots(2))
            self.assertLessEqual(len(plans), 1)
            self.check_plans(plans)
            moves += sum(len(self.actions(plan)) for plan in plans)
            time.sleep(rivals.COOLDOWN)
        self.assertGreater(moves, 0)

    def test_three_continuous_audits_that_overlap(self):
        """For ten minutes, with an operator's audit now and then."""
        self.fill(*base.ALPHA)
        audits: list[dict[str, Any]] = [
            self.going_on(f'aggregates={scope}', INTERVAL_SECONDS, '--force')
            for scope in OVERLAPPING
        ]
        end = time.monotonic() + 60 * MINUTES
        for hot in itertools.cycle(base.ALPHA):
            self.make_busy(hot)
            audits += self.oneshots(1)
            if time.monotonic() > end:
                break
        plans = self.started(audits)
        self.assertGreater(len(plans), 2)
        self.check_plans(plans)
        self.check_cooldown(plans)
        for audit in audits[: len(OVERLAPPING)]:
            self.assertEqual('ONGOING', self.shown(audit)['State'])
