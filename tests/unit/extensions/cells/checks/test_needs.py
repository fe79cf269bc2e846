# SPDX-License-Identifier: Apache-2.0
"""Do programs read of a need whether it is met, is not, or is unknown?"""

from dataclasses import asdict

from oslotest import base

from kronos.extensions.cells.checks import needs


class TestNeed(base.BaseTestCase):
    def test_document(self) -> None:
        for is_good in (True, False, None):
            self.assertEqual(
                {
                    'what': 'x',
                    'value': '1',
                    'where': '/etc/nova/nova.conf',
                    'is_good': is_good,
                },
                asdict(needs.Need('x', '1', '/etc/nova/nova.conf', is_good)),
            )
