# SPDX-License-Identifier: Apache-2.0
"""The commands that Kronos shows are made in one place, right, and were run.

A command in a message is pasted into a root shell at night. So none is made
anywhere else, each is understood by its program, and a test has given it
where it is needed, or a reason says why none can.
"""

import argparse
import ast
import importlib
import re
import shlex
from collections.abc import Iterator
from importlib import metadata
from typing import Any
from unittest import mock

from nova.cmd import manage
from oslotest import base

from kronos.common.shell_commands import ShellCommand
from tests import places

PACKAGE = places.TOP / 'kronos'
MODULE = PACKAGE / 'common' / 'shell_commands.py'
ALERTS = places.TOP / 'deploy' / 'monitor' / 'prometheus-alerts.yaml'
COMMAND = re.compile(
    r'(?<![\w-])openstack (?!client\b)[a-z]+ [a-z]'
    r'|\bnova-manage\b|\bsystemctl\b|\bvirsh\b|\bjournalctl\b|\bpython3 '
    r'|\bkronos-(?:explain|record|replay|simulate|status|test-config)\b'
    r'|\bkronos-instance-monitor --'
)
"""What a command begins with."""
OWN_NAMES = ('PROGRAM',)
"""Constants in which a program says what it is called itself."""
OPTIONS = PACKAGE / 'conf'
"""Help texts of options are no messages."""

