# SPDX-License-Identifier: Apache-2.0
"""The names that others rely on are those of ``tests/fixtures/frozen.yaml``.

Each test collects the names of today from where they come from, and lays
them beside the list.
"""

import ast
import enum
import inspect
import json
import pathlib
import re
import tomllib
from collections.abc import Iterator
from typing import Any
from urllib import parse

import fixtures
import yaml
from oslo_config import types as option_types
from oslo_upgradecheck import upgradecheck
from oslotest import base

from kronos.actions import live_migrate
from kronos.cmd import (
    effect,
    explain,
    exporter,
    instance_monitor,
    program,
    record,
    replay,
    scripts,
    simulate,
    status,
    test_config,
)
from kronos.cmd.checks import monitors
from kronos.common import exceptions
from kronos.conf import monitor, opts
from kronos.engine import faults, types
from kronos.engine.eligibility import instances, overrides
from kronos.engine.reasons import Code
from kronos.extensions.cells.audit import goal as cells_goal
from kronos.extensions.cells.audit import strategy as cell_drain
from kronos.extensions.cells.cell_drain import CellPhase
from kronos.extensions.maintenance.audit import goal as maintenance_goal
from kronos.extensions.maintenance.audit import strategy as maintain
from kronos.extensions.maintenance.client import commands as run_commands
from kronos.extensions.maintenance.client import exit_status, start
from kronos.extensions.maintenance.codes import MaintenanceCode
from kronos.extensions.recovery import restarts
from kronos.extensions.recovery.audit import goal as recovery_goal
from kronos.extensions.recovery.audit import strategy as recover
from kronos.extensions.room.audit import goal as room_goal
from kronos.extensions.room.audit import strategy as make_room
from kronos.extensions.room.room import RoomPhase
from kronos.metrics import catalogue
from kronos.osc import commands as client_commands
from kronos.osc import slot_command
from kronos.osc.run import command as run_command
from kronos.osc.run.exit_status import ExitStatus
from kronos.policies.models import Policy
from kronos.recordings import load, meta_schema
from kronos.recordings.formats import cluster
from kronos.snapshots import cells, watcher_actions
from kronos.strategies import affinity, evacuate, goals, pack, spread
from kronos.watcher_db import marks
from tests import commands, places
from tests.unit.cmd import checking
from tests.unit.frozen import documents
from tests.unit.osc import clouds

FILE = places.FIXTURES / 'frozen.yaml'
DAEMONS = str(places.FIXTURES / 'recordings' / 'daemons')


def upgrade_check(arguments: Any) -> int:
    """kronos-status, where no process answers."""
    return status.main(arguments, lambda *_: {})


COMMANDS = {
    'kronos-effect': effect.main,
    'kronos-explain': explain.main,
    'kronos-exporter': exporter.main,
    'kronos-instance-monitor': instance_monitor.main,
    'kronos-record': record.main,
    'kronos-replay': replay.main,
    'kronos-simulate': simulate.main,
    'kronos-status': upgrade_check,
    'kronos-test-config': test_config.main,
}
CLIENT = 'openstack optimize kronos'
CLIENT_COMMANDS = {
    f'{CLIENT} explain': client_commands.Explain,
    f'{CLIENT} maintenance finish': run_commands.Finish,
    f'{CLIENT} maintenance pause': run_commands.Pause,
    f'{CLIENT} maintenance report': run_commands.Report,
    f'{CLIENT} maintenance resume': run_commands.Resume,
    f'{CLIENT} maintenance start': start.Start,
    f'{CLIENT} maintenance status': run_commands.Status,
    f'{CLIENT} plan list': client_commands.ListPlans,
    f'{CLIENT} plan show': client_commands.ShowPlan,
    f'{CLIENT} run': run_command.Run,
    f'{CLIENT} slots': slot_command.ListSlots,
}
STRATEGIES = (
    affinity.Affinity,
    cell_drain.CellDrainStrategy,
    evacuate.Evacuate,
    maintain.Maintain,
    make_room.MakeRoomStrategy,
    pack.Pack,
    recover.Recover,
    spread.Spread,
)
WEIGHERS = {
    'error': '',
    'is_enabled': True,
    'faults': [],
    'multiplier': 100.0,
    'weighers': [{'name': 'KronosWeigher', 'multiplier': 100.0}],
    'scores': dict.fromkeys(checking.HOSTS, 0.5),
    'troubles': [],
}
"""What a process with Nova in it says."""
GOALS = (
    goals.Affinity,
    goals.Balance,
    cells_goal.Cell,
    goals.Consolidate,
    goals.Drain,
    maintenance_goal.Maintenance,
    recovery_goal.RecoveredServers,
    room_goal.Room,
)


