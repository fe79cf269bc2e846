# SPDX-License-Identifier: Apache-2.0
"""Does text get to a terminal unharmed, and do it no harm?"""

import contextlib
import io
import os
from unittest import mock

from oslotest import base

from kronos.cmd import terminal


class TestLines(base.BaseTestCase):
    def test_a_document(self) -> None:
        """Keys are names, too; numbers stay."""
        lines = terminal.lines({'a\nb': ['c\n', ('d\x00', 1.5, None)]})
        self.assertEqual({'a?b': ['c?', ['d?', 1.5, None]]}, lines)


class TestShow(base.BaseTestCase):
    def shown(self, text: str, encoding: str) -> bytes:
        raw = io.BytesIO()
        out = io.TextIOWrapper(raw, encoding)
        with contextlib.redirect_stdout(out):
            terminal.show(text)
        return raw.getvalue()

    def test_what_the_encoding_lacks(self) -> None:
        self.assertEqual(b'h\\xf6st\n', self.shown('höst', 'ascii'))
        self.assertEqual('höst\n'.encode(), self.shown('höst', 'utf-8'))

    def test_no_output(self) -> None:
        with contextlib.redirect_stdout(None):
            error = self.assertRaises(
                terminal.OutputError, terminal.show, 'text'
            )
        self.assertEqual('it is closed', str(error))

    def test_a_full_disk(self) -> None:
        with open('/dev/full', 'w') as full, contextlib.redirect_stdout(full):
            error = self.assertRaises(
                terminal.OutputError, terminal.show, 'text'
            )
        self.assertIn('No space left', str(error))

    def test_nobody_reads(self) -> None:
        """That is no error: who reads has seen enough."""
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, 'w') as out, contextlib.redirect_stdout(out):
            terminal.show('text')


class TestComplain(base.BaseTestCase):
    def test_one_line(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as err:
            terminal.complain('kronos-replay', 'a\nb\x1b')
        self.assertEqual('kronos-replay: a?b?\n', err.getvalue())

    def test_nobody_listens(self) -> None:
        with contextlib.redirect_stderr(None):
            terminal.complain('kronos-replay', 'a')
        with open('/dev/full', 'w') as full, contextlib.redirect_stderr(full):
            terminal.complain('kronos-replay', 'a')
            # What is left to write would fail once more at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())


class TestWidth(base.BaseTestCase):
    def test_no_terminal(self) -> None:
        for out in (None, io.StringIO()):
            with contextlib.redirect_stdout(out):
                self.assertIsNone(terminal.width())

    def test_a_terminal(self) -> None:
        out = mock.Mock(isatty=lambda: True)
        with (
            contextlib.redirect_stdout(out),
            mock.patch(
                'shutil.get_terminal_size',
                return_value=os.terminal_size((99, 9)),
            ),
        ):
            self.assertEqual(99, terminal.width())
