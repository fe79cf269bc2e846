# SPDX-License-Identifier: Apache-2.0
"""Are there colours on a terminal, and only where they are wanted?"""

import contextlib
import io
import re
from typing import Any

import fixtures
from oslotest import base

from kronos.cmd import terminal
from kronos.cmd.screen import colours

TEXT = """\
Scope compute: 2 migrations planned
Hosts further above: 2 -> 1
Not judged: policy cpu has no samples
Warning: something
    to try it: kronos-replay DIR

Findings
  ERROR no-policies: there is none
  WARNING old-samples: an ERROR of the clock
| Result: Failure                  |
| Result: Warning                  |
| Result: Success                  |
"""
CODE = re.compile(r'\x1b\[\d*m')


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TestColours(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        for name, value in (('TERM', 'xterm'), ('NO_COLOR', None)):
            self.useFixture(fixtures.EnvironmentVariable(name, value))

    def shown(self, out: Any, text: str = TEXT) -> str:
        with contextlib.redirect_stdout(out):
            terminal.show(text)
        return str(out.getvalue())

    def test_what_is_coloured(self) -> None:
        result = self.shown(Terminal())
        coloured = re.findall(r'\x1b\[(\d+)m(.*?)\x1b\[0m', result)
        self.assertEqual(
            [
                ('1', 'Scope compute: 2 migrations planned'),
                ('33', 'Not judged'),
                ('33', 'Warning'),
                ('32', '    to try it'),
                ('1', 'Findings'),
                ('31', '  ERROR'),
                ('33', '  WARNING'),
                ('31', '| Result: Failure'),
                ('33', '| Result: Warning'),
                ('32', '| Result: Success'),
            ],
            coloured,
        )
        self.assertEqual(f'{TEXT}\n', CODE.sub('', result))

    def test_none_elsewhere(self) -> None:
        self.assertNotIn('\x1b', self.shown(io.StringIO()))
        for name, value in (('NO_COLOR', '1'), ('TERM', 'dumb')):
            with fixtures.EnvironmentVariable(name, value):
                self.assertNotIn('\x1b', self.shown(Terminal()))
        # An empty one counts as none.
        with fixtures.EnvironmentVariable('NO_COLOR', ''):
            self.assertIn('\x1b', self.shown(Terminal()))

    def test_a_name_brings_none(self) -> None:
        result = self.shown(Terminal(), 'Warning: \x1b[5mweb\x1b[0m')
        self.assertEqual(
            '\x1b[33mWarning\x1b[0m: ?[5mweb?[0m\n',
            result,
        )

    def test_warnings_of_a_command(self) -> None:
        for out, number in ((Terminal(), 2), (io.StringIO(), 0)):
            with contextlib.redirect_stderr(out):
                terminal.complain('kronos-record', 'warning: old samples')
                terminal.complain('kronos-record', 'DIR is written')
            self.assertEqual(number, len(CODE.findall(out.getvalue())))

    def test_documents_stay(self) -> None:
        """What programs read is coloured nowhere."""
        for text in ('{\n  "code": "ERROR"\n}', 'level: ERROR\n'):
            self.assertEqual(text, colours.painted(text))
