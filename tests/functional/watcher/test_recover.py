# SPDX-License-Identifier: Apache-2.0
"""Hosts at fault are closed and drained, in one plan."""

import json
import pathlib

import fixtures

from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.recordings.part import NO_AUDIT
from kronos.recordings import load
from kronos.recordings.anonymize import anonymizer
from kronos.recordings.replay import ReplayOptions, replay
from tests.fakes.small_cloud import cloud
from tests.functional.watcher import base

QUERY = ('POST', '/prometheus/api/v1/query')
SERVICES = '/nova/v2.1/os-services/'
CLOSE, MOVE = 'kronos_close_host', 'kronos_live_migrate'


class RecoverTestCase(base.KronosTestCase):
    """Five hosts in alpha: five servers on h1, two on each of the next."""

    @staticmethod
    def CLOUD():  # noqa: N802
        return cloud.Cloud(
            ['h1', 'h2', 'h3', 'h4', 'h5'],
            {'alpha': ['h1', 'h2', 'h3', 'h4', 'h5']},
            base.servers('h1', 1, 5)
            + base.servers('h2', 11, 2)
            + base.servers('h3', 21, 2),
        )

    def setUp(self):
        super().setUp()
        folder = self.useFixture(fixtures.TempDir()).path
        self.folders = {
            name: pathlib.Path(folder, name)
            for name in ('reports', 'recordings')
        }
        for path in self.folders.values():
            path.mkdir()
        self.set(
            'kronos',
            report_dir=str(self.folders['reports']),
            record_dir=str(self.folders['recordings']),
            max_retries=0,
        )

    def fail_servers(self, *numbers, kind='io_error'):
        for number in numbers:
            self.cloud.failed[base.uuid(number)] = kind

    def recover(self, **fields):
        return self.create_audit(
            goal='kronos_recovery', strategy='kronos_recover', **fields
        )

    def kinds(self, plan):
        return [one.action_type for one in self.actions(plan)]

    def hosts_of(self, *numbers):
        return {self.cloud.servers[base.uuid(n)].host for n in numbers}

    def report(self):
        [scope] = json.loads(
            max(self.folders['reports'].glob('*.json')).read_text()
        )['scopes']
        return scope

    def recording(self):
        return load.read(str(max(self.folders['recordings'].iterdir())))

    def closed(self):
        return {
            name
            for name, one in self.cloud.services.items()
            if one['status'] == 'disabled'
        }

    def refuse(self, query):
        real = self.cloud.answer

        def answer(method, path, q, body):
            if (method, path) == QUERY and query in body['query']:
                raise cloud.Answer(400, {'status': 'error', 'error': 'no'})
            return real(method, path, q, body)

        self.cloud.answer = answer


