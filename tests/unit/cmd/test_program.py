# SPDX-License-Identifier: Apache-2.0
"""Do all commands end well, whatever becomes of them and their output?"""

import contextlib
import gzip
import importlib
import io
import json
import os
import pty
import re
import shlex
import signal
import struct
import subprocess
import sys
import termios
import tomllib
import warnings
from fcntl import ioctl
from typing import Any

import fixtures
import yaml
from oslotest import base

from kronos.cmd import program, tables
from tests import commands, places

TOP = places.TOP
CLUSTERS = TOP / 'tests' / 'fixtures' / 'clusters'
BY_HAND = CLUSTERS / 'by-hand.json'
COMMANDS = {
    'explain': ['examples/drain'],
    'record': ['/nonexistent/recording'],
    'replay': ['examples/uneven'],
    'simulate': ['/nonexistent/load'],
    'status': ['upgrade', 'check'],
    'test_config': ['--offline'],
}
FAILED = {'status': 255}
"""Exit statuses where 1 means something else."""
PROBING = ('status', 'test_config')
"""Commands that start other processes."""
HEAD = re.compile(r'^( +instance .* )?destination ')
PRINTING = {
    name: arguments
    for name, arguments in COMMANDS.items()
    if name not in ('record', 'simulate')
}


def script(name: str, *arguments: str) -> list[str]:
    """A command as it is installed."""
    code = (
        f'import sys; from kronos.cmd import scripts; '
        f'sys.exit(scripts.{name}())'
    )
    return [sys.executable, '-c', code, *arguments]


def run(command: list[str], **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        stderr=subprocess.PIPE,
        text=True,
        cwd=TOP,
        **{'stdout': subprocess.PIPE, **more},
    )


class ProgramTestCase(base.BaseTestCase):
    """Within this process, where that is the same: loading takes long."""

    def setUp(self) -> None:
        super().setUp()
        # It would silence the loggers of the tests that come after.
        self.useFixture(
            fixtures.MonkeyPatch('kronos.cmd.config_files.log', lambda _: None)
        )
        # Python shows those of libraries to tests only.
        quiet = warnings.catch_warnings()
        quiet.__enter__()
        self.addCleanup(quiet.__exit__, None, None, None)
        warnings.simplefilter('ignore')

    def given(self, name: str, arguments: list[str]) -> tuple[Any, ...]:
        """What the ``main`` takes; Watcher's plugins are not loaded."""
        return (arguments, lambda *_: {})[: 1 + (name in PROBING)]


class TestInstalled(base.BaseTestCase):
    def test_what_is_not_there(self) -> None:
        self.assertEqual('', program.installed('no-such-package'))


class TestEndings(ProgramTestCase):
    def told(self, name: str, err: str, text: str) -> None:
        """One line, of the command."""
        self.assertEqual(1, err.count('\n'), err)
        command = name.replace('_', '-')
        self.assertTrue(err.startswith(f'kronos-{command}: '), err)
        self.assertIn(text, err)

    def main(self, name: str, arguments: list[str], out: Any) -> Any:
        """Exit status and standard error, with another standard output."""
        module = importlib.import_module(f'kronos.cmd.{name}')
        err = io.StringIO()
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = module.main(*self.given(name, arguments))
        return code, err.getvalue()

    def test_a_full_disk(self) -> None:
        for name, arguments in PRINTING.items():
            for more in (arguments, ['--help'], ['--version']):
                # Bytes that were not written fail once more at its end.
                with open('/dev/full', 'w') as full:
                    code, err = self.main(name, more, full)
                self.assertEqual(FAILED.get(name, 1), code, (name, more))
                self.told(name, err, 'standard output: No space left')

    def test_a_closed_output(self) -> None:
        for name, arguments in PRINTING.items():
            code, err = self.main(name, arguments, None)
            self.assertEqual(FAILED.get(name, 1), code, name)
            self.told(name, err, 'standard output: it is closed')

    def test_as_a_process(self) -> None:
        command = shlex.join(script('replay', str(BY_HAND)))
        for end, text in (
            ('>&-', 'kronos-replay: standard output: it is closed\n'),
            ('| true', ''),
            ('2>&- >&-', ''),
        ):
            self.assertEqual(
                text, run(['sh', '-c', f'{command} {end}']).stderr
            )

    def test_an_interrupt(self) -> None:
        def interrupted(*_: Any) -> int:
            raise KeyboardInterrupt

        with contextlib.redirect_stderr(io.StringIO()) as err:
            code = program.command('kronos-replay')(interrupted)()
        self.assertEqual(130, code)
        self.assertEqual('kronos-replay: interrupted\n', err.getvalue())
        for name in COMMANDS:
            module = importlib.import_module(f'kronos.cmd.{name}')
            self.assertTrue(hasattr(module.main, '__wrapped__'), name)

    def test_an_interrupt_while_it_is_loaded(self) -> None:
        """As early as that: a traceback of imports is of no use."""
        code = (
            'import importlib, sys\n'
            'def interrupted(name): raise KeyboardInterrupt\n'
            'importlib.import_module = interrupted\n'
            'from kronos.cmd import scripts\n'
            'sys.exit(scripts.test_config())\n'
        )
        done = run([sys.executable, '-c', code])
        self.assertEqual(130, done.returncode)
        self.assertEqual('kronos-test-config: interrupted\n', done.stderr)

    def test_what_is_installed_starts_there(self) -> None:
        scripts = tomllib.loads((TOP / 'pyproject.toml').read_text())
        self.assertEqual(
            # Services, and a command that needs a cloud for any answer, have
            # tests of their own.
            {
                f'kronos.cmd.scripts:{name}'
                for name in (
                    *COMMANDS,
                    'effect',
                    'exporter',
                    'instance_monitor',
                )
            },
            set(scripts['project']['scripts'].values()),
        )


