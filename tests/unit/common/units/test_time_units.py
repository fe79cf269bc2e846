# SPDX-License-Identifier: Apache-2.0
"""Is a duration with a unit told from what is none?"""

from oslotest import base

from kronos.common.units import time_units


class TestSeconds(base.BaseTestCase):
    def test_durations(self) -> None:
        for text, number in (
            ('5m', 300),
            ('90s', 90),
            ('1h30m', 5400),
            ('1h 30m', 5400),
            ('10 minutes', 600),
            ('2 hrs', 7200),
            ('1.5h', 5400),
            ('500ms', 0.5),
            ('7d', 604800),
            (' 2W ', 1209600),
        ):
            self.assertEqual(number, time_units.seconds(text), text)

    def test_what_is_none(self) -> None:
        for text in ('', '5', 'm', '5 parsecs', '5m or so', 'a5m', '5m,3s'):
            self.assertIsNone(time_units.seconds(text), text)

    def test_hint(self) -> None:
        self.assertEqual('write 300', time_units.hint('5m'))
        self.assertEqual('', time_units.hint('soon'))
