# SPDX-License-Identifier: Apache-2.0
"""Every command of the documentation runs, here or in the lab's tests."""

import os
import pathlib
import subprocess
import sys

import fixtures
import testscenarios
import yaml
from oslotest import base

from tests import documented

# First word: where such commands are run.
HERE = (
    './tools/generate',
    'kronos-explain',
    'kronos-replay',
    'kronos-simulate',
    'oslo-config-generator',
    'oslo-config-validator',
    'sed',
)
SILENT = ('oslo-config-validator', 'sed')
HELP = ('./tools/chaos', './tools/lab', './tools/supported', './tools/test')
IN_THE_LAB = (
    'eval',
    'openstack',
    'kronos-effect',
    'kronos-record',
    'kronos-status',
    'kronos-test-config',
)


load_tests = testscenarios.load_tests_apply_scenarios
"""Each page is a test of its own for stestr, which spreads them."""


def commands_by_page() -> dict[str, list[str]]:
    """The commands that run here; each runs for the first page with it."""
    pages: dict[str, list[str]] = {}
    taken = set()
    for page, command in documented.commands():
        if command.split()[0] not in HERE or documented.why_not_run(command):
            continue
        if command not in taken:
            taken.add(command)
            pages.setdefault(page, []).append(command)
    return pages


class CommandTestCase(base.BaseTestCase):
    def _desk(self) -> str:
        """What looks like a clone, and may be written into."""
        desk = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for path in documented.TOP.iterdir():
            (desk / path.name).symlink_to(path)
        return str(desk)

    def _run(self, command: str, where: str | None = None) -> str:
        env = {
            **os.environ,
            'PATH': f'{pathlib.Path(sys.executable).parent}:'
            + os.environ['PATH'],
        }
        done = subprocess.run(
            ['bash', '-euc', command],
            cwd=where or documented.TOP,
            env=env,
            capture_output=True,
            text=True,
        )
        self.assertEqual(
            0, done.returncode, f'{command}\n{done.stdout}\n{done.stderr}'
        )
        return done.stdout


class TestPages(testscenarios.WithScenarios, CommandTestCase):
    """The commands of each page run, in the order of the page.

    What one writes, a later one reads. What any page shows of the output is a
    part of it, line by line.
    """

    TIMEOUT_SCALING_FACTOR = 2
    scenarios = [
        (page, {'commands': commands})
        for page, commands in commands_by_page().items()
    ]
    commands: list[str]

    def test_commands_run(self):
        desk, outputs = self._desk(), {}
        for command in self.commands:
            output = self._run(command, desk)
            is_silent = command.split()[0] in SILENT
            self.assertEqual(is_silent, output == '', command)
            outputs[command] = [
                ' '.join(line.split()) for line in output.splitlines()
            ]
        for command, line in documented.shown():
            if command in outputs and line != documented.LEFT_OUT:
                self.assertIn(' '.join(line.split()), outputs[command])


class TestDocumented(CommandTestCase):
    def test_every_command_is_of_a_known_kind(self):
        known = {*HERE, *HELP, *IN_THE_LAB, *documented.NOT_RUN}
        unknown = [
            (where, command)
            for where, command in documented.commands()
            if command.split()[0] not in known and where != documented.TUTORIAL
        ]
        self.assertEqual([], unknown)
        self.assertGreater(len(list(documented.commands())), 5)

    def test_what_is_not_run_is_shown_somewhere(self):
        """Else it needs no reason any more."""
        words = {command.split()[0] for _, command in documented.commands()}
        self.assertEqual(set(), {*documented.NOT_RUN} - words)

    def test_a_newcomer_needs_two_commands(self):
        """The README's, where there is no clone and no cloud."""
        words = [command for _, command in documented.commands()]
        at = words.index('pip install .')
        empty = self.useFixture(fixtures.TempDir()).path
        self.assertIn('20 migrations', self._run(words[at + 1], empty))

    def test_subcommands_of_the_tools_are_in_their_help(self):
        subcommands: dict[str, set[str]] = {}
        for _where, command in documented.commands():
            tool, *words = command.split()
            if tool in HELP:
                plain = (word for word in words if word[0] != '-')
                subcommands.setdefault(tool, set()).add(next(plain, ''))
        for tool, names in subcommands.items():
            output = self._run(f'{tool} --help')
            self.assertEqual(
                [], [name for name in names if name not in output]
            )

    def test_every_file_of_a_command_is_shown(self):
        named = [
            command.split('--scope ')[1].split()[0]
            for _where, command in documented.commands()
            if command.startswith('openstack') and '--scope ' in command
        ]
        self.assertNotEqual([], named)
        for name in named:
            scope = yaml.safe_load(documented.samples()[name])
            self.assertEqual(
                ['compute'], [key for one in scope for key in one]
            )

    def test_the_extra_to_install_exists(self):
        pyproject = (documented.TOP / 'pyproject.toml').read_text()
        for _where, command in documented.commands():
            if command.startswith('pip install '):
                name, _, extra = command.split()[-1].partition('[')
                if name != '.':
                    self.assertIn(f'name = "{name}"', pyproject)
                if extra:
                    self.assertIn(f'\n{extra.rstrip("]")} = [', pyproject)