class TestArguments(ProgramTestCase):
    def run_it(self, name: str, *arguments: str) -> tuple[int, str, str]:
        module = importlib.import_module(f'kronos.cmd.{name}')
        return commands.run(module.main, *self.given(name, list(arguments)))

    def test_the_version(self) -> None:
        for name in COMMANDS:
            command = name.replace('_', '-')
            self.assertEqual(
                (0, f'kronos-{command} {program.version()}\n', ''),
                self.run_it(name, '--version'),
            )

    def test_nothing_is_abbreviated(self) -> None:
        for name, arguments in COMMANDS.items():
            code, _, err = self.run_it(name, *arguments, '--versio')
            self.assertEqual(2, code, name)
            self.assertIn('unrecognized arguments: --versio', err)

    def test_yaml_has_what_json_has(self) -> None:
        for name, words in (
            ('replay', ['examples/uneven']),
            ('replay', ['examples/uneven', 'examples/pack']),
            ('explain', ['examples/uneven', '--host', 'cmp01']),
            ('test_config', ['--offline']),
        ):
            found = {}
            for form, read in (('json', json.loads), ('yaml', yaml.safe_load)):
                _, out, _ = self.run_it(name, *words, '-f', form)
                found[form] = read(out)
                found[form].pop('command', None)
            self.assertEqual(found['json'], found['yaml'])

    def test_an_unknown_option_comes_first(self) -> None:
        """Before what is missing, which it may have been meant to give."""
        for name, words, text in (
            (
                'replay',
                ['--polices', 'x'],
                '--polices; did you mean --policies?',
            ),
            (
                'explain',
                ['--hosts=cmp01'],
                '--hosts=cmp01; did you mean --host?',
            ),
            (
                'record',
                ['--anonymous'],
                '--anonymous; did you mean --anonymize?',
            ),
            ('status', ['-q', 'upgrade'], '-q'),
            ('status', ['upgrade', '--jsn'], '--jsn; did you mean --json?'),
            ('test_config', ['--format', 'xml', '--foo'], '--foo'),
        ):
            code, out, err = self.run_it(name, *words)
            self.assertEqual((2, ''), (code, out), err)
            self.assertIn(f'error: unrecognized arguments: {text}', err)
        for words, text in (
            ([], 'arguments are required: PATH'),
            (['-fjson', '--set=a=-1'], 'arguments are required: PATH'),
            (['--max-migrations', '-1'], 'not a whole number'),
            (['--', '--polices'], '--polices: '),
        ):
            _, _, err = self.run_it('replay', *words)
            self.assertIn(text, err)
            self.assertNotIn('unrecognized', err)
        code, out, _ = self.run_it('replay', '--polices', '--help')
        self.assertEqual(0, code)

    def test_standard_input(self) -> None:
        """A file of its own format, gzipped or not."""
        _, out, _ = self.run_it('replay', str(BY_HAND), '-f', 'json')
        for data in (
            BY_HAND.read_bytes(),
            gzip.compress(BY_HAND.read_bytes()),
        ):
            done = subprocess.run(
                script('replay', '-', '-f', 'json'),
                input=data,
                capture_output=True,
            )
            document = json.loads(done.stdout)
            self.assertEqual('-', document['recording']['path'])
            self.assertEqual(json.loads(out)['scopes'], document['scopes'])

    def test_policies_of_standard_input(self) -> None:
        policies = TOP / 'kronos' / 'examples' / 'uneven' / 'policies.yaml'
        command = script('replay', 'examples/uneven', '--compare', '-')
        with policies.open() as file:
            self.assertEqual(0, run(command, stdin=file).returncode)

    def test_standard_input_is_there_once(self) -> None:
        for name in ('replay', 'explain'):
            code, _, err = self.run_it(name, '-', '--policies', '-')
            self.assertEqual(2, code)
            self.assertIn('- can be used only once', err)