CELLS = 'tests/functional/cells/'
ENDS = f'{CELLS}test_cell_broken_ends.py:TestEnds.'
LATER_ENDS = f'{CELLS}test_cell_broken_ends_long.py:'
NOVA = 'tests/functional/nova/test_shell_commands.py:'
CLIENT = (
    'tests/functional/watcher/test_openstack_client.py:TestOpenStackClient.'
)
RUN_BY = {
    ShellCommand.SERVER_START: (
        f'{LATER_ENDS}TestOnItsWay.test_the_conductor_dies_with_volumes'
    ),
    ShellCommand.SERVER_STOP: (
        f'{LATER_ENDS}TestBeforeItLeaves.test_it_is_only_told'
    ),
    ShellCommand.SERVER_REBOOT: f'{ENDS}test_the_conductor_dies',
    ShellCommand.SERVER_DELETE: (
        f'{LATER_ENDS}TestDeletedOnItsWay.test_it_is_there_again'
    ),
    ShellCommand.SERVER_SET_ACTIVE: f'{NOVA}TestTask.test_one_that_never_ends',
    ShellCommand.SERVER_SET_ACTIVE_UNASKED: (
        'tests/lab/test_real.py:TestReal.'
        'test_what_has_no_end_is_told_and_left_running'
    ),
    ShellCommand.SERVER_SET_ERROR: f'{ENDS}test_the_conductor_dies',
    ShellCommand.RESIZE_CONFIRM: (
        f'{LATER_ENDS}TestAtItsEnd.test_the_source_is_down'
    ),
    ShellCommand.RESIZE_REVERT: (
        f'{CELLS}test_cell_rules_long.py:TestResize.'
        'test_the_way_back_is_over_quota'
    ),
    ShellCommand.SERVICE_LIST: (
        'tests/lab/test_documented.py:TestDocumented.test_openstack_commands'
    ),
    ShellCommand.HEAL_ALLOCATIONS: f'{NOVA}TestAllocations.test_elsewhere',
    ShellCommand.ALLOCATION_DELETE: f'{ENDS}test_the_conductor_dies',
    ShellCommand.LIST_CELLS: f'{NOVA}TestCells.test_names',
    ShellCommand.DELETE_HIDDEN_COPY: f'{ENDS}test_the_source_is_not_cleaned',
    ShellCommand.REFRESH_ATTACHMENT: (
        f'{LATER_ENDS}TestOnItsWay.test_the_conductor_dies_with_volumes'
    ),
    ShellCommand.IMAGE_DELETE: f'{ENDS}test_the_conductor_dies',
    ShellCommand.AUDIT_CREATE: f'{CLIENT}test_audit_that_is_not_there',
    ShellCommand.AUDIT_CANCEL: f'{CLIENT}test_audit_that_is_not_there',
    ShellCommand.PLAN_CANCEL: f'{CLIENT}test_a_plan_that_is_only_shown',
    ShellCommand.PLAN_MOVES: f'{CLIENT}test_a_plan_that_is_only_shown',
    ShellCommand.PLAN_START: f'{CLIENT}test_a_plan_and_its_servers',
    ShellCommand.PLAN_SHOW: (
        f'{CLIENT}test_what_was_deleted_and_what_is_another_strategys'
    ),
    ShellCommand.PLAN_LIST: (
        f'{CLIENT}test_what_was_deleted_and_what_is_another_strategys'
    ),
    ShellCommand.RUN_STATUS: (
        'tests/functional/watcher/test_maintain_client.py:'
        'TestMaintainClient.test_every_status'
    ),
    ShellCommand.TEST_CONFIG: (
        'tests/lab/test_test_config.py:TestBroken.test_prometheus_is_away'
    ),
    ShellCommand.TEST_CELLS: (
        'tests/unit/extensions/cells/checks/test_check.py:TestCells.test_all_is_well'
    ),
    ShellCommand.STATUS: (
        'tests/lab/long/test_upgrade.py:TestUpgrade.test_one_default_differs'
    ),
    ShellCommand.STATUS_OF_WATCHER: (
        'tests/lab/long/test_upgrade.py:TestUpgrade.'
        'test_what_the_documentation_shows'
    ),
    ShellCommand.EXPLAIN_DRAIN: (
        'tests/unit/cmd/test_explain_drain.py:TestLive.test_the_cloud_as_it_is'
    ),
    ShellCommand.EXPLAIN: (
        'tests/lab/test_drivers_agree.py:TestDriversAgree.'
        'test_documented_commands'
    ),
    ShellCommand.REPLAY: (
        'tests/lab/test_drivers_agree.py:TestDriversAgree.'
        'test_documented_commands'
    ),
    ShellCommand.SIMULATE_FETCH: (
        'tests/unit/cmd/loads/test_fetching.py:TestFetch.test_a_load'
    ),
    ShellCommand.SIMULATE_ADVISE: (
        'tests/unit/cmd/test_simulate.py:TestSimulate.test_advice'
    ),
    ShellCommand.RECORD: (
        'tests/lab/test_drivers_agree.py:TestDriversAgree.'
        'test_documented_commands'
    ),
}
"""The test that gives a command where it is needed, and looks afterwards."""
NOT_RUN = {
    ShellCommand.GET_CONNECTOR: (
        'it asks the root helper of a compute node, which no test has; the '
        'driver of the test gives the same connector'
    ),
    ShellCommand.IMAGE_LIST: 'it only shows; its result is deleted by id',
    ShellCommand.SERVICE_ENABLE: (
        'kronos_reopen asks Nova for the same, and its tests look afterwards'
    ),
    ShellCommand.SEGMENT_HOST_CREATE: 'no test has a Masakari of its own',
    ShellCommand.SEGMENT_HOST_OPEN: 'no test has a Masakari of its own',
    ShellCommand.MONITOR_STATUS: 'no test has the unit in its systemd',
}
"""Why no test can give a command."""
OF_ALERTS = {
    'systemctl status kronos-instance-monitor': 'as above',
    'systemctl status libvirtd': 'no test has the unit in its systemd',
    'kronos-instance-monitor --check': (
        'tests/unit/cmd/test_instance_monitor.py'
    ),
}
"""Commands of the alerts: who runs them, or why none does."""
CLIENTS = (
    'openstack.compute.v2',
    'openstack.image.v2',
    'openstack.infra_optim.v1',
    'openstack.kronos.v1',
)
"""Groups of commands of the openstack client that are installed here."""
FOREIGN = ('segment', 'resource')
"""First words of those that python-masakariclient and osc-placement bring."""
VALUE = '0b813439-c2fa-4b1f-9d52-00ef9ae085bf'


def constants(tree: ast.Module) -> Iterator[ast.Constant]:
    """The texts of a module, docstrings and names of its own aside."""
    left_out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(node.value)
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id in OWN_NAMES
            and isinstance(node.value, ast.Constant)
        ):
            left_out.add(node.value)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node not in left_out
        ):
            yield node


def is_shown(node: ast.expr) -> bool:
    """Whether an expression is a command of the table."""
    return any(
        isinstance(one, ast.Name) and one.id == ShellCommand.__name__
        for one in ast.walk(node)
    )