class TestPlan(RecoverTestCase):
    START_APPLIER = False

    def test_one_host_at_fault(self):
        self.fail_servers(1, 2)
        audit = self.recover()
        self.assertEqual('SUCCEEDED', audit['state'], self.message(audit))
        self.assertIn('h1 is closed (it is at fault', self.message(audit))
        self.assertIn('h1: 3 leave, 2 stay', self.message(audit))
        plan = self.plan(audit)
        self.assertEqual([CLOSE, *[MOVE] * 3], self.kinds(plan))
        close, *moves = self.actions(plan)
        self.assertEqual('h1', close.input_parameters['source_node'])
        self.assertEqual([], close.parents)
        for one in moves:
            self.assertIn(close.uuid, one.parents)
            self.assertIs(True, one.input_parameters['source_closed'])
            self.assertEqual('h1', one.input_parameters['source_node'])
        efficacy = {
            one['name']: one['value'] for one in plan['efficacy_indicators']
        }
        self.assertEqual(5, efficacy['servers_in_trouble_before'])
        self.assertEqual(2, efficacy['servers_in_trouble_after'])
        self.assertEqual(1, efficacy['hosts_at_fault'])
        self.assertEqual(1, efficacy['hosts_closed'])
        self.assertEqual(3, efficacy['migrations'])

    def test_what_is_told_of_it(self):
        self.fail_servers(1, 2)
        self.recover()
        report = self.report()
        [closing] = report['closings']
        self.assertEqual('h1', closing['host'])
        self.assertEqual('host_at_fault', closing['code'])
        self.assertEqual(['h1'], list(report['hosts_at_fault']))
        failed = {base.uuid(1): 'io_error', base.uuid(2): 'io_error'}
        self.assertEqual(failed, report['failed_servers'])
        for uuid in failed:
            self.assertEqual('instance_failed', report['stayed_codes'][uuid])
            self.assertIn('failed itself', report['stayed'][uuid])

    def test_a_replay_plans_the_same(self):
        self.fail_servers(1, 2)
        plan = self.plan(self.recover())
        recording = self.recording()
        found = replay(recording, ReplayOptions()).report
        self.assertEqual(
            [
                (
                    one.input_parameters['resource_id'],
                    one.input_parameters['destination_node'],
                )
                for one in self.actions(plan)[1:]
            ],
            [(one.instance, one.destination) for one in found.steps],
        )
        self.assertEqual(['h1'], [one.host for _, one in found.closings])
        hidden = replay(
            anonymizer.anonymized(recording), ReplayOptions()
        ).report
        self.assertEqual(len(found.steps), len(hidden.steps))
        self.assertEqual(1, len(hidden.closings))

    def test_a_replay_of_another_audit_knows_no_failure(self):
        self.fail_servers(1, 2)
        self.create_audit()
        options = ReplayOptions(mode='recover')
        [scope] = replay(self.recording(), options).report.scopes
        self.assertEqual('failures_unknown', scope.stopped.value)
        self.assertEqual([], scope.closings)

    def test_three_hosts_at_fault(self):
        self.fail_servers(1, 2, 11, 12, 21, 22)
        audit = self.recover()
        self.assertEqual([], self.actions(self.plan(audit)))
        self.assertIn(
            '3 hosts are at fault or were closed by Kronos (h1, h2, h3), and '
            'max_closed_hosts is 1: the likely cause is the storage or the '
            'network',
            self.message(audit),
        )
        self.assertEqual(
            'scope_too_many_at_fault', self.report()['reason_code']
        )

    def test_closed_ones_count(self):
        self.cloud.services['h2'] |= {
            'status': 'disabled',
            'reason': 'KRONOS: at fault',
        }
        self.fail_servers(1, 2)
        audit = self.recover()
        self.assertIn('2 hosts are at fault or were', self.message(audit))
        self.assertEqual([], self.actions(self.plan(audit)))
        self.set('kronos', max_closed_hosts=2)
        plan = self.plans(self.recover())[0]
        self.assertEqual(CLOSE, self.kinds(plan)[0])

    def test_what_it_has_closed_goes_on_to_be_drained(self):
        self.cloud.services['h2'] |= {
            'status': 'disabled',
            'reason': 'KRONOS: at fault',
        }
        plan = self.plan(self.recover())
        self.assertEqual([MOVE] * 2, self.kinds(plan))
        self.assertNotIn(
            'source_closed', self.actions(plan)[0].input_parameters
        )

    def test_what_an_operator_has_disabled_is_left_alone(self):
        self.cloud.services['h2'] |= {'status': 'disabled', 'reason': 'why'}
        audit = self.recover()
        self.assertEqual([], self.actions(self.plan(audit)))
        self.assertIn('there is no host to drain', self.message(audit))

    def test_those_outside_of_the_audit_count(self):
        self.env.flags(group='collector', collector_plugins=['compute'])
        self.fail_servers(1, 2, 11, 12)
        nodes = [{'name': 'h2'}]
        template = self.admin_api.post(
            '/audit_templates',
            {
                'name': 'without h2',
                'goal': 'kronos_recovery',
                'strategy': 'kronos_recover',
                'scope': [
                    {
                        'compute': [
                            {'host_aggregates': [{'name': 'alpha'}]},
                            {'exclude': [{'compute_nodes': nodes}]},
                        ]
                    }
                ],
            },
        )
        audit = self.create_audit(
            audit_template_uuid=template.json()['uuid'],
            **{'goal': None, 'strategy': None, 'parameters': {}},
        )
        self.assertIn('2 hosts are at fault', self.message(audit))

    def test_one_i_o_error_is_no_fault_of_the_host(self):
        self.fail_servers(1)
        self.fail_servers(2, kind='crash')
        audit = self.recover()
        self.assertEqual([], self.actions(self.plan(audit)))

    def test_nobody_knows(self):
        for query in ('count by', 'timestamp'):
            self.refuse(query)
            self.fail_servers(1, 2)
            audit = self.recover()
            self.assertEqual('FAILED', audit['state'])
            self.assertIn('what to recover is unknown', self.message(audit))
            self.assertEqual([], self.plans(audit))


