# SPDX-License-Identifier: Apache-2.0
"""Does what others wrote get to people without doing harm?"""

from oslotest import base

from kronos.common import plain_text


class TestPlain(base.BaseTestCase):
    def test_what_steers(self) -> None:
        for text, expected in (
            ('a b\tc', 'a b?c'),
            ('\x1b[31mred', '?[31mred'),
            ('a\u202edesrever', 'a?desrever'),
            ('a\u2028b\ufeffc', 'a?b?c'),
            ('höst 東京', 'höst 東京'),
            ('a\ud800b\udfff', 'a?b?'),
        ):
            self.assertEqual(expected, plain_text.plain(text))
            self.assertEqual(expected, plain_text.line(text))

    def test_lines(self) -> None:
        """Several are several, unless they are to be one."""
        self.assertEqual('a\nb', plain_text.plain('a\nb'))
        self.assertEqual('a?b', plain_text.line('a\nb'))


class TestCell(base.BaseTestCase):
    def test_formulas(self) -> None:
        for text in (
            '=1+1',
            '+cmd',
            '-2+3',
            '@SUM(A1)',
            ' =1',
            '\t=1',
            '\uff1d1',
            '-> h2',
            '+1 (h1)',
        ):
            self.assertEqual(f"'{text}", plain_text.cell(text))

    def test_what_is_none(self) -> None:
        for text in ('', 'a=b', '-', '-0.25', '+1', '-1e-05', '-inf', '1-2'):
            self.assertEqual(text, plain_text.cell(text))
