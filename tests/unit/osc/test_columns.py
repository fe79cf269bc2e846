# SPDX-License-Identifier: Apache-2.0
"""Do people and programs read the same in a column?"""

from oslotest import base

from kronos.osc import columns


class TestColumns(base.BaseTestCase):
    def test_number(self) -> None:
        number_column = columns.NumberColumn(0.62345)
        self.assertEqual(
            ('0.623', 0.62345),
            (number_column.human_readable(), number_column.machine_readable()),
        )
        none = columns.NumberColumn(None)
        self.assertEqual(
            ('', None), (none.human_readable(), none.machine_readable())
        )

    def test_numbers_are_sorted(self) -> None:
        cells = [
            columns.NumberColumn(value)
            for value in (0.5, None, 0.0, None, 0.1)
        ]
        self.assertEqual(
            [None, None, 0.0, 0.1, 0.5],
            [cell.machine_readable() for cell in sorted(cells)],
        )

    def test_lines(self) -> None:
        lines_column = columns.LinesColumn(
            [{'a': 1}, {'a': 2}], ['first', 'second']
        )
        self.assertEqual('first\nsecond', lines_column.human_readable())
        self.assertEqual([{'a': 1}, {'a': 2}], lines_column.machine_readable())

    def test_names(self) -> None:
        names_column = columns.NamesColumn(['a', 'b'])
        self.assertEqual('a, b', names_column.human_readable())
        self.assertEqual(['a', 'b'], names_column.machine_readable())

    def test_numbers_by_name(self) -> None:
        numbers_column = columns.NumbersColumn({'a': 3.0, 'b': 0.25})
        self.assertEqual('a: 3\nb: 0.25', numbers_column.human_readable())
