# SPDX-License-Identifier: Apache-2.0
"""Servers that failed are started again: here, elsewhere, then no more."""

from watcher import objects

from kronos.extensions.recovery import outcome
from kronos.recordings.anonymize import anonymizer
from kronos.recordings.replay import ReplayOptions, replay
from tests.fakes.small_cloud import cloud
from tests.functional.watcher import base, test_recover

RESTART = 'kronos_restart_server'
ONE = base.uuid(1)


class RestartTestCase(test_recover.RecoverTestCase):
    def setUp(self):
        super().setUp()
        self.set('kronos', restart_servers=True, preflight_wait=0)

    @property
    def server(self):
        return self.cloud.servers[ONE]

    def audited(self):
        """The newest plan of a new audit, and what it says of the server."""
        audit = self.recover()
        self.assertEqual('SUCCEEDED', audit['state'], self.message(audit))
        return self.plan(audit)

    def restarted(self, state='SUCCEEDED'):
        """Carry a recovery out; its only action."""
        plan = self.audited()
        self.start(plan)
        [action] = self.actions(plan)
        self.assertEqual(RESTART, action.action_type)
        self.assertEqual(state, action.state, action.status_message)
        return action

    def left_alone(self, code, uuid=ONE):
        self.assertEqual([], self.actions(self.audited()))
        report = self.report()
        self.assertEqual(code, report['stayed_codes'][uuid])
        self.assertEqual([], report['restarts'])
        return report['stayed'][uuid]