class TestTermination(base.BaseTestCase):
    def test_it_stays(self) -> None:
        before = signal.getsignal(signal.SIGTERM)
        with program.Termination() as termination:
            self.assertFalse(termination.wait(0.001))
            self.assertFalse(termination.is_set())
            os.kill(os.getpid(), signal.SIGTERM)
            for _ in range(2):
                self.assertTrue(termination.wait(60))
                self.assertTrue(termination.is_set())
        self.assertIs(before, signal.getsignal(signal.SIGTERM))

    def test_in_the_middle_of_a_wait(self) -> None:
        """At whichever line of the standard library it comes."""
        lines = 0

        def trace(*_: object) -> object:
            nonlocal lines
            lines += 1
            if lines == line:
                os.kill(os.getpid(), signal.SIGTERM)
            return trace

        for line in range(1, 8):
            lines = 0
            with program.Termination() as termination:
                sys.settrace(trace)
                try:
                    termination.wait(0.001)
                finally:
                    sys.settrace(None)
                # The last line is of what turns the tracing off.
                self.assertEqual(lines >= line, termination.is_set())


class TestTerminal(base.BaseTestCase):
    """What is printed to a terminal of so many columns."""

    def lines(self, columns: int, *command: str) -> list[str]:
        ours, theirs = pty.openpty()
        size = struct.pack('HHHH', 50, columns, 0, 0)
        ioctl(theirs, termios.TIOCSWINSZ, size)
        env = {k: v for k, v in os.environ.items() if k != 'COLUMNS'}
        process = subprocess.Popen(
            command, stdout=theirs, cwd=TOP, env=env, stdin=subprocess.DEVNULL
        )
        os.close(theirs)
        data = b''
        # A terminal whose other side is gone answers with an error.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 65536):
                data += part
        os.close(ours)
        self.assertIn(process.wait(), (0, 1))
        return data.decode().replace('\r\n', '\n').splitlines()

    def table(self, lines: list[str]) -> list[str]:
        """The table of the steps."""
        at = next(i for i, line in enumerate(lines) if HEAD.search(line))
        return lines[at : at + 5]

    def test_tables_fit(self) -> None:
        for columns in (80, 120):
            lines = self.lines(columns, *script('replay', 'examples/uneven'))
            widest = max(map(len, self.table(lines)))
            self.assertLessEqual(widest, columns)
        lines = self.lines(
            80, *script('explain', 'examples/uneven', '--instance', 'web-8')
        )
        self.assertLessEqual(max(map(len, self.table(lines))), 80)

    def test_wide_ones(self) -> None:
        command = script('replay', 'examples/uneven', '--wide')
        wide = self.table(self.lines(80, *command))
        piped = run(script('replay', 'examples/uneven')).stdout.splitlines()
        self.assertEqual(self.table(piped), wide)
        self.assertGreater(max(map(len, wide)), 80)


class TestTables(base.BaseTestCase):
    def test_the_widest_column_is_wrapped(self) -> None:
        rows = [('name', 'why'), ('a' * 14, 'because of ' * 9)]
        result = tables.aligned(rows, 50)
        self.assertLessEqual(max(map(len, result)), 50)
        self.assertIn('a' * 14, result[1])

    def test_what_may_be_left_out_goes_first(self) -> None:
        rows = [('name', 'x', 'y'), ('a' * 30, '1' * 12, '2' * 12)]
        self.assertEqual(['name', 'a' * 30], tables.aligned(rows, 40, extra=2))
        self.assertIn('2', tables.aligned(rows, 60, extra=2)[1])

    def test_no_rows(self) -> None:
        self.assertEqual([], tables.aligned([]))
        self.assertEqual('a,b', tables.printed([('a', 'b')], 'csv'))
