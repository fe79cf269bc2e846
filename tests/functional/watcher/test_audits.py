# SPDX-License-Identifier: Apache-2.0
"""Does every audit end as it should, with a sentence that says why?"""

import fixtures
import yaml
from watcher import objects
from watcher.common import context
from watcher.decision_engine.audit import continuous

from tests.fakes.small_cloud import cloud
from tests.functional.watcher import base

PROMETHEUS = ('GET', '/prometheus'), ('POST', '/prometheus')


class Oneshot(base.KronosTestCase):
    START_APPLIER = False

    def ends(self, state, *words, **fields):
        audit = self.create_audit(**fields)
        message = self.message(audit)
        self.assertEqual(state, audit['state'], message)
        for word in words:
            self.assertIn(word, message)
        self.assertLessEqual(len(message), 210)
        return audit


class OneshotTestCase(Oneshot):
    def test_a_plan(self):
        """Nova is asked for nothing; the phase is told."""
        audit = self.ends('SUCCEEDED', 'alpha: 3 migrations, combined')
        plan = self.plan(audit)
        self.assertEqual('RECOMMENDED', plan['state'])
        values = {
            row['name']: row['value'] for row in plan['efficacy_indicators']
        }
        self.assertEqual(3, values['migrations'])
        self.assertAlmostEqual(0.6, values['combined_imbalance_before'])
        self.assertLess(values['combined_imbalance_after'], 0.6)
        self.assertEqual(2, values['hosts_over_threshold_before'])
        removed, possible = plan['global_efficacy']
        self.assertEqual('imbalance_removed', removed['name'])
        self.assertGreater(removed['value'], 0)
        self.assertEqual('removed_of_possible', possible['name'])
        self.assertGreaterEqual(possible['value'], removed['value'])
        for number, action in enumerate(self.actions(plan), start=1):
            self.check_action(number, action, plan, audit)
        self.assertFalse([c for c in self.cloud.calls if c[0] == 'DELETE'])
        self.assertEqual([], self.cloud.migrations)

    def test_nothing_is_kept_unasked(self):
        """Neither a report nor a recording is tried."""
        log = self.useFixture(fixtures.FakeLogger())
        self.ends('SUCCEEDED', 'alpha: 3 migrations, combined')
        self.assertNotIn('is lost', log.output)
        self.assertNotIn('the report is', log.output)
        self.assertNotIn('the recording is', log.output)

    def check_action(self, number, action, plan, audit):
        told = action.input_parameters
        self.assertEqual('kronos_live_migrate', action.action_type)
        self.assertEqual('PENDING', action.state)
        self.assertEqual('alpha', told['aggregate'])
        self.assertEqual('spread', told['phase'])
        self.assertEqual(number, told['sequence'])
        self.assertIn(told['source_node'], ('h1', 'h2'))
        self.assertIn(told['destination_node'], ('h2', 'h3', 'h4'))
        self.assertEqual(
            self.cloud.servers[told['resource_id']].name, told['resource_name']
        )
        self.assertRegex(told['imbalance'], r'^cpu 0\.\d+ -> 0\.\d+, memory')
        self.assertEqual(action.uuid, told['action_uuid'])
        self.assertEqual(plan['uuid'], told['action_plan_uuid'])
        self.assertEqual(audit['uuid'], told['audit_uuid'])

    def test_parameters_as_they_are_typed(self):
        audit = self.ends(
            'SUCCEEDED',
            'alpha: 2 migrations',
            parameters={
                'aggregates': ' alpha ',
                'max_migrations': '2',
                'include_unassigned_hosts': 'True',
                'restrict_to_az': 'false',
            },
        )
        self.assertIn('_unassigned_', self.message(audit))

    def test_two_scopes_keep_to_themselves(self):
        self.cloud.aggregates = {'a': ['h1', 'h3'], 'b': ['h2', 'h4']}
        for one in base.servers('h2', 21, 4):
            self.cloud.servers[one.uuid] = one
        audit = self.ends(
            'SUCCEEDED', 'a: ', 'b: ', parameters={'aggregates': 'a,b'}
        )
        moves = [
            (
                action.input_parameters['aggregate'],
                action.input_parameters['source_node'],
                action.input_parameters['destination_node'],
            )
            for action in self.actions(self.plan(audit))
        ]
        self.assertEqual({('a', 'h1', 'h3'), ('b', 'h2', 'h4')}, set(moves))

    def test_nothing_to_do(self):
        hosts = iter(['h1', 'h2', 'h3', 'h4'] * 2)
        for one in self.cloud.servers.values():
            one.host = next(hosts)
        audit = self.ends('SUCCEEDED', 'alpha: ')
        plan = self.plan(audit)
        self.assertEqual('SUCCEEDED', plan['state'])
        self.assertEqual([], self.actions(plan))

    def test_no_scope(self):
        audit = self.ends(
            'FAILED', 'aggregates', 'include_unassigned_hosts', parameters={}
        )
        self.assertEqual([], self.plans(audit))

    def test_unknown_aggregate(self):
        self.ends(
            'FAILED', '"beta"', 'alpha', parameters={'aggregates': 'beta'}
        )

    def test_broken_policies(self):
        self.write_policies(base.POLICIES.replace('weight: 0.5', 'weight: 2'))
        self.ends('FAILED', self.policies_file, 'weight')

    def test_missing_policies(self):
        self.set('kronos', policies_file=self.policies_file + '.not')
        self.ends('FAILED', 'policies.yaml.not')

    def test_policies_of_another_mode(self):
        data = yaml.safe_load(base.POLICIES)
        for policy in data['policies']:
            policy.update(mode='pack', capacity_query='cpu_host')
        self.write_policies(yaml.safe_dump(data))
        self.ends('FAILED', 'mode pack', 'kronos_spread')

    def test_prometheus_away(self):
        self.cloud.down.update(PROMETHEUS)
        audit = self.ends('FAILED', 'Prometheus')
        self.assertEqual([], self.plans(audit))

    def test_nova_away(self):
        self.cloud.down.add(('GET', '/nova/v2.1/os-aggregates'))
        self.ends('FAILED', 'Nova', '503')

    def test_keystone_not_configured(self):
        self.set('watcher_clients_auth', auth_type='nonesuch')
        self.ends('FAILED', 'Nova: Keystone does not lead to its endpoint')

    def test_no_secret_is_told(self):
        self.set(
            'kronos_prometheus',
            url=self.cloud.prometheus_url.replace('://', '://joe:s3cret@'),
        )
        self.cloud.down.update(PROMETHEUS)
        audit = self.ends('FAILED')
        self.assertNotIn('s3cret', self.message(audit))