class TestPlan(RestartTestCase):
    START_APPLIER = False

    def test_not_asked_for(self):
        self.set('kronos', restart_servers=False)
        self.cloud.crash(ONE)
        self.left_alone('instance_not_active')

    def test_a_crash(self):
        self.cloud.crash(ONE)
        plan = self.audited()
        [action] = self.actions(plan)
        told = action.input_parameters
        self.assertEqual(('h1', 'h1', 1, 'crash', ''), tuple(
            told[name] for name in (
                'source_node', 'destination_node', 'attempt', 'failure',
                'stopped',
            )
        ))  # fmt: skip
        efficacy = {
            one['name']: one['value'] for one in plan['efficacy_indicators']
        }
        self.assertEqual(1, efficacy['restarts'])
        self.assertEqual(0, efficacy['servers_in_trouble_after'])
        self.assertEqual('crash', self.report()['failed_servers'][ONE])

    def test_an_i_o_error(self):
        """It is paused, and Nova calls it ACTIVE."""
        self.cloud.crash(ONE, 'io_error')
        [action] = self.actions(self.audited())
        self.assertIn(
            action.input_parameters['destination_node'], ('h4', 'h5')
        )
        found = replay(self.recording(), ReplayOptions()).report
        hidden = replay(
            anonymizer.anonymized(self.recording()), ReplayOptions()
        ).report
        for report in (found, hidden):
            [(_, restart)] = outcome.restarts(report.scopes)
            self.assertTrue(restart.is_elsewhere)
        self.assertEqual(
            action.input_parameters['destination_node'],
            restart.destination
            if restart is outcome.restarts(found.scopes)[0][1]
            else outcome.restarts(found.scopes)[0][1].destination,
        )

    def test_with_the_host(self):
        """Two of them close the host, and leave it, too."""
        self.cloud.crash(ONE, 'io_error')
        self.cloud.crash(base.uuid(2), 'io_error')
        kinds = self.kinds(self.audited())
        self.assertEqual(
            [test_recover.CLOSE, *[test_recover.MOVE] * 3, *[RESTART] * 2],
            kinds,
        )

    def test_no_room_elsewhere(self):
        self.cloud.crash(ONE, 'io_error')
        self.cloud.capacities = dict.fromkeys(
            ['h2', 'h3', 'h4', 'h5'], (2, 2048)
        )
        for host in ('h4', 'h5'):
            self.cloud.capacities[host] = (0, 0)
        reason = self.left_alone('no_destination')
        self.assertIn('it cannot be restarted elsewhere: no legal', reason)

    def test_no_destination_at_fault(self):
        self.cloud.crash(ONE, 'io_error')
        self.set('kronos', exclude_hosts_query='faulty')
        self.cloud.faulty = {'h4': 1}
        [action] = self.actions(self.audited())
        self.assertNotEqual('h4', action.input_parameters['destination_node'])

    def test_stopped_by_users(self):
        """Twenty of them, although they are said to have failed."""
        for number in range(20):
            one = cloud.Server(base.uuid(100 + number), 'h3', f'off{number}')
            one.status, one.guest = 'SHUTOFF', 'shutdown'
            one.cpu = one.memory = 0.01
            one.stops = [('req-1', 'joe'), ('req-0', '')]
            self.cloud.servers[one.uuid] = one
            self.cloud.failed[one.uuid] = 'crash'
        self.left_alone('instance_stopped', base.uuid(100))

    def test_who_is_left_alone(self):
        for change, code in (
            ({'locked': True}, 'instance_locked'),
            ({'metadata': {'kronos:recover': 'False'}},
             'instance_recovery_off'),
            ({'task_state': 'powering-on'}, 'instance_busy'),
            ({'status': 'SUSPENDED'}, 'instance_not_active'),
            ({'status': 'ACTIVE', 'guest': 'running'}, 'instance_runs'),
            ({'stops': []}, 'instance_stopped'),
        ):  # fmt: skip
            self.cloud.crash(ONE)
            before = dict(vars(self.server))
            vars(self.server).update(change)
            self.left_alone(code)
            vars(self.server).update(before)

    def test_nobody_can_tell_whether_it_runs(self):
        self.cloud.crash(ONE, 'io_error')
        path = f'/nova/v2.1/servers/{ONE}/diagnostics'
        self.cloud.answers[('GET', path)] = [501]
        self.left_alone('instance_guest_unknown')

    def test_a_replay_knows_the_owners_wish(self):
        self.cloud.crash(ONE)
        self.server.metadata = {'kronos:recover': 'false'}
        self.left_alone('instance_recovery_off')
        hidden = anonymizer.anonymized(self.recording())
        [scope] = replay(hidden, ReplayOptions()).report.scopes
        self.assertEqual([], outcome.of(scope).restarts)

    def test_too_many_hosts_at_fault(self):
        for number in (1, 2, 11, 12):
            self.cloud.crash(base.uuid(number), 'io_error')
        self.left_alone('scope_too_many_at_fault')


