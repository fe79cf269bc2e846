# SPDX-License-Identifier: Apache-2.0
"""kronos-status, before and after what it warns of is done by Watcher."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import fixtures
from oslo_config import cfg
from oslo_utils import timeutils
from watcher import objects

from kronos.cmd import status
from kronos.cmd.checks import subprocess_probe, weigher
from tests import commands, places
from tests.functional.watcher import base

CONF = cfg.CONF
SECRET = 'geheim-4711'
SYNC = 'import sys; from watcher.cmd import sync; sys.exit(sync.main())'
"""What a decision engine does when it starts, as Watcher's own command."""


class UpgradeTestCase(base.KronosTestCase):
    """The command in this process; Watcher's code in processes of its own."""

    START_APPLIER = False

    def setUp(self):
        super().setUp()
        # It would silence the loggers of the tests that come after.
        self.useFixture(
            fixtures.MonkeyPatch('kronos.cmd.config_files.log', lambda _: None)
        )
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.conf = self.folder / 'watcher.conf'
        self.write_conf()

    def write_conf(self, connection='', more=''):
        self.conf.write_text(
            f'[DEFAULT]\nhost = {CONF.host}\ntransport_url = fake://\n'
            '[database]\n'
            f'connection = {connection or CONF.database.connection}\n'
            f'[kronos]\npolicies_file = {self.policies_file}\n'
            f'[kronos_prometheus]\nbearer_token = {SECRET}\n'
            '[watcher_clients_auth]\nauth_type = none\n'
            f'[nova]\nendpoint_override = {self.cloud.nova_url}\n{more}'
        )

    def inspect(self, module, arguments, request):
        """In processes, but for Nova's weigher, which is another matter."""
        if module == weigher.MODULE:
            return {'error': '', 'is_enabled': False}
        return subprocess_probe.inspect(module, arguments, request)

    def check(self, expected):
        """The exit status is the expected one: each result by its name."""
        arguments = ['upgrade', 'check', '--json']
        code, out, err = commands.run(
            status.main,
            [*arguments, '--watcher-config', str(self.conf)],
            self.inspect,
        )
        self.assertEqual('', err)
        self.assertEqual(expected, code, out)
        self.assertNotIn(SECRET, out)
        return {row['check']: row for row in json.loads(out)['checks']}

    def other_code(self, path, old, new):
        """Have the processes load a Kronos in which one file differs."""
        package = self.folder / 'kronos'
        if not package.exists():
            shutil.copytree(places.TOP / 'kronos', package)
        text = (package / path).read_text()
        self.assertIn(old, text)
        (package / path).write_text(text.replace(old, new, 1))
        self.useFixture(
            fixtures.EnvironmentVariable('PYTHONPATH', str(self.folder))
        )

    def sync(self):
        """Let Watcher do what it does at the start of a decision engine."""
        subprocess.run(
            # -P: as the processes that are asked, not of this directory.
            [sys.executable, '-P', '-c', SYNC, '--config-file', self.conf],
            check=True,
            env=os.environ,
            capture_output=True,
        )

    def announce(self):
        """As an applier does that has started with this code."""
        for name in (
            'kronos_close_for_maintenance',
            'kronos_close_host',
            'kronos_cross_cell_migrate',
            'kronos_hand_over',
            'kronos_live_migrate',
            'kronos_reopen',
            'kronos_restart_server',
        ):
            objects.ActionDescription(
                self.context, action_type=name, description='x'
            ).create()

    def serve(self, *services):
        """Names and hosts of services that are up."""
        for name, host in services:
            objects.Service(
                self.context,
                name=name,
                host=host,
                last_seen_up=timeutils.utcnow(),
            ).create()

    def serve_here(self):
        self.serve(
            ('watcher-decision-engine', CONF.host),
            ('watcher-applier', CONF.host),
        )


class TestGood(UpgradeTestCase):
    def test_nothing_is_in_the_way(self):
        self.announce()
        self.serve_here()
        before = pathlib.Path(self.database()).stat().st_mtime_ns
        found = self.check(0)
        self.assertEqual({0}, {row['result'] for row in found.values()}, found)
        self.assertEqual(
            before, pathlib.Path(self.database()).stat().st_mtime_ns
        )

    def database(self):
        return CONF.database.connection.removeprefix('sqlite:///')


class TestSchema(UpgradeTestCase):
    """A default of a parameter differs from the one in the database."""

    def test_the_audits_are_named_and_then_cancelled(self):
        over = self.create_audit(name='over')
        event = self.create_audit_of('EVENT', 'on-event')
        continuous = self.create_audit_of(
            'CONTINUOUS', 'all-day', interval='3600'
        )
        other = self.create_audit_of(
            'EVENT', 'builtin', goal='dummy', strategy='dummy', parameters={}
        )
        self.other_code(
            'common/parameter_types.py',
            "'items': {",
            "'default': [], 'items': {",
        )
        row = self.check(2)['Audits Kept']
        self.assertEqual(2, row['result'])
        for audit in (event, continuous):
            self.assertIn(
                f'{audit["name"]} ({audit["uuid"]}, ', row['details']
            )
        for audit in (over, other):
            self.assertNotIn(audit['uuid'], row['details'])
        self.assertIn('strategy kronos_spread (its parame', row['details'])
        self.assertIn('1 ended audits', row['details'])
        self.assertIn('and 1 waiting or running action plans', row['details'])
        self.sync()
        for audit, state in (
            (event, 'CANCELLED'),
            (continuous, 'CANCELLED'),
            (over, 'CANCELLED'),
            (other, 'PENDING'),
        ):
            row = self.admin_api.get(f'/audits/{audit["uuid"]}').json()
            self.assertEqual(state, row['state'], audit['name'])
        self.assertEqual('CANCELLED', self.plan(over)['state'])
        row = self.check(1)['Audits Kept']
        self.assertEqual(0, row['result'], row)

    def create_audit_of(self, kind, name, **fields):
        body = {
            'audit_type': kind,
            'name': name,
            'goal': 'kronos_balance',
            'strategy': 'kronos_spread',
            'parameters': {'aggregates': 'alpha'},
            **fields,
        }
        response = self.admin_api.post('/audits', body)
        self.assertEqual(201, response.status_code, response.text)
        return response.json()