class ScopedAuditTestCase(base.KronosTestCase):
    START_APPLIER = False

    def test_scope_of_an_audit_template(self):
        scope = [
            {
                'compute': [
                    {'host_aggregates': [{'name': 'alpha'}]},
                    {'exclude': [{'compute_nodes': [{'name': 'h3'}]}]},
                ]
            }
        ]
        self.env.flags(group='collector', collector_plugins=['compute'])
        response = self.admin_api.post(
            '/audit_templates',
            {
                'name': 'even-alpha',
                'goal': 'kronos_balance',
                'strategy': 'kronos_spread',
                'scope': scope,
            },
        )
        self.assertEqual(201, response.status_code, response.text)
        response = self.admin_api.post(
            '/audits',
            {
                'audit_type': 'ONESHOT',
                'audit_template_uuid': response.json()['uuid'],
            },
        )
        self.assertEqual(201, response.status_code, response.text)
        audit = self.wait_for('audits', response.json()['uuid'])
        self.assertEqual('SUCCEEDED', audit['state'], self.message(audit))
        used = {
            action.input_parameters['destination_node']
            for action in self.actions(self.plan(audit))
        }
        self.assertLessEqual({'h4'}, used)
        self.assertNotIn('h3', used)


class Continuous(base.KronosTestCase):
    START_APPLIER = False
    CAST_AS_CALL = False

    @staticmethod
    def CLOUD():  # noqa: N802
        even = [
            cloud.Server(base.uuid(n), f'h{n % 4 + 1}', f'vm{n}')
            for n in range(8)
        ]
        return cloud.Cloud(
            ['h1', 'h2', 'h3', 'h4'], {'alpha': ['h1', 'h2', 'h3', 'h4']}, even
        )

    def setUp(self):
        super().setUp()
        goal = objects.Goal.get_by_name(self.context, 'kronos_balance')
        strategy = objects.Strategy.get_by_name(self.context, 'kronos_spread')
        self.audit = objects.Audit(
            self.context,
            uuid=base.uuid(99),
            name='for ever',
            audit_type='CONTINUOUS',
            state='PENDING',
            parameters={'aggregates': 'alpha'},
            interval='60',
            goal_id=goal.id,
            strategy_id=strategy.id,
            auto_trigger=False,
            scope=[],
            hostname='test-host',
        )
        self.audit.create()
        self.set('', host='test-host')

    def set(self, group, **options):
        super().set(group or None, **options)

    def run_audit(self):
        """One run, with the copy of the audit that the scheduler keeps."""
        continuous.ContinuousAuditHandler.execute_audit(
            objects.Audit.get_by_uuid(
                self.context, self.audit.uuid, eager=True
            ),
            context.RequestContext(is_admin=True),
        )
        row = self.admin_api.get(f'/audits/{self.audit.uuid}').json()
        return row['state'], self.message(row)


