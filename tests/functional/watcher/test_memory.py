# SPDX-License-Identifier: Apache-2.0
"""Do audits leave alone what was moved or failed?"""

import datetime
import time

import fixtures
import requests
from watcher import objects

from tests.fakes.small_cloud import cloud
from tests.functional.watcher import base


class MemoryTestCase(base.KronosTestCase):
    CAST_AS_CALL = False

    def setUp(self):
        super().setUp()
        self.set(
            'kronos',
            instance_cooldown=0,
            instance_quarantine_seconds=0,
            return_guard=0,
        )

    def planned(self, moves=1):
        audit = self.create_audit(
            parameters={'aggregates': 'alpha', 'max_migrations': moves}
        )
        self.assertEqual('SUCCEEDED', audit['state'], self.message(audit))
        return audit, self.plan(audit)

    def moved(self, plan):
        """The servers of a plan."""
        return [
            action.input_parameters['resource_id']
            for action in self.actions(plan)
        ]

    def by_hand(self, uuid, destination, status='completed', ago=60.0):
        """``openstack server migrate``, as Nova has it afterwards."""
        server = self.cloud.servers[uuid]
        number = len(self.cloud.migrations) + 1
        then = time.time() - ago
        self.cloud.migrations.append(
            cloud.Migration(
                id=number,
                uuid=f'b0000000-0000-0000-0000-{number:012d}',
                request='',
                server=server,
                source=server.host,
                destination=destination,
                script=[status],
                began=then,
                updated=then,
            )
        )
        if status == 'completed':
            server.host = destination


class TestAggregate(MemoryTestCase):
    def setUp(self):
        super().setUp()
        self.set('kronos', cooldown=600)

    def assert_cools_down(self):
        audit, plan = self.planned()
        self.assertEqual([], self.actions(plan))
        self.assertRegex(
            self.message(audit),
            r'^aggregate alpha cools down for \d+ (s|min): ',
        )

    def test_a_plan_that_was_started(self):
        """Not the recommended one; deleting it changes nothing."""
        _, plan = self.planned()
        _, plan = self.planned()
        self.assertEqual(1, len(self.actions(plan)))
        self.start(plan)
        self.assert_cools_down()
        self.admin_api.delete(f'/action_plans/{plan["uuid"]}')
        self.assert_cools_down()

    def test_a_move_by_hand(self):
        self.by_hand(base.uuid(1), 'h3')
        self.assert_cools_down()

    def test_a_move_by_hand_elsewhere(self):
        self.cloud.servers[base.uuid(99)] = cloud.Server(
            base.uuid(99), 'h5', 'vm99'
        )
        self.by_hand(base.uuid(99), 'h5')
        self.cloud.migrations[-1].source = 'gone'
        _, plan = self.planned()
        self.assertEqual(1, len(self.actions(plan)))

    def forced(self):
        """The plan and the message of an audit that minds no other plan."""
        headers = self.admin_api._headers()
        headers['OpenStack-API-Version'] = 'infra-optim 1.5'
        body = {
            'audit_type': 'ONESHOT',
            'goal': 'kronos_balance',
            'strategy': 'kronos_spread',
            'parameters': {'aggregates': 'alpha', 'max_migrations': 1},
            'force': True,
        }
        response = requests.post(
            f'{self.admin_api.base_url}/audits',
            json=body,
            headers=headers,
            timeout=60,
        )
        self.assertEqual(201, response.status_code, response.text)
        audit = self.wait_for('audits', response.json()['uuid'])
        return self.plan(audit), self.message(audit)

    def rewrite(self, plan, state, ago=0.0):
        """Leave a plan as its applier would have, so many seconds ago."""
        row = objects.ActionPlan.get_by_uuid(
            self.context, plan['uuid'], eager=True
        )
        row.state = state
        row.save()
        now = datetime.datetime.now(datetime.UTC)
        actions = objects.Action.list(
            self.context,
            filters={'action_plan_uuid': plan['uuid']},
            eager=True,
        )
        for one in [row, *actions]:
            one.created_at = one.updated_at = now - datetime.timedelta(
                seconds=ago
            )
            one.save()

    def test_a_plan_that_waits_for_an_applier(self):
        """Until an operator cancels it by the uuid that is told."""
        _, plan = self.planned()
        self.rewrite(plan, 'PENDING', ago=7200.0)
        later, message = self.forced()
        self.assertEqual([], self.actions(later))
        self.assertIn(f'action plan {plan["uuid"]} is PENDING', message)
        response = self.admin_api.patch(
            f'/action_plans/{plan["uuid"]}',
            [{'op': 'replace', 'path': '/state', 'value': 'CANCELLED'}],
        )
        self.assertEqual(200, response.status_code, response.text)
        later, _ = self.forced()
        self.assertEqual(1, len(self.actions(later)))

    def test_a_plan_whose_applier_was_killed(self):
        _, plan = self.planned()
        self.rewrite(plan, 'ONGOING')
        later, message = self.forced()
        self.assertEqual([], self.actions(later))
        self.assertIn(f'action plan {plan["uuid"]} is ONGOING', message)
        self.rewrite(plan, 'ONGOING', ago=601.0)
        log = self.useFixture(fixtures.FakeLogger())
        later, _ = self.forced()
        self.assertEqual(1, len(self.actions(later)))
        self.assertIn(f'waits in action plan {plan["uuid"]}', log.output)


