# SPDX-License-Identifier: Apache-2.0
"""Does an audit that goes wrong move nothing, and say why?"""

import pathlib

import fixtures
import sqlalchemy
from oslo_config import cfg
from oslo_db import exception as db_exception
from oslo_db.sqlalchemy import enginefacade

from kronos.strategies import spread
from kronos.strategies.outcome import artifacts
from tests.functional.watcher import base, test_audits

CONF = cfg.CONF
PLACEMENT = ('GET', '/placement/resource_providers')


class ConfigFile(fixtures.Fixture):
    """A file that Watcher's configuration is read from."""

    def _setUp(self):
        folder = self.useFixture(fixtures.TempDir()).path
        self.path = pathlib.Path(folder, 'watcher.conf')
        before = CONF.default_config_files
        self.addCleanup(CONF.reload_config_files)
        self.addCleanup(setattr, CONF, 'default_config_files', before)
        CONF.default_config_files = [str(self.path)]

    def write(self, group, *lines):
        self.path.write_text('\n'.join([f'[{group}]', *lines]))


class Losing(fixtures.Fixture):
    """A database that is lost at statements that hold certain words.

    :param times: so often
    """

    def __init__(self, *words, times=float('inf')):
        super().__init__()
        self.words = words
        self.times = times
        self.lost = 0

    def _setUp(self):
        engine = enginefacade.writer.get_engine()
        event = engine, 'before_cursor_execute', self._execute
        sqlalchemy.event.listen(*event)
        self.addCleanup(sqlalchemy.event.remove, *event)

    def _execute(self, connection, cursor, statement, values, *_):
        text = f'{statement} {values}'
        if self.lost < self.times and all(word in text for word in self.words):
            self.lost += 1
            raise db_exception.DBConnectionError('the database is gone')


class BadOptionTestCase(test_audits.Oneshot):
    """The option, its file and its rule are told."""

    def setUp(self):
        super().setUp()
        self.file = self.useFixture(ConfigFile())

    def test_no_number(self):
        self.file.write('kronos', 'instance_cooldown = 10m')
        audit = self.ends(
            'FAILED',
            '[kronos] instance_cooldown in ',
            'watcher.conf',
            "'10m' is not a whole number of seconds: write 600",
        )
        self.assertEqual([], self.plans(audit))

    def test_no_choice(self):
        self.file.write('kronos', 'soft_rules = Penalty')
        self.ends(
            'FAILED',
            '[kronos] soft_rules in ',
            "Valid values are [veto, penalty], but found 'Penalty'",
        )

    def test_of_the_report_only(self):
        """What is needed last is looked at first."""
        self.file.write('kronos', 'report_keep = 0')
        self.ends('FAILED', '[kronos] report_keep in ', 'equal to 1')
        self.assertEqual([], self.cloud.calls)

    def test_secrets_stay_secret(self):
        """Of a password only the name is told."""
        log = self.useFixture(fixtures.FakeLogger())
        self.file.write('kronos_prometheus', 'password = s3$kronos/cret')
        self.ends('FAILED', '[kronos_prometheus] password')
        self.set('kronos_prometheus', url=None)
        CONF.clear_override('url', 'kronos_prometheus')
        self.file.write('kronos_prometheus', 'url = http://joe:s3/cr@et@h')
        self.ends('FAILED', '[kronos_prometheus] url')
        # Names of temporary folders are letters, digits and underscores.
        for part in ('s3$', ':s3/', '/cret', 'cr@et', 'joe:'):
            self.assertNotIn(part, log.output)

    def test_a_group_that_is_not_there_any_more(self):
        """The audit goes on, and says that nothing of it counts."""
        log = self.useFixture(fixtures.FakeLogger())
        self.file.write('engine', 'cooldown = 5')
        audit = self.ends('SUCCEEDED')
        self.assertIn(
            f'Audit {audit["uuid"]}: {self.file.path}: [engine] is a group of '
            'kronos-openstack and has no effect; set its options in '
            '[kronos]',
            log.output,
        )

    def test_of_another_group(self):
        """Of an option that is Watcher's own the value is not told."""
        log = self.useFixture(fixtures.FakeLogger())
        self.file.write('watcher_clients_auth', 'timeout = 9s3cret')
        self.ends('FAILED', 'option timeout in ', 'conf is not valid')
        self.assertNotIn('9s3cret', log.output)