class TestRestarts(RestartTestCase):
    def test_first_here_then_elsewhere_then_no_more(self):
        self.cloud.crash(ONE)
        self.restarted()
        self.assertEqual(('ACTIVE', 'running', 'h1'), (
            self.server.status, self.server.guest, self.server.host
        ))  # fmt: skip
        self.assertEqual(['start'], self.server.steps)
        self.cloud.crash(ONE)
        action = self.restarted()
        self.assertEqual(2, action.input_parameters['attempt'])
        self.assertEqual(
            ['start', 'migrate', 'confirm', 'start'], self.server.steps
        )
        self.assertNotEqual('h1', self.server.host)
        self.assertEqual('ACTIVE', self.server.status)
        self.cloud.crash(ONE)
        reason = self.left_alone('instance_restarted')
        self.assertIn('restarted 2 times within 10 min', reason)

    def test_a_guest_that_is_paused(self):
        self.cloud.crash(ONE, 'io_error')
        action = self.restarted()
        self.assertEqual(
            ['stop', 'migrate', 'confirm', 'start'], self.server.steps
        )
        self.assertIn(self.server.host, ('h4', 'h5'))
        told = action.input_parameters['recovery']
        self.assertEqual(self.server.stops[0][0], told['stop'])
        self.assertIn(('migrate', told['migrate']), self.server.asked)

    def test_it_runs_again(self):
        self.cloud.crash(ONE)
        plan = self.audited()
        self.server.status, self.server.guest = 'ACTIVE', 'running'
        self.start(plan)
        [action] = self.actions(plan)
        self.assertEqual('SKIPPED', action.state)
        self.assertIn('[instance_runs]', action.status_message)
        self.assertEqual([], self.server.steps)

    def refused(self, change, fault):
        self.cloud.crash(ONE)
        plan = self.audited()
        change(self.server)
        self.start(plan)
        [action] = self.actions(plan)
        self.assertIn(f'[{fault}]', action.status_message)
        self.assertEqual([], self.server.steps)
        # What was never begun does not count.
        self.assertNotIn('recovery', action.input_parameters)

    def test_locked_meanwhile(self):
        self.refused(lambda s: setattr(s, 'locked', True), 'instance_locked')

    def test_its_owner_wants_none_meanwhile(self):
        self.refused(
            lambda s: s.metadata.update({'kronos:recover': 'false'}),
            'instance_recovery_off',
        )

    def test_stopped_by_a_user_meanwhile(self):
        self.refused(
            lambda s: s.stops.insert(0, ('req-9', 'joe')), 'instance_stopped'
        )

    def test_busy_meanwhile(self):
        self.refused(
            lambda s: setattr(s, 'task_state', 'powering-on'), 'instance_busy'
        )

    def test_it_is_not_said_to_have_failed_any_more(self):
        self.refused(lambda s: self.cloud.failed.clear(), 'instance_well')

    def test_nobody_knows(self):
        self.refused(lambda s: self.refuse('timestamp'), 'prometheus_error')

    def test_the_destination_is_full_meanwhile(self):
        self.cloud.crash(ONE, 'io_error')
        plan = self.audited()
        [action] = self.actions(plan)
        there = action.input_parameters['destination_node']
        self.cloud.capacities = {there: (0, 0)}
        self.start(plan)
        [action] = self.actions(plan)
        self.assertIn('[destination_full]', action.status_message)
        self.assertEqual([], self.server.steps)

    def test_nova_gives_up_to_migrate(self):
        """It runs where it was; when it fails again, it goes to a third."""
        self.cloud.crash(ONE, 'io_error')
        self.server.refuses = {'migrate': 'No valid host was found.'}
        action = self.restarted('FAILED')
        self.assertIn(
            'KRONOS:MigrationFailed: [restart_failed] it is not migrated to',
            action.status_message,
        )
        self.assertIn('No valid host', action.status_message)
        self.assertIn('it was started on h1 again', action.status_message)
        self.assertEqual(
            ('ACTIVE', 'h1'), (self.server.status, self.server.host)
        )
        self.server.refuses = {}
        self.cloud.crash(ONE, 'io_error')
        self.restarted()
        refused = action.input_parameters['destination_node']
        self.assertEqual('ACTIVE', self.server.status)
        self.assertNotIn(self.server.host, ('h1', refused))

    def test_nova_does_not_take_the_move(self):
        """What was stopped is started, and Nova's words are told."""
        self.cloud.crash(ONE, 'io_error')
        plan = self.audited()
        real = self.cloud.answer

        def answer(method, path, query, body):
            if method == 'POST' and 'migrate' in (body or ()):
                text = 'Policy does not allow this'
                raise cloud.Answer(403, {'forbidden': {'message': text}})
            return real(method, path, query, body)

        self.cloud.answer = answer
        self.start(plan)
        [action] = self.actions(plan)
        self.assertEqual('FAILED', action.state)
        self.assertIn(
            'Nova refuses: HTTP 403: Policy does not allow this; it was '
            'started on h1 again',
            action.status_message,
        )
        self.assertEqual(('ACTIVE', 'h1'), (
            self.server.status, self.server.host,
        ))  # fmt: skip

    def test_three_crashes_three_hosts(self):
        hosts = [self.server.host]
        for _ in range(2):
            self.cloud.crash(ONE, 'io_error')
            self.restarted()
            hosts.append(self.server.host)
        self.assertEqual(3, len(set(hosts)), hosts)
        self.cloud.crash(ONE, 'io_error')
        self.left_alone('instance_restarted')

    def test_three_tries_on_three_hosts(self):
        """Kronos stops it, and nowhere does it come up."""
        self.cloud.crash(ONE, 'hang')
        self.server.status, self.server.guest = 'ACTIVE', 'paused'
        self.server.refuses = {'start': 'no libvirt'}
        hosts = []
        for _ in range(3):
            self.restarted('FAILED')
            hosts.append(self.server.host)
        self.assertEqual(3, len(set(hosts)), hosts)
        self.left_alone('instance_restarted')

    def resized(self):
        """By its user, who looks at it before it is confirmed."""
        self.server.status, self.server.host = 'VERIFY_RESIZE', 'h4'
        self.server.asked.insert(0, ('resize', 'req-of-its-user'))

    def test_a_resize_of_its_user(self):
        """It is named, and left to them, after a restart that failed, too."""
        self.cloud.crash(ONE, 'io_error')
        self.server.refuses = {'migrate': 'No valid host was found.'}
        self.restarted('FAILED')
        self.server.refuses = {}
        self.cloud.failed.clear()
        steps = list(self.server.steps)
        self.resized()
        for failed in ({}, {ONE: 'crash'}):
            self.cloud.failed = failed
            reason = self.left_alone('instance_not_active')
            self.assertIn('in VERIFY_RESIZE by somebody else', reason)
        self.assertEqual(steps, self.server.steps)

    def test_a_resize_of_its_user_meanwhile(self):
        """Ours waited when it was planned."""
        self.die_after('confirm')
        self.useFixture(
            test_recover.fixtures.MonkeyPatch(
                'kronos.extensions.recovery.restarts.ALIVE_SECONDS', 0.0
            )
        )
        plan = self.audited()
        steps = list(self.server.steps)
        self.resized()
        self.server.host = self.actions(plan)[0].input_parameters[
            'source_node'
        ]
        self.start(plan)
        [action] = self.actions(plan)
        self.assertIn('[instance_not_active]', action.status_message)
        self.assertEqual(steps, self.server.steps)

    def die_after(self, step):
        """An applier that dies: its action stays as it is."""
        self.cloud.crash(ONE, 'io_error')
        self.server.refuses = {step: 'the applier died'}
        action = self.restarted('FAILED')
        self.server.refuses = {}
        self.cloud.failed.clear()
        row = objects.Action.get_by_uuid(self.context, action.uuid, eager=True)
        row.state = 'ONGOING'
        row.save()
        return row

    def test_an_applier_that_died(self):
        self.die_after('confirm')
        self.assertEqual('VERIFY_RESIZE', self.server.status)
        # Its row may still be written: it is not taken for dead at once.
        self.left_alone('instance_on_its_way')
        self.useFixture(
            test_recover.fixtures.MonkeyPatch(
                'kronos.extensions.recovery.restarts.ALIVE_SECONDS', 0.0
            )
        )
        self.restarted()
        self.assertEqual('ACTIVE', self.server.status)
        self.assertNotEqual('h1', self.server.host)

    def test_a_plan_that_is_cancelled_under_way(self):
        """What it has stopped it also starts."""
        self.cloud.crash(ONE, 'io_error')
        plan = self.audited()

        def cancel(server, name):
            if name == 'stop':
                self.admin_api.patch(
                    f'/action_plans/{plan["uuid"]}',
                    [{
                        'op': 'replace',
                        'path': '/state',
                        'value': 'CANCELLING',
                    }],
                )  # fmt: skip

        self.cloud.on_step = cancel
        self.start(plan)
        self.assertEqual('ACTIVE', self.server.status)
        self.assertEqual('start', self.server.steps[-1])
