# SPDX-License-Identifier: Apache-2.0
"""Are guests of all sizes and dirty rates judged rightly at any interval?"""

import math
import random

import testscenarios
from oslotest import base

from kronos.actions.live import parameters, progress
from kronos.actions.live.passes import RECENT_SECONDS, Passes
from tests.fakes.qemu_copy import QemuCopy
from tests.unit.actions.live import following

MIB = 2**20
STALL_SECONDS = parameters.MigrationTiming.stall_timeout


class TestManyGuests(testscenarios.TestWithScenarios, base.BaseTestCase):
    scenarios = [  # noqa: RUF012
        (str(seed), {'seed': seed}) for seed in range(60)
    ]
    seed: int

    def setUp(self) -> None:
        super().setUp()
        chance = random.Random(self.seed)
        self.interval = round(chance.uniform(0.5, 120.0), 2)
        self.poll = chance.choice((0.5, 1.0, 2.0, 5.0, 10.0))
        self.first = chance.uniform(0.0, self.poll)
        speed = chance.uniform(20, 3000) * MIB
        memory = speed * 10 ** chance.uniform(0.5, 2.6)
        self.copy = QemuCopy(
            memory,
            speed,
            dirty_rate=chance.choice(
                (chance.uniform(0.2, 0.95), chance.uniform(1.05, 2.0))
            )
            * speed,
            working_set=min(memory, speed * 10 ** chance.uniform(-0.5, 2.2)),
            interval=self.interval,
            clock_offset=chance.uniform(-300.0, 300.0),
        )

    def error(self, passes: Passes) -> float:
        """Of the speed, as a share of it."""
        assert passes.bandwidth is not None
        return abs(passes.bandwidth / self.copy.speed - 1)

    def check(self, found: progress.MigrationProgress) -> None:
        self.assertLess(found.stands_still(), STALL_SECONDS)
        looks = found.passes._recent
        if looks and looks[-1].time - looks[0].time >= RECENT_SECONDS:
            self.assertLess(self.error(found.passes), 0.05)

    def test_it_is_judged_rightly(self) -> None:
        """No false stall, and no pause that is longer than it may be."""
        longest = max(self.interval, self.poll)
        seconds = 60 * longest + 3 * self.copy.memory / self.copy.speed + 200
        passes = following.follow(
            self.copy, self.poll, seconds, self.first, self.check
        ).passes
        if passes.in_vain() < following.VAIN:
            return
        self.assertEqual(math.inf, self.copy.end)
        self.assertLess(self.error(passes), 0.05)
        # So a limit of any less refuses to have it forced.
        self.assertGreaterEqual(passes.pause, 0.99 * self.copy.pause)


class TestFirstLook(base.BaseTestCase):
    def test_its_figures_may_be_old(self) -> None:
        """Written ten seconds before it, when the migration began."""
        copy = QemuCopy(2**40, 1000 * MIB, interval=16.43)
        found = following.follow(copy, poll=10.0, seconds=100.0, first=9.9)
        assert found.passes.bandwidth is not None
        error = abs(found.passes.bandwidth / copy.speed - 1)
        self.assertLess(error, 0.05)