class TestPlugins(UpgradeTestCase):
    """Two cannot be imported, and another package claims a third's name."""

    def test_each_is_told_and_the_audit_is_cancelled(self):
        audit = self.create_audit(name='left-over')
        broken = '\nfrom ', '\nimport nowhere\nfrom '
        self.other_code('strategies/spread.py', *broken)
        self.other_code('extensions/recovery/actions/close_host.py', *broken)
        self.add_rival()
        found = self.check(2)
        row = found['Plugins Load']
        self.assertEqual(2, row['result'])
        self.assertIn(
            'kronos_spread: ModuleNotFoundError: No module named '
            "'nowhere'; at its next start Watcher treats it as uninstalled",
            row['details'],
        )
        self.assertIn('kronos_close_host: ModuleNotFound', row['details'])
        self.assertIn('kronos_pack: MultipleMatches', row['details'])
        self.assertNotIn('kronos_evacuate', row['details'])
        row = found['Plugin Names']
        self.assertEqual(2, row['result'])
        self.assertIn(
            'kronos_pack is also provided by rival 1.0', row['details']
        )
        row = found['Audits Kept']
        self.assertEqual(2, row['result'])
        self.assertIn('kronos_spread (it is not there', row['details'])
        self.sync()
        row = self.admin_api.get(f'/audits/{audit["uuid"]}').json()
        self.assertEqual('CANCELLED', row['state'])

    def add_rival(self):
        info = self.folder / 'rival-1.0.dist-info'
        info.mkdir()
        (info / 'METADATA').write_text(
            'Metadata-Version: 2.1\nName: rival\nVersion: 1.0\n'
        )
        (info / 'entry_points.txt').write_text(
            '[watcher_strategies]\nkronos_pack = rival:Pack\n'
        )
        (self.folder / 'rival.py').write_text(
            'from kronos.strategies.pack import Pack\n'
        )
        self.useFixture(fixtures.PythonPathEntry(str(self.folder)))


class TestWork(UpgradeTestCase):
    """No applier has started with this code, and one runs elsewhere."""

    def test_what_is_under_way_and_what_waits(self):
        plan = self.plan(self.create_audit())
        row = objects.ActionPlan.get_by_uuid(
            self.context, plan['uuid'], eager=True
        )
        row.state = 'ONGOING'
        row.save()
        first, second, *_ = objects.Action.list(
            self.context,
            filters={'action_plan_uuid': plan['uuid']},
            eager=True,
        )
        first.input_parameters = {**first.input_parameters, 'phase': 'later'}
        first.save()
        second.input_parameters = {**second.input_parameters, 'by_day': True}
        second.save()
        self.serve_here()
        self.serve(('watcher-applier', 'elsewhere'))
        found = self.check(2)
        row = found['Action Plans']
        self.assertEqual(1, row['result'])
        self.assertIn(f'{plan["uuid"]} (ONGOING)', row['details'])
        row = found['Action Parameters']
        self.assertEqual(2, row['result'])
        self.assertIn(f'{first.uuid} (kronos_live_migrate', row['details'])
        self.assertIn("'later' is not one of", row['details'])
        self.assertIn(f'{second.uuid} (kronos_live_migrate', row['details'])
        self.assertIn('it does not know by_day', row['details'])
        # The engine that publishes a plan writes that of its own moves.
        self.assertIn(
            'kronos_cross_cell_migrate, kronos_hand_over', row['details']
        )
        row = found['Other Hosts']
        self.assertEqual(1, row['result'])
        self.assertIn('watcher-applier on elsewhere.', row['details'])


class TestAway(UpgradeTestCase):
    def test_neither_the_database_nor_keystone_answers(self):
        """Warnings, without the passwords."""
        self.write_conf(f'mysql+pymysql://watcher:{SECRET}@127.0.0.1:9/w')
        text = self.conf.read_text().replace(
            'auth_type = none',
            'auth_type = password\nauth_url = http://127.0.0.1:9\n'
            f'username = joe\npassword = {SECRET}\nproject_name = p\n'
            'user_domain_id = default\nproject_domain_id = default',
        )
        self.conf.write_text(text)
        found = self.check(1)
        for name in (
            'Audits Kept',
            'Action Plans',
            'Action Parameters',
            'Other Hosts',
        ):
            self.assertEqual(1, found[name]['result'])
            self.assertIn('was not read: DBConn', found[name]['details'])
        row = found['Nova API']
        self.assertEqual(1, row['result'])
        self.assertIn('Nova could not be queried: Keystone', row['details'])
        self.assertEqual(0, found['Plugins Load']['result'])
