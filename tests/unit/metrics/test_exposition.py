# SPDX-License-Identifier: Apache-2.0
"""What is written can be read again, and steers nothing."""

from oslotest import base
from prometheus_client import parser

from kronos.metrics import exposition
from kronos.metrics.store import Gauge, Store


class ExpositionTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.store = Store()

    def text(self, process=('scheduler', '0')):
        return exposition.text_of(self.store, process).decode()

    def fill(self) -> None:
        self.store.count('kronos_weighings_total', 7, result='scored')
        for seconds in (0.0002, 0.2, 40.0):
            self.store.observe('kronos_weighing_seconds', seconds)
        gauge = Gauge('kronos_weigher_hosts', 3, {'state': 'scored'})
        self.store.show('weigher', [gauge])

    def test_every_series_names_its_process(self) -> None:
        self.fill()
        self.assertIn(
            'kronos_weighings_total{result="scored",service="scheduler",'
            'slot="0"} 7.0',
            self.text(),
        )
        series = [row for row in self.text().splitlines() if row[0] != '#']
        for row in series:
            self.assertIn('service="scheduler",slot="0"', row)
            # No timestamp.
            self.assertEqual(2, len(row.split()), row)
        self.assertNotIn('_created', self.text())

    def test_buckets_are_cumulated(self) -> None:
        self.fill()
        values = {
            sample.labels['le']: sample.value
            for family in parser.text_string_to_metric_families(self.text())
            for sample in family.samples
            if sample.name == 'kronos_weighing_seconds_bucket'
        }
        self.assertEqual(0.0, values['0.0001'])
        self.assertEqual(1.0, values['0.0003'])
        self.assertEqual(2.0, values['1.0'])
        self.assertEqual(3.0, values['+Inf'])

    def test_without_a_process(self) -> None:
        self.fill()
        self.assertIn('hosts{state="scored"} 3.0', self.text(()))

    def test_hostile_names(self) -> None:
        scope = 'a"} 1\nkronos_evil 1 \\'
        gauge = Gauge('kronos_scope_imbalance_ratio', 0.5, {'scope': scope})
        self.store.show('scope', [gauge], scope)
        [family] = parser.text_string_to_metric_families(self.text())
        [sample] = family.samples
        self.assertEqual(scope.replace('\n', '?'), sample.labels['scope'])

    def test_a_successor_goes_on(self) -> None:
        self.fill()
        before = self.text()
        self.store = Store()
        exposition.take_over(self.store, before)
        gauge = Gauge('kronos_weigher_hosts', 3, {'state': 'scored'})
        self.store.show('weigher', [gauge])
        self.assertEqual(before, self.text())

    def test_what_the_catalogue_does_not_have_is_left_out(self) -> None:
        exposition.take_over(
            self.store,
            '# TYPE kronos_old counter\nkronos_old_total 3\n'
            '# TYPE kronos_weighings counter\nkronos_weighings_total 4\n'
            '# TYPE kronos_weighing_seconds histogram\n'
            'kronos_weighing_seconds_bucket{le="7"} 1\n'
            'kronos_weighing_seconds_bucket{le="+Inf"} 1\n'
            'kronos_weighing_seconds_sum 1\nkronos_weighing_seconds_count 1\n',
        )
        self.assertEqual([], list(self.store.values()))

    def test_no_metrics_at_all(self) -> None:
        self.assertRaises(
            ValueError, exposition.take_over, self.store, 'nonsense {\n'
        )
