# SPDX-License-Identifier: Apache-2.0
"""Is a status message short, on one line and without secrets?"""

from oslotest import base

from kronos.common import status


class FitTestCase(base.BaseTestCase):
    def test_short(self):
        self.assertEqual('one line', status.fit('one\n  line '))

    def test_long(self):
        text = status.fit('x' * 999)
        self.assertEqual(210, len(text))
        self.assertTrue(text.endswith('...'))

    def test_user_of_a_url(self):
        self.assertEqual(
            'at https://prom:9090/x: no',
            status.fit('at https://joe:pass@prom:9090/x: no'),
        )