def frozen() -> dict[str, Any]:
    """The list: of each section why, and the names."""
    found: dict[str, Any] = yaml.safe_load(FILE.read_text())
    return found


def rows(told: Any, where: str = '') -> Iterator[str]:
    """One line for each name, with all that it stands under."""
    if isinstance(told, dict):
        for key, one in told.items():
            yield from rows(one, f'{where}{key}: ')
        if not told:
            yield f'{where}nothing'
    elif isinstance(told, list):
        for one in told:
            # A list inside a list is one that it shares with others.
            is_shared = isinstance(one, list)
            yield from rows(one, where if is_shared else f'{where}- ')
        if not told:
            yield f'{where}nothing'
    else:
        yield f'{where}{told!r}'


class FrozenTestCase(base.BaseTestCase):
    """Compares a section with what there is."""

    def assert_frozen(self, section: str, today: Any, part: str = '') -> None:
        """Fail where a name is gone, and where the list lacks one.

        :param part: of the section that is meant; '' is the whole
        """
        listed = frozen()[section]
        if part:
            listed = {**listed, 'names': listed['names'][part]}
        before, now = set(rows(listed['names'])), set(rows(today))
        text = ''
        if gone := sorted(before - now):
            text += (
                f'\nThese names are gone or were changed. {listed["why"]} '
                'Bring them back, beside the new ones if need be:\n  '
                + '\n  '.join(gone)
            )
        if added := sorted(now - before):
            text += (
                f'\nThese names are new, and frozen from now on. Add them to '
                f'{FILE.relative_to(places.TOP)}, section {section} '
                f'{part}:\n  ' + '\n  '.join(added)
            )
        if text:
            self.fail(text)


class TestComparing(FrozenTestCase):
    """What a contributor reads who has changed a name."""

    def told(self, today: Any) -> str:
        return str(
            self.assertRaises(
                self.failureException,
                self.assert_frozen,
                'exit_statuses',
                today,
            )
        )

    def test_the_same(self) -> None:
        self.assert_frozen('metadata', frozen()['metadata']['names'])

    def test_one_more(self) -> None:
        names = frozen()['exit_statuses']['names']
        text = self.told({**names, 'kronos-new': {'done': 0}})
        self.assertIn('Add them to tests/fixtures/frozen.yaml', text)
        self.assertIn('kronos-new: done: 0', text)
        self.assertNotIn('These names are gone', text)

    def test_one_less(self) -> None:
        names = frozen()['exit_statuses']['names']
        text = self.told({**names, 'kronos-replay': {'done': 0}})
        self.assertIn('Scripts decide by them. Bring them back', text)
        self.assertIn('kronos-replay: interrupted: 130', text)
        self.assertNotIn('These names are new', text)