class TestPlaces(base.BaseTestCase):
    """No command is made but by the module."""

    def test_no_other_text_is_a_command(self) -> None:
        found = []
        for path in PACKAGE.rglob('*.py'):
            if path == MODULE or OPTIONS in path.parents:
                continue
            found += [
                f'{path}:{one.lineno}: {one.value}'
                for one in constants(ast.parse(path.read_text()))
                if COMMAND.search(one.value)
            ]
        self.assertEqual([], found)

    def test_nothing_is_added_behind_one(self) -> None:
        """Or what is added would not be quoted."""
        found = []
        for path in PACKAGE.rglob('*.py'):
            for node in ast.walk(ast.parse(path.read_text())):
                if not isinstance(node, ast.JoinedStr):
                    continue
                for one, after in zip(
                    node.values, node.values[1:], strict=False
                ):
                    text = getattr(after, 'value', '')
                    if (
                        isinstance(one, ast.FormattedValue)
                        and is_shown(one)
                        and (
                            not isinstance(text, str)
                            or text.strip() in ('', '--')
                            or text.startswith((' -', '='))
                        )
                    ):
                        found.append(f'{path}:{node.lineno}')
        self.assertEqual([], found)

    def test_rule_finds_them(self) -> None:
        for text in (
            'openstack server delete x',
            'see "nova-manage cell_v2 list_cells"',
            'kronos-explain --host h1',
            'systemctl status libvirtd',
        ):
            self.assertRegex(text, COMMAND)
        for text in ('kronos-openstack 0.2', 'of the openstack client'):
            self.assertNotRegex(text, COMMAND)


class TestRuns(base.BaseTestCase):
    """A test gives each command, or there is a reason."""

    def test_each_is_listed_once(self) -> None:
        self.assertEqual({*ShellCommand}, RUN_BY.keys() | NOT_RUN.keys())
        self.assertEqual(set(), RUN_BY.keys() & NOT_RUN.keys())

    def test_tests_are_there(self) -> None:
        for command, test in RUN_BY.items():
            path, _, name = test.partition(':')
            kind, _, method = name.partition('.')
            tree = ast.parse((places.TOP / path).read_text())
            found = [
                one.name
                for node in ast.walk(tree)
                if isinstance(node, ast.ClassDef) and node.name == kind
                for one in node.body
                if isinstance(one, ast.FunctionDef)
            ]
            self.assertIn(method, found, command)

    def test_each_is_shown_by_something(self) -> None:
        """What is not shown any more is taken out of the table."""
        shown = '\n'.join(path.read_text() for path in PACKAGE.rglob('*.py'))
        for command in ShellCommand:
            self.assertRegex(shown, rf'ShellCommand\.{command.name}\b')

    def test_alerts(self) -> None:
        text = ' '.join(ALERTS.read_text().split())
        for command in OF_ALERTS:
            self.assertIn(command, text)
            text = text.replace(command, '')
        self.assertNotRegex(text, COMMAND)


class TestPrograms(base.BaseTestCase):
    """Each is understood by the program that it is for."""

    def words(self, command: ShellCommand) -> list[str]:
        fields = re.findall(r'\{(\w+)\}', command.value)
        words = shlex.split(command.of(**dict.fromkeys(fields, VALUE)))
        return words[: words.index('>')] if '>' in words else words

    def test_openstack(self) -> None:
        names = {
            one.name: one
            for group in CLIENTS
            for one in metadata.entry_points(group=group)
        }
        for command in ShellCommand:
            program, *words = self.words(command)
            if program != 'openstack' or words[0] in FOREIGN:
                continue
            with self.subTest(command=command):
                length = max(
                    size
                    for size in range(1, len(words) + 1)
                    if '_'.join(words[:size]) in names
                )
                kind = names['_'.join(words[:length])].load()
                parser = kind(mock.Mock(), None).get_parser('openstack')
                self.parse(parser, words[length:])

    def test_nova_manage(self) -> None:
        ran = 0
        for command in ShellCommand:
            program, *words = self.words(command)
            if program != 'nova-manage':
                continue
            category, action, *rest = words
            method = getattr(manage.CATEGORIES[category], action)
            parser = argparse.ArgumentParser()
            for names, options in getattr(method, 'args', ()):
                parser.add_argument(*names, **options)
            self.parse(parser, rest)
            ran += 1
        self.assertGreater(ran, 3)

    def test_own_programs(self) -> None:
        ran = 0
        for command in ShellCommand:
            program, *words = self.words(command)
            if not program.startswith('kronos-') or not words:
                continue
            name = program.removeprefix('kronos-').replace('-', '_')
            module = importlib.import_module(f'kronos.cmd.{name}')
            words = [__file__ if one[:1] == '/' else one for one in words]
            self.parse(module.argument_parser(), words)
            ran += 1
        self.assertGreater(ran, 2)

    def parse(self, parser: Any, words: list[str]) -> None:
        with mock.patch.object(parser, 'error', side_effect=self.fail):
            parser.parse_args(words)
