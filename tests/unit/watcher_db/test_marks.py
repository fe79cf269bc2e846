# SPDX-License-Identifier: Apache-2.0
"""What do the marks in an action's parameters say of its carrier?"""

import math

from oslotest import base

from kronos.watcher_db import marks


class LastSignTestCase(base.BaseTestCase):
    def sign(self, **parameters):
        return marks.last_sign(parameters, 'me')

    def test_the_later_one(self):
        other = {'by': 'other', 'at': 5.0}
        self.assertEqual(5.0, self.sign(carrier=other))
        self.assertEqual(7.0, self.sign(carrier=other, turn={'at': 7.0}))
        self.assertEqual(5.0, self.sign(carrier=other, turn={'at': 3.0}))

    def test_what_is_no_time(self):
        for value in (None, 'now', True, math.nan, 10**400):
            other = {'by': 'other', 'at': value}
            self.assertEqual(-math.inf, self.sign(carrier=other))
            self.assertEqual(7.0, self.sign(carrier=other, turn={'at': 7.0}))

    def test_nobody_else(self):
        self.assertEqual(-math.inf, self.sign(turn={'at': 7.0}))
        mine = {'by': 'me', 'at': 5.0}
        self.assertEqual(-math.inf, self.sign(carrier=mine, turn={'at': 7.0}))


class TestParsed(base.BaseTestCase):
    def test_what_is_no_object(self):
        for text in (None, '', 'no', '3', '[]', '[' * 10**5):
            self.assertIsNone(marks.parsed(text))
        self.assertEqual({'a': 1}, marks.parsed('{"a": 1}'))
