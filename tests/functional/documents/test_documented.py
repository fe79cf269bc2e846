# SPDX-License-Identifier: Apache-2.0
"""Every command of the documentation runs, here or in the lab's tests."""

import os
import pathlib
import subprocess
import sys

import fixtures
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


class TestDocumented(base.BaseTestCase):
    TIMEOUT_SCALING_FACTOR = 3
    """The commands of all pages run in one test."""

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

    def test_commands_for_anywhere_run(self):
        """In their order: what one writes, a later one reads.

        What a page shows of the output is a part of it, line by line.
        """
        desk, ran, outputs = self._desk(), 0, {}
        for command in dict.fromkeys(one for _, one in documented.commands()):
            word = command.split()[0]
            if word in HERE and not documented.why_not_run(command):
                told = self._run(command, desk)
                self.assertEqual(word in SILENT, told == '', command)
                outputs[command] = [
                    ' '.join(one.split()) for one in told.splitlines()
                ]
                ran += 1
        self.assertGreater(ran, 0)
        for command, line in documented.shown():
            if command in outputs and line != documented.LEFT_OUT:
                self.assertIn(' '.join(line.split()), outputs[command])

    def test_a_newcomer_needs_two_commands(self):
        """The README's, where there is no clone and no cloud."""
        words = [command for _, command in documented.commands()]
        at = words.index('pip install .')
        empty = self.useFixture(fixtures.TempDir()).path
        self.assertIn('20 migrations', self._run(words[at + 1], empty))

    def test_subcommands_of_the_tools_are_in_their_help(self):
        for _where, command in documented.commands():
            words = command.split()
            if words[0] in HELP:
                self.assertIn(
                    next((w for w in words[1:] if w[0] != '-'), ''),
                    self._run(f'{words[0]} --help'),
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