class TestNames(FrozenTestCase):
    def test_entry_points(self) -> None:
        project = tomllib.loads((places.TOP / 'pyproject.toml').read_text())
        found = project['project']
        self.assert_frozen(
            'entry_points',
            {'console_scripts': found['scripts'], **found['entry-points']},
        )

    def test_classes_that_configurations_name(self) -> None:
        """Without Nova's code, which must not be loaded beside Watcher's."""
        path = places.TOP / 'kronos' / 'weighers' / 'load.py'
        self.assert_frozen(
            'classes_in_configurations',
            [
                f'kronos.weighers.load.{one.name}'
                for one in ast.parse(path.read_text()).body
                if isinstance(one, ast.ClassDef)
                and one.name.endswith('Weigher')
            ],
        )

    def test_options(self) -> None:
        """But for those of keystoneauth, which are not ours to keep."""
        theirs = {one.dest for one in monitor.credentials()}
        found = {
            group: {one.dest: _option(one) for one in known}
            for group, known in opts.list_opts()
        }
        found |= {
            group: {
                one.dest: _option(one)
                for one in known
                if one.dest not in theirs
            }
            for group, known in monitor.list_opts()
        }
        self.assert_frozen('options', found)

    def test_metrics(self) -> None:
        """Dashboards and alerts of operators select by them."""
        self.assert_frozen(
            'metrics',
            {
                row.name: {'kind': row.kind.value, 'labels': list(row.labels)}
                for row in catalogue.METRICS
            },
        )

    def test_options_of_commands(self) -> None:
        found = {}
        for name, main in COMMANDS.items():
            _, text, _ = commands.run(main, ['--help'])
            usage = text.partition('\n\n')[0]
            found[name] = sorted(
                {*re.findall(r'--[a-z][a-z-]*', text)}
                | {*re.findall(r'(?<=\[)-[a-z](?= |\])', usage)}
                | {*re.findall(r'(?m)^  (-[a-z])(?=[ ,])', text)}
            )
        for name, command in CLIENT_COMMANDS.items():
            # The client's own, of each output format, are in other groups.
            of_it = command(None, None).get_parser('x')._optionals
            found[name] = sorted(
                option
                for one in of_it._group_actions
                for option in one.option_strings
            )
        self.assert_frozen('options_of_commands', found)

    def test_strategies(self) -> None:
        found = {
            one.get_name(): {
                'display_name': one.get_translatable_display_name(),
                'goal': one.get_goal_name(),
                'schema': one.get_schema(),
            }
            for one in STRATEGIES
        }
        self.assert_frozen('strategies', found)
        for name, row in frozen()['strategies']['names'].items():
            # Watcher keeps them as text, so their order counts, too.
            self.assertEqual(
                json.dumps(row['schema']), json.dumps(found[name]['schema'])
            )

    def test_goals(self) -> None:
        found = {}
        for one in GOALS:
            made = one(config=None).efficacy_specification
            (share,) = made.get_global_efficacy_indicator()
            found[one.get_name()] = {
                'display_name': one.get_translatable_display_name(),
                'indicators': made.get_indicators_specs_dicts(),
                'share': {
                    'name': share.name,
                    'description': share.description,
                    'unit': share.unit,
                },
            }
        self.assert_frozen('goals', found)
        for name, row in frozen()['goals']['names'].items():
            self.assertEqual(
                json.dumps(row['indicators']),
                json.dumps(found[name]['indicators']),
            )

    def test_action(self) -> None:
        action = live_migrate.LiveMigrate(None)
        found = action.schema
        self.assert_frozen(
            'action',
            {
                'type': watcher_actions.ACTION_TYPE,
                'input_parameters': sorted(found['properties']),
                'required': sorted(found['required']),
                'phases': found['properties']['phase']['enum'],
                'marks_in_its_row': [marks.CARRIER, marks.TURN],
            },
        )

    def test_codes(self) -> None:
        self.assert_frozen(
            'codes',
            {
                'reasons': [one.value for one in (*Code, *MaintenanceCode)],
                'faults': {
                    code.value: row.error for code, row in faults.TABLE.items()
                },
                'upgrade_checks': [
                    name for name, _ in status.Checks._upgrade_checks
                ],
            },
        )

    def test_values(self) -> None:
        self.assert_frozen(
            'values',
            {
                one.__name__: [value.value for value in one]
                for one in vars(types).values()
                if isinstance(one, type) and issubclass(one, enum.Enum)
                if len(one)
            }
            # The trunk's and those of extensions, which have none of the same.
            | {
                'MigrationPhase': [
                    phase.value
                    for phase in [
                        *CellPhase,
                        *RoomPhase,
                        *types.MigrationPhase,
                    ]
                ]
            },
        )

    def test_exceptions(self) -> None:
        self.assert_frozen(
            'exceptions',
            sorted(
                name
                for name, one in vars(exceptions).items()
                if isinstance(one, type)
                and issubclass(one, exceptions.KronosException)
            ),
        )

    def test_metadata(self) -> None:
        self.assert_frozen(
            'metadata',
            {
                'of_instances': [instances.PIN, restarts.OPT_OUT],
                'of_aggregates': [
                    cells.METADATA_KEY,
                    _constant('host_scores', 'MODE_KEY'),
                    _constant('load', 'MULTIPLIER_KEY'),
                ],
            },
        )

    def test_policies(self) -> None:
        self.assert_frozen(
            'policies',
            {
                name: 'required'
                if one.is_required()
                else f'default {one.default}'
                for name, one in Policy.model_fields.items()
            },
        )

    def test_engine(self) -> None:
        """What other projects import."""
        self.assert_frozen(
            'engine',
            {
                'kronos.engine.types': [
                    name
                    for name in frozen()['engine']['names'][
                        'kronos.engine.types'
                    ]
                    if hasattr(types, name)
                ],
                'kronos.engine.eligibility.overrides': {
                    name: [*inspect.signature(one).parameters]
                    for name, one in vars(overrides).items()
                    if name.startswith('seed_')
                },
            },
        )


