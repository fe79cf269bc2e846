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
            'at https://***@prom:9090/x: no',
            status.fit('at https://joe:pass@prom:9090/x: no'),
        )

    def test_many_urls(self):
        """Each character is looked at some times, not once for each other."""
        text = '://' * 300_000
        self.assertEqual('://' * 69 + '...', status.fit(text))
        self.assertEqual('://***@x', status.fit(text + '@x'))

    def test_what_a_database_refuses(self):
        """MySQL's utf8 ends at U+FFFF."""
        self.assertEqual(
            'h\u00f6st \uffff ? ? ?',
            status.fit('h\u00f6st \uffff \U0001f600 \ud83d \x00'),
        )
        self.assertEqual(210, len(status.fit('\U0001f600' * 999)))
