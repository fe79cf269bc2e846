# SPDX-License-Identifier: Apache-2.0
"""Is what takes long shown on a terminal, and nowhere else?"""

import contextlib
import importlib
import io
import os
import pty
import subprocess
import sys
from typing import Any

import fixtures
from oslotest import base

from kronos.cmd import replay, terminal
from kronos.cmd.screen import progress
from tests import commands, places

AT_ONCE = (
    'import sys\n'
    'from kronos.cmd.screen import progress\n'
    'progress.DELAY_SECONDS = progress.PERIOD_SECONDS = 0.001\n'
    'from kronos.cmd import scripts\n'
    'sys.exit(scripts.replay())\n'
)
"""The command, which waits for nothing before it shows what it does."""
LONG = {
    'replay': ['examples/uneven'],
    'explain': ['examples/uneven'],
    'record': ['/nonexistent/recording'],
    'test_config': ['--offline'],
    'status': ['upgrade', 'check'],
}
"""Commands that may take long."""
PROBING = ('status', 'test_config')
"""Those that start other processes."""


class Terminal(io.StringIO):
    """A terminal that keeps what it gets."""

    def isatty(self) -> bool:
        return True


class TestLine(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.now = 100.0
        self.useFixture(
            fixtures.MonkeyPatch(
                'kronos.cmd.screen.progress.time.monotonic', lambda: self.now
            )
        )
        self.out = Terminal()
        self.line = progress.ProgressLine('kronos-replay', self.out)

    def drawn(self) -> str:
        self.out.seek(0)
        self.out.truncate()
        self.line.draw()
        return self.out.getvalue()

    def test_what_and_how_long(self) -> None:
        self.line.set_step('planning big')
        self.now += 7.4
        self.assertEqual(
            f'{progress.ERASED}kronos-replay: planning big, 7 s', self.drawn()
        )
        self.line.set_count(3, 10)
        self.assertIn('planning big (3 of 10), 7 s', self.drawn())
        self.line.set_count(1, 1)
        self.assertNotIn('of', self.drawn())

    def test_it_steers_no_terminal_and_stays_on_one_line(self) -> None:
        self.line.set_step('planning \x1b[2J\n' + 'x' * 200)
        shown = self.drawn().removeprefix(progress.ERASED)
        self.assertIn('planning ?[2J?x', shown)
        self.assertEqual(progress.COLUMNS - 1, len(shown))

    def test_it_is_erased_once(self) -> None:
        self.line.erase()
        self.assertEqual('', self.out.getvalue())
        self.line.draw()
        self.line.erase()
        self.line.erase()
        self.assertEqual(2, self.out.getvalue().count(progress.ERASED))

    def test_a_terminal_that_is_gone(self) -> None:
        with open('/dev/full', 'w') as full:
            line = progress.ProgressLine('kronos-replay', full)
            line.draw()
            # What is left to write would fail once more at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())


class TestWhere(base.BaseTestCase):
    """Without a thread: whether there would be one."""

    def setUp(self) -> None:
        super().setUp()
        self.useFixture(fixtures.EnvironmentVariable('TERM', 'xterm'))
        self.started: list[str] = []
        for name in ('start', 'stop'):
            self.useFixture(
                fixtures.MonkeyPatch(
                    f'kronos.cmd.screen.progress.ProgressLine.{name}',
                    lambda _, name=name: self.started.append(name),
                )
            )

    def shown(self, out: Any, **more: bool) -> list[str]:
        self.started.clear()
        with (
            contextlib.redirect_stderr(out),
            progress.shown('kronos-replay', **more),
        ):
            progress.step('planning')
        return list(self.started)

    def test_a_terminal(self) -> None:
        self.assertEqual(['start', 'stop'], self.shown(Terminal()))

    def test_none_elsewhere(self) -> None:
        self.assertEqual([], self.shown(None))
        self.assertEqual([], self.shown(io.StringIO()))
        self.assertEqual([], self.shown(Terminal(), is_quiet=True))
        self.useFixture(fixtures.EnvironmentVariable('TERM', 'dumb'))
        self.assertEqual([], self.shown(Terminal()))

    def test_every_command(self) -> None:
        self.useFixture(
            fixtures.MonkeyPatch('kronos.cmd.config_files.log', lambda _: None)
        )
        for name, arguments in LONG.items():
            self.started.clear()
            module = importlib.import_module(f'kronos.cmd.{name}')
            given = [arguments, lambda *_: {}][: 1 + (name in PROBING)]
            with (
                contextlib.redirect_stderr(Terminal()),
                contextlib.redirect_stdout(io.StringIO()),
            ):
                module.main(*given)
            self.assertEqual(['start', 'stop'], self.started, name)

    def test_it_makes_room_for_what_is_printed(self) -> None:
        erased = []
        self.useFixture(
            fixtures.MonkeyPatch(
                'kronos.cmd.screen.progress.ProgressLine.erase',
                lambda _: erased.append(1),
            )
        )
        with (
            contextlib.redirect_stderr(Terminal()),
            contextlib.redirect_stdout(io.StringIO()),
            progress.shown('kronos-replay'),
        ):
            terminal.show('a plan')
            terminal.complain('kronos-replay', 'warning: something')
        self.assertEqual([1, 1], erased)

    def test_none_in_a_pipe(self) -> None:
        self.useFixture(
            fixtures.MonkeyPatch('kronos.cmd.screen.progress.DELAY_SECONDS', 0)
        )
        code, out, err = commands.run(replay.main, ['examples/uneven'])
        self.assertEqual((0, ''), (code, err))
        self.assertNotIn('\x1b', out)


class TestProcess(base.BaseTestCase):
    def test_a_terminal(self) -> None:
        """A real one; standard output, a pipe, gets nothing of it."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, '-c', AT_ONCE, 'examples/uneven'],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=theirs,
            cwd=places.TOP,
            env={**os.environ, 'TERM': 'xterm'},
        )
        os.close(theirs)
        data = b''
        # A terminal whose other side is gone answers with an error.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 65536):
                data += part
        os.close(ours)
        out, _ = process.communicate()
        err = data.decode()
        self.assertTrue(err.startswith(progress.ERASED), err)
        self.assertIn('kronos-replay: planning ', err)
        self.assertTrue(err.endswith(progress.ERASED), err)
        self.assertTrue(out.startswith(b'Scope compute\n'), out)
        self.assertNotIn(b'\x1b', out)
