# SPDX-License-Identifier: Apache-2.0
"""Are windows and freezes read as they are written?"""

import datetime

from oslotest import base

from kronos.windows import rules
from kronos.windows.errors import WindowError

UTC = datetime.UTC


def at(text: str) -> float:
    """Unix seconds of a time in UTC."""
    return (
        datetime.datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    )


class TestWindow(base.BaseTestCase):
    def test_forms(self) -> None:
        for text, days, start, end in (
            ('Mon-Fri 22:00-05:30 Europe/Berlin', {0, 1, 2, 3, 4}, 1320, 1770),
            ('Sat,Sun 00:00-24:00 UTC', {5, 6}, 0, 1440),
            ('fri-MON  08:00 - 09:00  UTC', {4, 5, 6, 0}, 480, 540),
            ('Mon, Wed-Thu 23:00-00:00 UTC', {0, 2, 3}, 1380, 1440),
            ('Tue 00:00-00:01 Asia/Kathmandu', {1}, 0, 1),
        ):
            window = rules.window(text)
            self.assertEqual(
                (days, start, end), (window.days, window.start, window.end)
            )

    def test_refused(self) -> None:
        for text, rule in (
            ('', 'this is no window'),
            ('Mon 08:00-09:00', 'this is no window'),
            ('Mon 8:00-9:00 UTC', 'this is no window'),
            ('08:00-09:00 UTC', 'this is no window'),
            ('Mon 08:00-09:00 UTC; DROP TABLE', 'this is no window'),
            ('Mon 08:00-09:00 UTC\nTue', 'this is no window'),
            ('Mon \u0661\u0662:00-13:00 UTC', 'this is no window'),
            ('x' * 10**6, 'this is no window'),
            ('Mon' + ',Mon' * 100 + ' 08:00-09:00 UTC', 'this is no window'),
            ('Mo 08:00-09:00 UTC', 'Mo is no day'),
            ('Mon-Wed-Fri 08:00-09:00 UTC', 'Wed-fri is no day'),
            ('Mon 08:60-09:00 UTC', '08:60 is no time of day'),
            ('Mon 08:00-24:01 UTC', '24:01 is no time of day'),
            ('Mon 24:00-08:00 UTC', 'starts at 23:59'),
            ('Mon 08:00-08:00 UTC', 'write 00:00-24:00'),
            ('Mon 08:00-09:00 CEST', 'CEST is not an IANA time zone'),
        ):
            error = str(self.assertRaises(WindowError, rules.window, text))
            self.assertIn(rule, error)
            self.assertTrue(error.isprintable(), error)
            self.assertLess(len(error), 400)

    def test_open(self) -> None:
        window = rules.window('Fri 22:00-05:30 UTC')
        for time, is_open in (
            ('2026-11-27 21:59:59', False),
            ('2026-11-27 22:00:00', True),
            ('2026-11-28 05:29:59', True),
            ('2026-11-28 05:30:00', False),
            ('2026-11-27 05:00:00', False),
        ):
            self.assertIs(is_open, window.is_open(at(time)), time)


class TestFreeze(base.BaseTestCase):
    def test_days(self) -> None:
        freeze = rules.freeze('2026-12-20/2027-01-06 Europe/Berlin')
        for time, holds in (
            ('2026-12-19 22:59:59', False),
            ('2026-12-19 23:00:00', True),
            ('2027-01-06 22:59:59', True),
            ('2027-01-06 23:00:00', False),
        ):
            self.assertIs(holds, freeze.holds(at(time)), time)

    def test_refused(self) -> None:
        for text, rule in (
            ('2026-12-20 UTC', 'this is no freeze'),
            ('2026-12-20/2027-01-06', 'this is no freeze'),
            ('2026-02-29/2026-03-01 UTC', '2026-02-29 is no date'),
            ('2026-03-02/2026-03-01 UTC', 'is before 2026-03-02'),
            ('2026-03-01/2026-03-02 Nowhere', 'is not an IANA time zone'),
        ):
            error = str(self.assertRaises(WindowError, rules.freeze, text))
            self.assertIn(rule, error)
