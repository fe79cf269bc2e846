# SPDX-License-Identifier: Apache-2.0
"""Does the openstack client tell what Kronos did, by Watcher's own API?"""

import json
import re
import shlex

import fixtures
from watcher import objects
from watcher.common import policies, policy

from kronos.common.shell_commands import ShellCommand
from tests.functional.watcher import base, client_api

SHOWN = re.compile(r'openstack optimize (?:kronos plan list|\w+ \w+ [\w-]+)')


class TestOpenStackClient(base.KronosTestCase):
    CAST_AS_CALL = False

    def setUp(self):
        super().setUp()
        self.set('kronos', migration_timeout=30, queue_timeout=30)
        self.api = self.useFixture(client_api.ClientApi())

    def said(self, *arguments, token='of-an-admin'):
        return self.client(token).run('optimize', 'kronos', *arguments)

    def give(self, command):
        """Give a command that Kronos shows; what it prints."""
        program, *words = shlex.split(command)
        self.assertEqual('openstack', program)
        code, out, err = self.client('of-an-admin').run(*words, '-f', 'json')
        self.assertEqual(0, code, err)
        return json.loads(out)

    def client(self, token):
        return self.useFixture(self.api.client(token))

    def told(self, *arguments):
        code, out, err = self.said(*arguments, '-f', 'json')
        self.assertEqual((0, ''), (code, err))
        return json.loads(out)

    def assert_no_plan(self):
        code, out, err = self.said('plan', 'list', '-f', 'json')
        self.assertEqual((0, []), (code, json.loads(out)))
        self.assertEqual('Watcher has no action plan of Kronos.\n', err)

    def planned(self):
        return self.plan(
            self.create_audit(
                name='even',
                parameters={'aggregates': 'alpha', 'max_migrations': 3},
            )
        )

    def test_a_plan_and_its_servers(self):
        plan = self.planned()
        moves = [one.input_parameters for one in self.actions(plan)]
        locked = self.cloud.servers[moves[1]['resource_id']]
        (row,) = self.told('plan', 'list')
        self.assertEqual(
            (plan['uuid'], 'RECOMMENDED', 'kronos_spread', ['alpha']),
            tuple(row[x] for x in ('UUID', 'State', 'Strategy', 'Scope')),
        )
        self.assertEqual(
            (3, 0, 0), tuple(row[x] for x in ('Actions', 'Done', 'Failed'))
        )
        self.assertGreater(row['Imbalance Before'], row['Imbalance After'])
        self.assertIn('alpha: 3 migrations', row['Audit Message'])
        before = self.told('explain', moves[1]['resource_name'])
        self.assertIn(f'actionplan start {plan["uuid"]}', before['answer'])
        self.assertEqual('PENDING', before['actions'][0]['state'])

        locked.locked = True
        self.give(SHOWN.search(before['answer'])[0])
        self.wait_for('action_plans', plan['uuid'])
        (row,) = self.told('plan', 'list')
        self.assertEqual(
            (3, 2, 1), tuple(row[x] for x in ('Actions', 'Done', 'Failed'))
        )
        shown = self.told('plan', 'show', plan['uuid'])
        self.assertEqual(
            [
                (one['resource_id'], one['source_node'], one['phase'])
                for one in moves
            ],
            [(x['server'], x['source'], x['phase']) for x in shown['moves']],
        )
        failed = shown['moves'][1]
        self.assertEqual('instance_locked', failed['fault'])
        self.assertEqual('Unlock it if you want it to move.', failed['remedy'])
        self.assertEqual(3, shown['efficacy']['migrations'])
        self.assertEqual('even', shown['audit_name'])
        after = self.told('explain', moves[1]['resource_id'])
        self.assertIn('was FAILED', after['answer'])
        self.assertEqual(
            [(plan['uuid'], 'instance_locked')],
            [(one['plan'], one['fault']) for one in after['actions']],
        )
        self.assertEqual(['even'], [x['name'] for x in after['audits']])

    def test_a_plan_that_is_only_shown(self):
        self.useFixture(
            fixtures.MonkeyPatch('kronos.osc.run.polling.SECONDS', 0.05)
        )
        code, out, _ = self.said('run', 'spread', '--aggregate', 'alpha')
        self.assertEqual(0, code)
        plan = self.told('plan', 'list')[0]['UUID']
        shown = self.give(ShellCommand.PLAN_MOVES.of(plan=plan))
        self.assertIn(shown['moves'][0]['name'], out)
        cancelled = self.give(ShellCommand.PLAN_CANCEL.of(plan=plan))
        self.assertEqual('CANCELLED', cancelled['State'])

    def test_what_was_deleted_and_what_is_another_strategys(self):
        plan = self.planned()
        server = self.actions(plan)[0].input_parameters['resource_id']
        self.cloud.servers[server].locked = True
        self.start(plan)
        response = self.admin_api.delete(f'/action_plans/{plan["uuid"]}')
        self.assertEqual(204, response.status_code, response.text)
        self.assert_no_plan()
        code, _, err = self.said('plan', 'show', plan['uuid'])
        self.assertEqual(1, code)
        self.assertIn('has no action plan', err)
        self.assertEqual([], self.give(SHOWN.search(err)[0]))
        (gone,) = self.told('explain', server)['actions']
        self.assertEqual(
            ('DELETED', 'instance_locked', ''),
            (gone['state'], gone['fault'], gone['plan_state']),
        )
        dummy = self.plan(
            self.create_audit(goal='dummy', strategy='dummy', parameters={})
        )
        self.assert_no_plan()
        self.assertEqual(
            dummy['uuid'],
            self.told('plan', 'list', '--strategy', 'dummy')[0]['UUID'],
        )
        code, _, err = self.said('plan', 'show', dummy['uuid'])
        self.assertEqual(1, code)
        self.assertIn('belongs to the strategy dummy, not to Kronos', err)
        shown = self.give(SHOWN.search(err)[0])
        self.assertEqual(dummy['uuid'], shown['UUID'])

    def test_audit_that_is_not_there(self):
        """The command that the sink of the monitor shows makes it."""
        command = ShellCommand.AUDIT_CREATE.of(audit='recover it')
        self.give(command.replace('AGGREGATE', 'alpha'))
        [audit] = objects.Audit.list(self.context)
        self.assertEqual(
            ('recover it', 'EVENT', 'PENDING', 'alpha'),
            (
                audit.name,
                audit.audit_type,
                audit.state,
                audit.parameters['aggregates'],
            ),
        )
        cancelled = self.give(ShellCommand.AUDIT_CANCEL.of(audit=audit.name))
        self.assertEqual('CANCELLED', cancelled['State'])

    def test_refusals(self):
        """Watcher's own words for them are in the line."""
        plan = self.planned()
        # Watcher's tests allow everybody everything.
        defaults = {one.name: one.check for one in policies.list_rules()}
        policy.init().set_rules(defaults)
        commands = (
            ('plan', 'list'),
            ('plan', 'show', plan['uuid']),
            ('explain', 'vm1'),
        )
        for one in commands:
            code, out, err = self.said(*one, token='of-a-reader')
            self.assertEqual((1, ''), (code, out), err)
            self.assertRegex(err, r'^this requires the role .*HTTP 403.*\n$')
        self.useFixture(
            fixtures.MonkeyPatch('kronos.clients.watcher.MICROVERSION', '1.99')
        )
        for one in commands:
            code, out, err = self.said(*one)
            self.assertEqual((1, ''), (code, out), err)
            self.assertRegex(err, r'^Watcher.s API is too old.*HTTP 406\)\n$')