class NothingHappensTestCase(test_audits.Continuous):
    """An audit that failed on its way carries nothing out."""

    def setUp(self):
        super().setUp()
        for one in self.cloud.servers.values():
            one.host = 'h1'

    def run_empty(self, *words):
        state, message = self.run_audit()
        self.assertEqual('ONGOING', state)
        for word in words:
            self.assertIn(word, message)
        for plan in self.plans({'uuid': self.audit.uuid}):
            self.assertEqual([], self.actions(plan))

    def run_full(self):
        state, message = self.run_audit()
        self.assertEqual('ONGOING', state)
        return message

    def planned(self):
        return sum(
            len(self.actions(plan))
            for plan in self.plans({'uuid': self.audit.uuid})
        )

    def test_a_bad_option(self):
        file = self.useFixture(ConfigFile())
        folder = self.useFixture(fixtures.TempDir()).path
        file.write('kronos', f'report_dir = {folder}', 'report_keep = 0')
        self.run_empty('[kronos] report_keep')

    def test_whatever_fails_late(self):
        """The plan is complete, but its outcome cannot be told."""
        for what in ('summary', 'indicators'):
            with fixtures.MockPatchObject(
                spread.Spread, what, side_effect=TypeError('no')
            ):
                self.run_empty('Unexpected TypeError')

    def test_whatever_fails_while_it_is_filled(self):
        """Half a plan is none: a later step may need an earlier one."""
        with fixtures.MockPatch(
            'kronos.strategies.outcome.status_messages.change',
            # Three steps in the log, then one in the solution.
            side_effect=['cpu 1 -> 0'] * 4 + [TypeError('no')],
        ):
            self.run_empty('Unexpected TypeError')

    def test_the_report_fails(self):
        """Losing it is no reason to lose the plan."""
        self.set('kronos', report_dir='/')
        log = self.useFixture(fixtures.FakeLogger())
        with fixtures.MockPatchObject(
            artifacts, '_version', side_effect=TypeError('no version')
        ):
            message = self.run_full()
        self.assertIn('3 migrations', message)
        self.assertIn('no version', log.output)
        self.assertEqual(3, self.planned())

    def test_the_database_is_lost_where_the_outcome_is_told(self):
        """The plan counts; a failed audit would never run again."""
        self.impatient()
        log = self.useFixture(fixtures.FakeLogger())
        with Losing('UPDATE audits', '3 migrations') as losing:
            message = self.run_full()
        self.assertEqual(1, losing.lost)
        self.assertNotIn('migrations', message or '')
        self.assertIn('cannot be written: DBConnectionError\n', log.output)
        self.assertNotIn('Traceback', log.output)
        self.assertIn('alpha: 3 migrations', log.output)
        self.assertEqual(3, self.planned())
        self.assertIn('3 migrations', self.run_full())

    def impatient(self):
        self.useFixture(
            fixtures.MonkeyPatch('kronos.strategies.base.DATABASE_SECONDS', 0)
        )

    def test_the_database_is_back_after_a_while(self):
        """It is waited for: what Watcher does next would fail the audit."""
        with Losing('UPDATE audits', '3 migrations', times=2) as losing:
            message = self.run_full()
        self.assertEqual(2, losing.lost)
        self.assertIn('3 migrations', message)
        self.assertEqual(3, self.planned())

    def test_the_database_is_lost_where_an_empty_plan_is_renewed(self):
        for n, one in enumerate(self.cloud.servers.values()):
            one.host = f'h{n % 4 + 1}'
        self.run_full()
        with Losing('DELETE FROM efficacy_indicators') as losing:
            self.run_full()
        self.assertGreater(losing.lost, 0)
        self.run_full()
        self.assertEqual(1, len(self.plans({'uuid': self.audit.uuid})))


class OneshotFailureTestCase(test_audits.Oneshot):
    def test_the_database_is_lost_too(self):
        """What the audit failed of is the failure, not the loss."""
        self.useFixture(
            fixtures.MonkeyPatch('kronos.strategies.base.DATABASE_SECONDS', 0)
        )
        log = self.useFixture(fixtures.FakeLogger())
        self.write_policies('policies: 7')
        with Losing('UPDATE audits', 'policies.yaml') as losing:
            audit = self.create_audit()
        self.assertEqual(1, losing.lost)
        self.assertEqual('FAILED', audit['state'])
        self.assertIn('WatcherException: Policies file ', log.output)


class PlacementAwayTestCase(test_audits.Oneshot):
    def test_nothing_is_migrated_and_that_is_why(self):
        """Without headroom no host is a destination: it is told why."""
        self.cloud.down.add(PLACEMENT)
        audit = self.ends('SUCCEEDED', 'warning: Placement: ', '503')
        self.assertEqual([], self.actions(self.plan(audit)))

    def test_every_scope_says_so_where_it_matters_less(self):
        log = self.useFixture(fixtures.FakeLogger())
        self.set('kronos', require_headroom=False)
        self.cloud.down.add(PLACEMENT)
        audit = self.ends('SUCCEEDED', '3 migrations')
        self.assertEqual(3, len(self.actions(self.plan(audit))))
        self.assertIn('scope alpha: Placement: ', log.output)


class UndrainedTestCase(base.KronosTestCase):
    START_APPLIER = False

    def setUp(self):
        super().setUp()
        for host, state in (('h1', 'up'), ('h2', 'down')):
            self.cloud.services[host] = {
                'state': state,
                'status': 'disabled',
                'reason': 'new firmware',
            }

    def test_beside_one_that_is_drained(self):
        """It is named although there is a plan."""
        audit = self.create_audit(
            goal='kronos_drain', strategy='kronos_evacuate'
        )
        self.assertEqual(6, len(self.actions(self.plan(audit))))
        self.assertIn(
            'alpha: 6 migrations, h2 is not drained (nova-compute is down, '
            'nova-compute is disabled (new firmware)), h1: 6 leave',
            self.message(audit),
        )

    def test_beside_other_phases(self):
        audit = self.create_audit(
            parameters={'aggregates': 'alpha', 'evacuate_disabled_hosts': True}
        )
        self.assertIn('h2 is not drained (nova-co', self.message(audit))

    def test_beside_one_that_cannot_leave(self):
        """The other warnings do not push it out of the message."""
        for one in self.cloud.servers.values():
            one.locked = True
        audit = self.create_audit(
            goal='kronos_drain', strategy='kronos_evacuate'
        )
        self.assertEqual([], self.actions(self.plan(audit)))
        self.assertIn('h2 is not drained', self.message(audit))
