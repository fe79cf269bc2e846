# SPDX-License-Identifier: Apache-2.0
"""Are texts and numbers written so that nobody is misled?"""

import math

from oslotest import base

from kronos.reports.html import formatting


class TestTexts(base.BaseTestCase):
    def test_what_steers_a_reader_is_replaced(self) -> None:
        for odd in ('\x00', '\x1b', '\ud800', '\u202e', '\u2066', '\ufffe'):
            self.assertEqual('a\ufffdb', formatting.finalize(f'a{odd}b'))

    def test_other_writing_stays(self) -> None:
        for text in (
            'caf\u00e9',
            '\u05d0\u05d1',
            'a\nb\tc',
            '\U0001f600',
            '<&',
        ):
            self.assertEqual(text, formatting.finalize(text))

    def test_is_bounded(self) -> None:
        text = formatting.finalize('x' * 100_000)
        self.assertEqual(f'{"x" * 1000}\u2026 (99000 more)', text)

    def test_drawings_are_not(self) -> None:
        drawing = formatting.Drawing('M0 0' * 1000)
        self.assertIs(drawing, formatting.finalize(drawing))


class TestNumbers(base.BaseTestCase):
    def test_scores(self) -> None:
        for value, text in (
            (0.12345, '0.123'),
            (-0.0001, '0.000'),
            (-0.5, '-0.500'),
            (None, '\u2013'),
            (math.nan, '\u2013'),
            (math.inf, '\u2013'),
        ):
            self.assertEqual(text, formatting.score(value))

    def test_counts(self) -> None:
        self.assertEqual('20\u202f000', formatting.whole(20000))
        self.assertEqual('1 move', formatting.many(1, 'move'))
        self.assertEqual('0 moves', formatting.many(0, 'move'))

    def test_settings(self) -> None:
        for value, text in (
            (None, 'not set'),
            (False, 'no'),
            ([], 'none'),
            (['a', 'b'], 'a, b'),
            (0.05, '0.05'),
        ):
            self.assertEqual(text, formatting.setting(value))