class ContinuousTestCase(Continuous):
    def test_idle_leaves_one_empty_plan(self):
        for _ in range(4):
            self.assertEqual('ONGOING', self.run_audit()[0])
        plan = self.plan({'uuid': self.audit.uuid})
        self.assertEqual('SUCCEEDED', plan['state'])

    def test_plans_with_actions_are_kept(self):
        self.run_audit()
        for one in self.cloud.servers.values():
            one.host = 'h1'
        self.run_audit()
        for n, one in enumerate(self.cloud.servers.values()):
            one.host = f'h{n % 4 + 1}'
        for _ in range(3):
            self.run_audit()
        states = sorted(
            (plan['state'], len(self.actions(plan)))
            for plan in self.plans({'uuid': self.audit.uuid})
        )
        # Watcher itself cancels a recommendation when the next run is over.
        self.assertEqual(['CANCELLED', 'SUCCEEDED'], [s for s, _ in states])
        self.assertGreater(states[0][1], 0)
        self.assertEqual(0, states[1][1])

    def test_survives_and_recovers(self):
        before = self.run_audit()
        self.assertEqual('ONGOING', before[0])
        self.cloud.down.update(PROMETHEUS)
        state, message = self.run_audit()
        self.assertEqual('ONGOING', state)
        self.assertIn('Prometheus', message)
        self.write_policies('policies: 7')
        state, message = self.run_audit()
        self.assertEqual('ONGOING', state)
        self.assertIn('policies.yaml', message)
        self.write_policies(base.POLICIES)
        self.cloud.down.clear()
        self.assertEqual(before, self.run_audit())

    def test_a_fresh_message_although_the_job_is_old(self):
        """An interval job keeps the audit as it was when it was made."""
        old = objects.Audit.get_by_uuid(
            self.context, self.audit.uuid, eager=True
        )
        admin = context.RequestContext(is_admin=True)
        for broken in (True, False, True):
            text = 'policies: 7' if broken else base.POLICIES
            self.write_policies(text)
            continuous.ContinuousAuditHandler.execute_audit(old, admin)
            message = self.message({'uuid': self.audit.uuid})
            self.assertEqual(broken, 'policies.yaml' in message, message)

    def test_a_plan_on_its_way_to_the_applier_is_kept(self):
        self.audit.auto_trigger = True
        self.audit.save()
        self.run_audit()
        first = self.plan({'uuid': self.audit.uuid})['uuid']
        self.run_audit()
        # No applier has taken the first one yet.
        kept = [p['uuid'] for p in self.plans({'uuid': self.audit.uuid})]
        self.assertIn(first, kept)
        self.assertEqual(2, len(kept))
        taken = objects.ActionPlan.get_by_uuid(self.context, first, eager=True)
        taken.hostname = 'applier'
        taken.save()
        self.run_audit()
        again = [p['uuid'] for p in self.plans({'uuid': self.audit.uuid})]
        self.assertEqual(set(kept), set(again))
