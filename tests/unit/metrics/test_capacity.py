# SPDX-License-Identifier: Apache-2.0
"""Are the metrics of slots in the list, each by scope and flavor?"""

from oslotest import base

from kronos.metrics import capacity, catalogue


class TestCapacity(base.BaseTestCase):
    def test_listed(self) -> None:
        for row in capacity.METRICS:
            self.assertIs(row, catalogue.BY_NAME[row.name])
            self.assertEqual(('scope', 'flavor'), row.labels)