class TestActions(RecoverTestCase):
    def start_recovery(self, change=lambda: None):
        self.fail_servers(1, 2)
        plan = self.plan(self.recover())
        change()
        self.start(plan)
        return self.actions(plan)

    def test_closed_and_emptied(self):
        close, *moves = self.start_recovery()
        self.assertEqual('SUCCEEDED', close.state, close.status_message)
        self.assertEqual({'SUCCEEDED'}, {one.state for one in moves})
        service = self.cloud.services['h1']
        self.assertEqual('disabled', service['status'])
        self.assertTrue(service['reason'].startswith('KRONOS: at fault'))
        plan = close.input_parameters['action_plan_uuid']
        self.assertIn(plan, service['reason'])
        self.assertEqual({'h1'}, self.hosts_of(1, 2))
        self.assertNotIn('h1', self.hosts_of(3, 4, 5))
        calls = self.cloud.calls
        first = min(
            at
            for at, (verb, path) in enumerate(calls)
            if verb == 'POST' and path.endswith('/action')
        )
        self.assertLess(calls.index(('PUT', f'{SERVICES}0')), first)
        # Again: nothing is left to do, and it is not opened.
        again = self.plan(self.recover())
        self.assertEqual([], self.actions(again))
        self.assertEqual({'h1'}, self.closed())

    def no_move(self, actions):
        close, *moves = actions
        self.assertEqual([], self.cloud.migrations)
        for one in moves:
            self.assertEqual('SKIPPED', one.state)
            self.assertIn('[host_not_closed]', one.status_message)
        self.assertEqual(set(), self.closed())
        return close

    def test_the_closing_fails(self):
        self.cloud.answers[('PUT', SERVICES)] = [403]
        close = self.no_move(self.start_recovery())
        self.assertEqual('FAILED', close.state)
        self.assertIn(
            'KRONOS:NovaClientError: [nova_error]', close.status_message
        )

    def test_the_closing_fails_for_a_moment(self):
        self.set('kronos', max_retries=1)
        self.cloud.answers[('PUT', SERVICES)] = [503]
        close, *moves = self.start_recovery()
        self.assertEqual('SUCCEEDED', close.state, close.status_message)
        self.assertEqual({'SUCCEEDED'}, {one.state for one in moves})

    def test_the_answer_of_nova_gets_lost(self):
        self.set('kronos', max_retries=1)
        self.cloud.lost[('PUT', SERVICES)] = [cloud.RESET]
        close, *_ = self.start_recovery()
        self.assertEqual('SUCCEEDED', close.state, close.status_message)
        self.assertEqual({'h1'}, self.closed())

    def test_it_is_not_at_fault_any_more(self):
        close = self.no_move(self.start_recovery(self.cloud.failed.clear))
        self.assertEqual('SKIPPED', close.state)
        self.assertIn('[host_not_at_fault]', close.status_message)

    def test_others_are_at_fault_by_now(self):
        close = self.no_move(
            self.start_recovery(lambda: self.fail_servers(11, 12))
        )
        self.assertEqual('FAILED', close.state)
        self.assertIn(
            '[too_many_at_fault] 2 hosts of alpha', close.status_message
        )

    def test_others_are_rebooted_by_now(self):
        """A host that a run has handed over is silent, and well."""

        def hand_over():
            self.fail_servers(11, 12)
            reason = ClosingReason('r', Step.HANDED_OVER, 0.0, NO_AUDIT)
            self.cloud.services['h2'] |= {
                'status': 'disabled',
                'reason': str(reason),
            }

        close, *_ = self.start_recovery(hand_over)
        self.assertEqual('SUCCEEDED', close.state, close.status_message)
        self.assertEqual({'h1', 'h2'}, self.closed())

    def test_nobody_knows_any_more(self):
        close = self.no_move(
            self.start_recovery(lambda: self.refuse('count by'))
        )
        self.assertEqual('FAILED', close.state)
        self.assertIn(
            '[prometheus_error] host_fault_query', close.status_message
        )

    def test_disabled_by_somebody_else_meanwhile(self):
        def disable():
            self.cloud.services['h1'] |= {
                'status': 'disabled',
                'reason': 'maintenance',
            }

        close, *moves = self.start_recovery(disable)
        self.assertEqual('SUCCEEDED', close.state)
        self.assertEqual('maintenance', self.cloud.services['h1']['reason'])
        self.assertEqual({'SUCCEEDED'}, {one.state for one in moves})

    def test_a_plan_that_is_cancelled(self):
        self.fail_servers(1, 2)
        plan = self.plan(self.recover())
        self.admin_api.patch(
            f'/action_plans/{plan["uuid"]}',
            [{'op': 'replace', 'path': '/state', 'value': 'CANCELLED'}],
        )
        self.assertEqual(set(), self.closed())
        self.assertEqual([], self.cloud.migrations)
