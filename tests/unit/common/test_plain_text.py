# SPDX-License-Identifier: Apache-2.0
"""Does what others wrote get to people without doing harm?"""

from oslotest import base

from kronos.common import plain_text


class TestPlain(base.BaseTestCase):
    def test_what_steers(self) -> None:
        for text, told in (
            ('a b\tc', 'a b?c'),
            ('\x1b[31mred', '?[31mred'),
            ('a\u202edesrever', 'a?desrever'),
            ('a\u2028b\ufeffc', 'a?b?c'),
            ('höst 東京', 'höst 東京'),
        ):
            self.assertEqual(told, plain_text.plain(text))
            self.assertEqual(told, plain_text.line(text))

    def test_lines(self) -> None:
        """Several are several, unless they are to be one."""
        self.assertEqual('a\nb', plain_text.plain('a\nb'))
        self.assertEqual('a?b', plain_text.line('a\nb'))
