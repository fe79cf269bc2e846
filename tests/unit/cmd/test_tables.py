# SPDX-License-Identifier: Apache-2.0
"""Do rows fit where they are printed, with nothing lost on the way?"""

import csv
import io
import json

import numpy
import yaml
from oslotest import base

from kronos.cmd import tables

ROWS = [
    ('host', 'score', 'why'),
    ('cmp1', '0.1250', 'its nova-compute service is disabled by an operator'),
    ('cmp10', '0.5', ''),
]


class TestAligned(base.BaseTestCase):
    def test_columns_begin_below_each_other(self) -> None:
        lines = tables.aligned(ROWS)
        self.assertEqual(['host   score   why', 'cmp10  0.5'], lines[::2])
        self.assertEqual(
            {lines[0].index('why')}, {line.find('its') for line in lines[1:2]}
        )

    def test_no_rows(self) -> None:
        self.assertEqual([], tables.aligned([]))
        self.assertEqual([], tables.aligned([], 40))

    def test_as_wide_as_the_terminal(self) -> None:
        """The widest column is wrapped; numbers and names stay whole."""
        lines = tables.aligned(ROWS, 40)
        self.assertLessEqual(max(map(len, lines)), 40)
        self.assertTrue(lines[1].startswith('cmp1   0.1250  its'))
        words = ' '.join(' '.join(lines).split())
        self.assertIn('is disabled', words)
        for word in ROWS[1][2].split():
            self.assertIn(word, words)

    def test_what_fits_is_not_wrapped(self) -> None:
        wide = tables.aligned(ROWS)
        self.assertEqual(wide, tables.aligned(ROWS, max(map(len, wide))))

    def test_wide_characters_that_fit(self) -> None:
        """東京 takes four columns of a terminal, and stays whole."""
        rows = [('name', 'host'), ('東京東京', 'cmp1')]
        self.assertEqual(2, len(tables.aligned(rows, 79)))

    def test_columns_that_may_be_left_out(self) -> None:
        """Where the table is too wide; not else."""
        self.assertIn('why', tables.aligned(ROWS, 79, extra=1)[0])
        lines = tables.aligned(ROWS, 40, extra=1)
        self.assertEqual('host   score', lines[0])

    def test_a_terminal_that_is_far_too_narrow(self) -> None:
        """Columns of some characters are not narrowed any more."""
        lines = tables.aligned(ROWS, 5)
        self.assertIn('0.1250', lines[1])

    def test_what_would_steer_a_terminal(self) -> None:
        [line] = tables.aligned([('a\x1b[31mb\nc', 'd')])
        self.assertEqual('a?[31mb?c  d', line)


class TestPrinted(base.BaseTestCase):
    def test_csv(self) -> None:
        """It is read as it was written."""
        rows = [*ROWS, ('a,b', 'c"d', 'e\nf')]
        text = tables.printed(rows, 'csv')
        self.assertEqual(
            [list(row) for row in rows], list(csv.reader(io.StringIO(text)))
        )

    def test_value(self) -> None:
        """Without the names of the columns."""
        text = tables.printed([ROWS[0], ('a', 'b\nc', 'd')], 'value')
        self.assertEqual('a b?c d', text)

    def test_no_cell_of_csv_is_a_formula(self) -> None:
        """A tenant chooses the name of a server."""
        name = '=HYPERLINK("http://example.org","x")'
        text = tables.printed([ROWS[0], (name, '-0.1', '-')], 'csv')
        [_, row] = csv.reader(io.StringIO(text))
        self.assertEqual([f"'{name}", '-0.1', '-'], row)


class TestWhole(base.BaseTestCase):
    def test_both_formats_have_the_same(self) -> None:
        document = {
            'name': 'h\u00f6st: \x1b[2J\ud800',
            'yes': [True, None, 'no', '1e3', numpy.float64(0.5)],
            'after': {'b': 1, 'a': []},
        }
        found = {form: tables.whole(document, form) for form in tables.WHOLE}
        self.assertEqual(document, json.loads(found['json']))
        self.assertEqual(document, yaml.safe_load(found['yaml']))
        self.assertEqual(
            ['name', 'yes', 'after'], list(yaml.safe_load(found['yaml']))
        )
        # What steers a terminal is escaped: nothing of it is lost.
        for text in found.values():
            self.assertTrue(text.isprintable() or text.isascii())
            self.assertNotIn('\x1b', text)

    def test_numbers_that_are_none(self) -> None:
        for form in tables.WHOLE:
            self.assertRaises(ValueError, tables.whole, float('nan'), form)
            self.assertIn(
                'nan', tables.whole(float('nan'), form, True).lower()
            )
