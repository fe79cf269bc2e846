# SPDX-License-Identifier: Apache-2.0
"""Are dates of options understood?"""

from oslotest import base

from kronos.common.units import dates


class TestDates(base.BaseTestCase):
    def test_seconds(self):
        midnight = 1798675200.0
        for text, number in (
            ('2026-12-31', midnight),
            (' 2026-12-31 ', midnight),
            ('2026-12-31T18:00', midnight + 18 * 3600),
            ('2026-12-31T18:00+01:00', midnight + 17 * 3600),
            ('2026-12-31T18:00Z', midnight + 18 * 3600),
        ):
            self.assertEqual(number, dates.seconds(text), text)
            self.assertEqual('', dates.fault(text))

    def test_no_date(self):
        for text in ('soon', '2026-02-30', '31.12.2026', '5', ''):
            self.assertIn('is not a date: write it as', dates.fault(text))
