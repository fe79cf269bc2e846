# SPDX-License-Identifier: Apache-2.0
"""Do the metrics of limits keep to sums over a scope?"""

from oslotest import base

from kronos.metrics import catalogue, limits


class TestLimits(base.BaseTestCase):
    def test_labels(self) -> None:
        for row in limits.METRICS:
            self.assertIn(row, catalogue.METRICS)
            self.assertLessEqual({*row.labels}, {'scope', 'kind'}, row.name)
