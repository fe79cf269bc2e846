# SPDX-License-Identifier: Apache-2.0
"""The store holds what the catalogue has, and nothing else."""

from oslotest import base

from kronos.metrics.store import Distribution, Gauge, Off, Store


class StoreTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.now = 0.0
        self.store = Store(scope_ttl=100, clock=lambda: self.now)

    def values(self, name):
        return {
            labels: value
            for row, labels, value in self.store.values()
            if row.name == name
        }

    def imbalance(self, scope, value):
        name = 'kronos_scope_imbalance_ratio'
        self.store.show('x', [Gauge(name, value, {'scope': scope})], scope)

    def test_counters_add_up(self) -> None:
        for _ in range(2):
            self.store.count('kronos_weighings_total', result='scored')
        self.store.count('kronos_weighings_total', 5, result='failed')
        self.assertEqual(
            {('failed',): 5.0, ('scored',): 2.0},
            self.values('kronos_weighings_total'),
        )

    def test_a_histogram(self) -> None:
        for value in (0.00005, 0.0001, 5.0):
            self.store.observe('kronos_weighing_seconds', value)
        found = self.values('kronos_weighing_seconds')[()]
        self.assertEqual(2.0, found.counts[0])
        self.assertEqual(1.0, found.counts[-1])
        self.assertAlmostEqual(5.00015, found.total)

    def test_gauges_take_the_place_of_those_before(self) -> None:
        self.imbalance('a', 0.5)
        self.imbalance('b', 0.2)
        self.imbalance('a', 0.4)
        name = 'kronos_scope_imbalance_ratio'
        self.assertEqual({('a',): 0.4, ('b',): 0.2}, self.values(name))
        self.store.show('x', [], 'a')
        self.assertEqual({('b',): 0.2}, self.values(name))

    def test_a_scope_that_is_not_planned_here_leaves_no_ghost(self) -> None:
        self.imbalance('a', 0.5)
        self.now = 60.0
        self.imbalance('b', 0.5)
        self.now = 100.0
        name = 'kronos_scope_imbalance_ratio'
        self.assertEqual({('b',): 0.5}, self.values(name))

    def test_what_is_about_no_scope_stays(self) -> None:
        self.store.show('weigher', [Gauge('kronos_plans_waiting', 1)])
        self.now = 1e9
        self.assertEqual({(): 1.0}, self.values('kronos_plans_waiting'))

    def test_unless_another_process_may_have_newer_ones(self) -> None:
        gauges = [Gauge('kronos_plans_waiting', 1)]
        self.store.show('plans', gauges, expires=True)
        self.now = 99.0
        self.assertEqual({(): 1.0}, self.values('kronos_plans_waiting'))
        self.now = 100.0
        self.assertEqual({}, self.values('kronos_plans_waiting'))

    def test_hosts_only_where_they_are_wanted(self) -> None:
        labels = {'scope': 'a', 'policy': 'cpu', 'host': 'h1'}
        gauge = Gauge('kronos_host_score_ratio', 0.5, labels)
        self.store.show('scope', [gauge], 'a')
        self.assertEqual({}, self.values('kronos_host_score_ratio'))
        self.store = Store(per_host=True)
        self.store.show('scope', [gauge], 'a')
        self.assertEqual(
            {('a', 'cpu', 'h1'): 0.5}, self.values('kronos_host_score_ratio')
        )

    def test_nothing_but_the_catalogue(self) -> None:
        for call in (
            lambda: self.store.count('kronos_others_total'),
            lambda: self.store.count('kronos_weighings_total', uuid='x'),
            lambda: self.store.count('kronos_weighings_total'),
            lambda: self.store.observe('kronos_weighings_total', 1.0),
            lambda: self.store.show(
                'x', [Gauge('kronos_weighing_seconds', 1)]
            ),
        ):
            self.assertRaises(KeyError, call)
        self.assertEqual([], list(self.store.values()))

    def test_names_are_one_plain_line(self) -> None:
        self.imbalance('a\n\x1b[31m\ud800' + 'x' * 300, 0.5)
        [(scope,)] = self.values('kronos_scope_imbalance_ratio')
        self.assertEqual('a??[31m?', scope[:8])
        self.assertEqual(200, len(scope))

    def test_what_was_counted_before_is_continued(self) -> None:
        self.store.count('kronos_weighings_total', result='scored')
        self.store.take_over('kronos_weighings_total', ('scored',), 41.0)
        self.store.observe('kronos_weighing_seconds', 9.0)
        before = Distribution([1.0] * 10, 2.5)
        self.store.take_over('kronos_weighing_seconds', (), before)
        self.assertEqual(
            {('scored',): 42.0}, self.values('kronos_weighings_total')
        )
        found = self.values('kronos_weighing_seconds')[()]
        self.assertEqual([1.0] * 9 + [2.0], found.counts)
        self.assertEqual(11.5, found.total)

    def test_off(self) -> None:
        self.store = Off()
        self.assertFalse(self.store.is_on)
        self.store.count('kronos_weighings_total', result='scored')
        self.store.observe('kronos_weighing_seconds', 1.0)
        self.imbalance('a', 0.5)
        self.assertEqual([], list(self.store.values()))
