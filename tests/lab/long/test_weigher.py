# SPDX-License-Identifier: Apache-2.0
"""Where do new servers land, one by one, at once, and without us?

How they are packed, and what becomes of them while Prometheus is in trouble.
"""

import time

from tests.lab import weighing
from tests.lab.weighing import LOG, MORE, WeigherTestCase

from labkit import troubled  # isort: skip


class TestSpread(WeigherTestCase):
    def test_many_at_once(self):
        """As even as the planner would place them, within 10 %."""
        self.load()
        self.schedule(with_weigher=True)
        planned = weighing.placed_greedily(self.expected(), MORE)
        self.assertLessEqual(self.at_once(), 1.1 * planned)

    def test_one_by_one_and_together(self):
        """As even as the planner would place them, within 10 %."""
        self.load()
        names = [f'new-{n}' for n in range(MORE)]
        self.schedule(with_weigher=True)
        before = self.expected()
        allowed = 1.1 * weighing.placed_greedily(before, MORE)
        self.new(names)
        one_by_one = weighing.imbalance(self.expected())
        self.delete(names)
        self.wait_for_metrics()
        together = self.at_once()
        self.delete([f'new-{n}' for n in range(1, MORE + 1)])
        self.schedule(with_weigher=False)
        without = self.at_once()
        print(
            f'before {weighing.imbalance(before):.4f}, '
            f'greedy {allowed / 1.1:.4f}, '
            f'one by one {one_by_one:.4f}, together {together:.4f}, '
            f'without {without:.4f}'
        )
        self.assertLessEqual(one_by_one, allowed)
        self.assertLessEqual(together, allowed)
        self.assertGreater(without, allowed)


class TestPack(WeigherTestCase):
    def test_the_fullest_host_below_its_ceilings_first(self):
        """By the metadata of its aggregate, without a restart."""
        self.load()
        self.schedule(with_weigher=True)
        self.assertNotIn('cmp1', self.new(['calm']))
        self.addCleanup(
            self.openstack, 'aggregate unset --property kronos_mode alpha'
        )
        self.openstack('aggregate set --property kronos_mode=pack alpha')
        self.wait(
            lambda: self.new([self.getUniqueString()]) == ['cmp1'],
            'the new mode to count',
        )
        self.assertEqual({'cmp1'}, set(self.new(['a', 'b', 'c'])))


class TestPrometheus(WeigherTestCase):
    def test_in_trouble(self):
        """Every boot succeeds, and nothing is raised."""
        prometheus = troubled.Troubled(self.cloud.prometheus)
        self.addCleanup(prometheus.end)
        self.schedule(
            with_weigher=True, url=prometheus.url, timeout=5, max_retries=0
        )
        start, began = LOG.stat().st_size, time.monotonic()
        for trouble in (*troubled.TROUBLES, 'stopped'):
            with self.subTest(trouble):
                if trouble == 'stopped':
                    prometheus.end()
                prometheus.trouble = trouble
                known = len(prometheus.asked)
                if trouble != 'stopped':
                    self.wait(
                        lambda known=known: len(prometheus.asked) > known,
                        'the weigher to ask once more',
                    )
                self.new(f'{trouble}-{n}' for n in range(2))
        log = self.log(start)
        self.assertNotIn('Traceback', log)
        # It is told again now and then.
        seconds = time.monotonic() - began
        told = log.count('lacks data; its scores')
        self.assertLessEqual(told, 1 + seconds // 600, log)
        self.assertGreater(told, 0, log)