class TestInstance(MemoryTestCase):
    def test_a_failed_move(self):
        self.set('kronos', instance_quarantine_seconds=-1)
        _, plan = self.planned()
        (uuid,) = self.moved(plan)
        self.cloud.servers[uuid].script = ('accepted', 'running', 'failed')
        self.start(plan)
        _, plan = self.planned()
        (other,) = self.moved(plan)
        self.assertNotEqual(uuid, other)
        # Until it is moved by hand.
        self.by_hand(uuid, 'h4', ago=-5)
        self.by_hand(uuid, 'h1', ago=-6)
        _, plan = self.planned()
        self.assertEqual([uuid], self.moved(plan))

    def test_nova_was_away(self):
        self.set('kronos', instance_quarantine_seconds=-1)
        _, plan = self.planned()
        self.cloud.down.add(('GET', '/nova/v2.1/servers'))
        self.start(plan)
        self.cloud.down.clear()
        _, again = self.planned()
        self.assertEqual(self.moved(plan), self.moved(again))
        self.set('kronos', instance_cooldown=900)
        _, later = self.planned()
        self.assertNotEqual(self.moved(plan), self.moved(later))

    def test_allocations_that_nobody_mends(self):
        """It fails once, whatever the cooldowns are, until they are right."""
        _, plan = self.planned()
        (uuid,) = self.moved(plan)
        host = self.cloud.servers[uuid].host
        self.cloud.leftovers[uuid] = {'h3': {'VCPU': 1, 'MEMORY_MB': 1024}}
        self.start(plan)
        [action] = self.actions(plan)
        self.assertEqual('FAILED', action.state)
        for words in (
            'KRONOS:PreFlightError: [instance_allocations] ',
            f'"nova-manage placement heal_allocations --instance {uuid} '
            '--force" corrects them',
        ):
            self.assertIn(words, action.status_message)
        for _ in range(3):
            _, later = self.planned(moves=12)
            self.assertNotIn(uuid, self.moved(later))
        self.assertEqual(host, self.cloud.servers[uuid].host)
        self.cloud.leftovers.clear()
        _, later = self.planned()
        self.assertEqual([uuid], self.moved(later))

    def test_a_move_by_hand(self):
        _, plan = self.planned()
        (uuid,) = self.moved(plan)
        self.by_hand(uuid, 'h4')
        self.by_hand(uuid, 'h1')
        _, plan = self.planned()
        self.assertEqual([uuid], self.moved(plan))
        self.set('kronos', instance_cooldown=900)
        _, plan = self.planned()
        self.assertNotIn(uuid, self.moved(plan))


class TestHorizon(MemoryTestCase):
    def test_a_long_migration_still_counts(self):
        """Nova touched its row before the time that it is asked for."""
        self.set('kronos', cooldown=600)
        self.by_hand(base.uuid(1), 'h3', status='queued', ago=7200.0)
        self.cloud.servers[base.uuid(1)].task_state = 'migrating'
        audit, plan = self.planned()
        self.assertEqual([], self.actions(plan))
        self.assertIn('is being migrated h1 -> h3', self.message(audit))
        # A row that a killed nova-compute left behind counts no more.
        self.cloud.servers[base.uuid(1)].task_state = None
        _, plan = self.planned()
        self.assertEqual(1, len(self.actions(plan)))
