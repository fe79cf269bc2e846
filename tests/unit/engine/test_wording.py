# SPDX-License-Identifier: Apache-2.0
"""Do numbers and lists read as somebody would write them?"""

from oslotest import base

from kronos.engine import wording


class TestWording(base.BaseTestCase):
    def test_some(self) -> None:
        for names, limit, text in (
            ([], 5, ''),
            (['a'], 5, 'a'),
            (['a', 'b'], 2, 'a, b'),
            (['a', 'b', 'c'], 2, 'a, b and 1 more'),
            ({'a': 1, 'b': 2}, 1, 'a and 1 more'),
        ):
            self.assertEqual(text, wording.some(names, limit))

    def test_counted(self) -> None:
        for number, what, text in (
            (0, 'host', '0 hosts'),
            (1, 'host', '1 host'),
            (2, 'host', '2 hosts'),
            (1, 'host that is down', '1 host that is down'),
            (2, 'instance that cannot move', '2 instances that cannot move'),
        ):
            self.assertEqual(text, wording.counted(number, what))
