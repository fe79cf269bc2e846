# SPDX-License-Identifier: Apache-2.0
"""Is whatever a command contains one word of it, on one line?"""

import re
import shlex

from oslotest import base

from kronos.common import plain_text, shell_commands
from kronos.common.shell_commands import ShellCommand
from tests.builders.hostile_names import HOSTILE

FIELD = re.compile(r'\{(\w+)\}')


def fields(command: ShellCommand) -> list[str]:
    return FIELD.findall(command.value)


class TestCommands(base.BaseTestCase):
    def test_hostile_values(self) -> None:
        for command in ShellCommand:
            for hostile in HOSTILE:
                values = {
                    name: f'{hostile}{number}'
                    for number, name in enumerate(fields(command))
                }
                with self.subTest(command=command, values=values):
                    self.check(command, values)

    def check(self, command: ShellCommand, values: dict[str, str]) -> None:
        text = command.of(**values)
        self.assertEqual(plain_text.line(text), text)
        words = shlex.split(text)
        expected = [
            FIELD.sub(lambda m: plain_text.line(values[m[1]]), word)
            for word in command.value.split()
        ]
        # A value that looks like an option is not taken for one.
        self.assertEqual(
            expected, [part for word in words for part in self.parts(word)]
        )

    @staticmethod
    def parts(word: str) -> list[str]:
        option, _, value = word.partition('=')
        if option in ('--instance', '--name') and value.startswith('-'):
            return [option, value]
        return [word]

    def test_plain_values(self) -> None:
        self.assertEqual(
            'openstack server start 0b81-34',
            ShellCommand.SERVER_START.of(server='0b81-34'),
        )
        self.assertEqual(
            'openstack image list --name=-x',
            ShellCommand.IMAGE_LIST.of(name='-x'),
        )
        self.assertEqual(
            "openstack image delete a 'b c'",
            ShellCommand.IMAGE_DELETE.of(image=['a', 'b c']),
        )

    def test_value_is_missing(self) -> None:
        self.assertRaises(KeyError, ShellCommand.SERVER_START.of)

    def test_of_a_table(self) -> None:
        self.assertEqual(
            'openstack server start SERVER', ShellCommand.SERVER_START.general
        )
        self.assertEqual(
            'openstack image list --name NAME', ShellCommand.IMAGE_LIST.general
        )
        self.assertEqual(
            'openstack server set --state active',
            ShellCommand.SERVER_SET_ACTIVE.short,
        )

    def test_each_is_a_command_itself(self) -> None:
        for command in ShellCommand:
            with self.subTest(command=command):
                self.assertEqual(command.value.split(), shlex.split(command))


class TestWords(base.BaseTestCase):
    def test_joined(self) -> None:
        for hostile in HOSTILE:
            text = shell_commands.joined(['--set', f'x={hostile}'])
            self.assertEqual(
                ['--set', f'x={plain_text.line(hostile)}'], shlex.split(text)
            )
