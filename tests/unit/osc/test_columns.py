# SPDX-License-Identifier: Apache-2.0
"""Do people and programs read the same in a column?"""

from oslotest import base

from kronos.osc import columns


class TestColumns(base.BaseTestCase):
    def test_number(self) -> None:
        one = columns.NumberColumn(0.62345)
        self.assertEqual(
            ('0.623', 0.62345), (one.human_readable(), one.machine_readable())
        )
        none = columns.NumberColumn(None)
        self.assertEqual(
            ('', None), (none.human_readable(), none.machine_readable())
        )

    def test_numbers_are_sorted(self) -> None:
        given = [
            columns.NumberColumn(one) for one in (0.5, None, 0.0, None, 0.1)
        ]
        self.assertEqual(
            [None, None, 0.0, 0.1, 0.5],
            [one.machine_readable() for one in sorted(given)],
        )

    def test_lines(self) -> None:
        one = columns.LinesColumn([{'a': 1}, {'a': 2}], ['first', 'second'])
        self.assertEqual('first\nsecond', one.human_readable())
        self.assertEqual([{'a': 1}, {'a': 2}], one.machine_readable())

    def test_names(self) -> None:
        one = columns.NamesColumn(['a', 'b'])
        self.assertEqual('a, b', one.human_readable())
        self.assertEqual(['a', 'b'], one.machine_readable())

    def test_numbers_by_name(self) -> None:
        one = columns.NumbersColumn({'a': 3.0, 'b': 0.25})
        self.assertEqual('a: 3\nb: 0.25', one.human_readable())
