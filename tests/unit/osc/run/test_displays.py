# SPDX-License-Identifier: Apache-2.0
"""Are looks lines in a pipe, and a bar on a terminal?"""

from oslotest import base

from kronos.osc.run import displays
from kronos.osc.run.views import View
from tests.unit.osc.run.scripted import Stream


class TestLineDisplay(base.BaseTestCase):
    def test_a_line_for_each_change(self) -> None:
        stream = Stream()
        display = displays.LineDisplay(stream)
        for text, estimate in (('a', ''), ('a', '5 s'), ('b', '4 s')):
            display.show(View(text, estimate))
        self.assertEqual('a\nb, 4 s\n', stream.getvalue())


class TestTerminalDisplay(base.BaseTestCase):
    def test_what_is_shown(self) -> None:
        stream = Stream(is_terminal=True)
        display = displays.TerminalDisplay(stream)
        display.show(View('plan', '5 s left', 1, 2, ['[red]web :smile:']))
        display.close()
        seen = stream.getvalue()
        for text in ('plan, 5 s left', '━', '  [red]web :smile:'):
            self.assertIn(text, seen)

    def test_it_can_be_closed_before_and_again(self) -> None:
        stream = Stream(is_terminal=True)
        display = displays.TerminalDisplay(stream)
        display.close()
        self.assertEqual('', stream.getvalue())
        display.show(View('a'))
        display.close()
        display.close()
        display.show(View('b'))
        display.close()
        self.assertIn('b', stream.getvalue())