class TestDocuments(FrozenTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.by_data = frozen()['documents']['keyed_by_data']
        self.folder = self.useFixture(fixtures.TempDir()).path

    def shapes(self, *told: Any) -> documents.Shapes:
        found = documents.Collector(self.by_data)
        for one in told:
            found.add(one)
        return found.shapes

    def check_document(self, name: str, *told: Any) -> None:
        self.assert_frozen('documents', self.shapes(*told), name)

    def test_replay(self) -> None:
        self.check_document('kronos-replay', *documents.of_replay())

    def test_series(self) -> None:
        self.check_document('kronos-replay, several', *documents.of_series())

    def test_simulate(self) -> None:
        self.check_document('kronos-simulate', *documents.of_simulate())

    def test_explain(self) -> None:
        self.check_document('kronos-explain', *documents.of_explain())

    def test_audit(self) -> None:
        report, told, recording = documents.of_audit(self.folder)
        self.check_document('report of an audit', told)
        self.assert_frozen(
            'file_names',
            [
                re.sub(r'\d{8}T\d{6}\.\d{6}Z', 'TIME', name).replace(
                    documents.UUID, 'AUDIT'
                )
                for name in (report, recording)
            ],
        )

    def test_recordings(self) -> None:
        files: dict[str, documents.Collector] = {}
        for name, told in documents.of_recording(self.folder):
            one = files.setdefault(name, documents.Collector(self.by_data))
            one.add(told, name)
        self.assert_frozen(
            'recordings',
            {
                'formats': [
                    meta_schema.FORMAT_VERSION,
                    cluster.FORMAT,
                    load.read(DAEMONS).made_by,
                ],
                'files': {
                    name: one.shapes for name, one in sorted(files.items())
                },
            },
        )

    def test_notices(self) -> None:
        self.assert_frozen(
            'notices',
            {
                one.event_type: {
                    'topic': f'{one.topic}.{one.priority}',
                    'payload': sorted(one.payload),
                }
                for one in documents.of_notices()
            },
        )


class TestClientDocuments(clouds.CloudTestCase, FrozenTestCase):
    def test_each_command(self) -> None:
        numbers = [
            {'name': 'combined_imbalance_before', 'value': 1, 'unit': ''}
        ]
        plan = self.add_plan(
            1,
            audit_uuid=self.add_audit(),
            efficacy_indicators=numbers,
            global_efficacy=numbers,
        )
        self.add_action(plan, told={'audit_uuid': clouds.uuid(9001)})
        for words in (
            ('explain', 'vm1'),
            ('plan', 'list', '--long'),
            ('plan', 'show', plan),
        ):
            found = documents.Collector([])
            found.add(self.told(*words))
            name = ' '.join([CLIENT, *words[: 1 + (words[0] == 'plan')]])
            self.assert_frozen('documents', found.shapes, name)


def past(request: Any, _context: Any) -> dict[str, Any]:
    """What three servers used, to a range query."""
    query = parse.parse_qs(request.text)
    begin, end = (int(float(query[name][0])) for name in ('start', 'end'))
    values = [[moment, '0.4'] for moment in range(begin, end + 1, 300)]
    result = [
        {'metric': {'uuid': f'u-a{number}'}, 'values': values}
        for number in (1, 2, 3)
    ]
    return {
        'status': 'success',
        'data': {'resultType': 'matrix', 'result': result},
    }


class TestConfigurationDocument(checking.CheckTestCase, FrozenTestCase):
    def test_report(self) -> None:
        self.roles('admin')
        self.weighers = WEIGHERS
        self.loaded = {
            'watcher_strategies:kronos_spread': '',
            'watcher_goals:kronos_balance': '',
        }
        watcher = self.conf('watcher.conf', 'watcher_clients_auth')
        nova = self.conf('nova.conf')
        found = documents.Collector(frozen()['documents']['keyed_by_data'])
        found.add(self.check('--watcher-config', watcher))
        found.add(self.check('--nova-config', nova))
        self.series['failed'] = [('a1', 1.0)]
        self.series[monitors.QUERY] = [('a1', 1.0)]
        excluding = self.conf(exclude_hosts_query='failed')
        found.add(self.check('--config-file', excluding))
        found.add(self.check('--cells'))
        self.wire.post(f'{checking.PROMETHEUS}/api/v1/query_range', json=past)
        found.add(self.check())
        self.labels['cpu_of_host'] = 'node'
        found.add(self.check())
        inventories = f'{checking.PLACEMENT}/resource_providers/a1/inventories'
        self.wire.get(inventories, json={'inventories': {}})
        cells = self.conf(numa_cells='a: nodes=2, cpus=4, memory_mb=9')
        found.add(self.check('--config-file', cells))
        self.assert_frozen('documents', found.shapes, 'kronos-test-config')


class TestExitStatuses(clouds.CloudTestCase, FrozenTestCase):
    def test_each_command(self) -> None:
        # It would silence the loggers of the tests that come after.
        self.useFixture(
            fixtures.MonkeyPatch('kronos.cmd.config_files.log', lambda _: None)
        )
        folder = self.useFixture(fixtures.TempDir()).path
        bad = f'{folder}/kronos.conf'
        pathlib.Path(bad).write_text('no option')
        impossible = {
            'kronos-effect': ['--config-file', bad],
            'kronos-explain': ['/nowhere'],
            'kronos-exporter': ['--once', '--directory', '/nowhere'],
            'kronos-instance-monitor': ['--check', '--config-file', bad],
            'kronos-record': [f'{folder}/out', '--config-file', bad],
            'kronos-replay': ['/nowhere'],
            'kronos-simulate': ['/nowhere'],
            'kronos-status': ['upgrade', 'check', '--config-file', bad],
            'kronos-test-config': ['--offline', '--config-file', bad],
        }

        def interrupted() -> int:
            raise KeyboardInterrupt

        found = {}
        for name, main in COMMANDS.items():
            ended = program.command(name)(interrupted)
            found[name] = {
                'done': commands.run(main, ['--version'])[0],
                'cannot be done': commands.run(main, impossible[name])[0],
                'wrong usage': commands.run(main, ['--nothing'])[0],
                'interrupted': commands.run(lambda _, end=ended: end(), [])[0],
            }
        found['kronos-status'] |= {
            'a warning': int(upgradecheck.Code.WARNING),
            'unforeseen': status.UNFORESEEN,
        }
        self.assertEqual(130, scripts.INTERRUPTED)
        plan = self.add_plan(1)
        self.add_action(plan)
        for words, more in (
            (('explain',), ['vm1']),
            (('plan', 'list'), []),
            (('plan', 'show'), [plan]),
        ):
            ended = {
                'done': self.run_client(*words, *more)[0],
                'wrong usage': self.run_client(*words, '--nothing')[0],
            }
            self.watcher.refusal = 403, {}
            ended['cannot be done'] = self.run_client(*words, *more)[0]
            self.watcher.refusal = None
            found[' '.join([CLIENT, *words])] = ended
        for word, statuses in (
            ('run', ExitStatus),
            ('maintenance', exit_status.ExitStatus),
        ):
            found[f'{CLIENT} {word}'] = {
                status.name.lower().replace('_', ' '): int(status)
                for status in statuses
            }
        self.assert_frozen('exit_statuses', found)


def _option(one: Any) -> dict[str, Any]:
    """What an operator may write, and what holds without it."""
    kind = next(
        cls
        for cls in type(one.type).__mro__
        if cls.__module__ == option_types.__name__
    )
    limits = {name: getattr(one.type, name, None) for name in ('min', 'max')}
    choices = getattr(one.type, 'choices', None)
    return {
        'type': kind.__name__,
        'default': one.default,
        **{name: to for name, to in limits.items() if to is not None},
        **({'choices': [*choices]} if choices else {}),
        **({'secret': True} if one.secret else {}),
    }


def _constant(module: str, name: str) -> str:
    """Of a module of the weighers, which loads Nova's code."""
    path = places.TOP / 'kronos' / 'weighers' / f'{module}.py'
    (value,) = (
        ast.literal_eval(one.value)
        for one in ast.parse(path.read_text()).body
        if isinstance(one, ast.Assign)
        and [ast.unparse(target) for target in one.targets] == [name]
    )
    return str(value)
