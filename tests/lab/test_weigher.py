# SPDX-License-Identifier: Apache-2.0
"""New servers land where the planner would have moved them."""

import time

from tests.lab import weighing
from tests.lab.weighing import LOG, MORE, WeigherTestCase

from labkit import topology, troubled  # isort: skip

BETA = topology.AGGREGATES['beta']


class TestStart(WeigherTestCase):
    def test_the_first_server_after_a_restart(self):
        """The scores are there before anybody asks for them.

        Those of an aggregate without exporters are no matter.
        """
        self.load()
        loads = self.expected()
        self.cloud.set_exporter(down=list(BETA))
        for host in BETA:
            self.cloud.set_host(host, True)
        self.wait(
            lambda: (
                not any(
                    host in values
                    for values in self.measured().values()
                    for host in BETA
                )
            ),
            'Prometheus to have nothing of the other aggregate',
        )
        combined = {
            host: sum(
                weight * loads[policy][host]
                for policy, weight in weighing.WEIGHTS.items()
            )
            for host in weighing.HOSTS
        }
        self.schedule(with_weigher=True)
        calmest = min(combined, key=combined.__getitem__)
        self.assertEqual([calmest], self.new(['first']), combined)


class TestSpread(WeigherTestCase):
    def test_many_at_once(self):
        """As even as the planner would place them, within 10 %."""
        self.load()
        self.schedule(with_weigher=True)
        planned = weighing.placed_greedily(self.expected(), MORE)
        self.assertLessEqual(self.at_once(), 1.1 * planned)


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
        told = log.count('does not have all it needs')
        self.assertLessEqual(told, 1 + seconds // 600, log)
        self.assertGreater(told, 0, log)
