# SPDX-License-Identifier: Apache-2.0
"""Are the metrics of maintenance runs shown without per_host, by run?"""

from oslotest import base

from kronos.metrics import catalogue, maintenance
from kronos.metrics.store import Gauge, Store


class TestMetrics(base.BaseTestCase):
    def test_a_host_is_shown_in_any_case(self) -> None:
        store = Store(per_host=False)
        own = {'scope': 'a', 'run': 'r', 'host': 'h', 'state': 'late'}
        store.show('run r', [Gauge(maintenance.HOST_STATE, 1, own)], 'a')
        ((row, labels, value),) = store.values()
        self.assertEqual(maintenance.HOST_STATE, row.name)
        self.assertEqual((('a', 'r', 'h', 'late'), 1), (labels, value))

    def test_each_name_stands_in_the_list(self) -> None:
        names = {
            value
            for key, value in vars(maintenance).items()
            if key.isupper() and isinstance(value, str)
        }
        self.assertEqual(names, {row.name for row in maintenance.METRICS})
        self.assertLessEqual(names, {*catalogue.BY_NAME})
