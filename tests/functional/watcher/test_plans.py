# SPDX-License-Identifier: Apache-2.0
"""Does the applier carry a plan out, side by side and within the limits?"""

import threading

from watcher import objects

from tests.functional.watcher import base

BUSY = ('accepted', *['running'] * 3, 'completed')


class PlanTestCase(base.KronosTestCase):
    CAST_AS_CALL = False

    def setUp(self):
        super().setUp()
        self.set('kronos', migration_timeout=30, queue_timeout=30)

    def planned(self, **parameters):
        audit = self.create_audit(
            parameters={
                'aggregates': 'alpha',
                'max_migrations': 6,
                **parameters,
            }
        )
        self.assertEqual('SUCCEEDED', audit['state'], self.message(audit))
        return self.plan(audit)

    def count(self):
        hosts = [one.host for one in self.cloud.servers.values()]
        return [hosts.count(f'h{n}') for n in range(1, 6)]

    def test_evens_the_hosts_out(self):
        for one in self.cloud.servers.values():
            one.script = BUSY
        plan = self.start(self.planned())
        self.assertEqual('SUCCEEDED', plan['state'])
        states = {action.state for action in self.actions(plan)}
        self.assertEqual({'SUCCEEDED'}, states)
        self.assertEqual([2, 2, 2, 2, 0], self.count())
        self.assertEqual(1, self.cloud.most['out'])
        self.assertLessEqual(self.cloud.most['into'], 2)
        self.assertLessEqual(self.cloud.most['all'], 2)
        # The same plan's moves are stale now, and the cloud is even.
        audit = self.create_audit()
        self.assertEqual([], self.actions(self.plan(audit)))

    def test_the_limits_need_no_parents(self):
        """Turns keep them, though several leave one host."""
        actions = self.actions(self.planned())
        self.assertEqual([], [one for one in actions if one.parents])
        sources = [one.input_parameters['source_node'] for one in actions]
        self.assertGreater(sources.count('h1'), 1)

    def test_every_ending_tells_why(self):
        plan = self.planned()
        actions = self.actions(plan)
        moved, locked, refused = [
            self.cloud.servers[action.input_parameters['resource_id']]
            for action in actions[:3]
        ]
        moved.host = actions[0].input_parameters['destination_node']
        locked.locked = True
        refused.script = ('accepted', 'error')
        refused.refusal = 'No valid host was found. '
        plan = self.start(plan)
        self.assertEqual('FAILED', plan['state'])
        told = [
            (action.state, action.status_message)
            for action in self.actions(plan)
        ]
        there = actions[0].input_parameters['destination_node']
        self.assertEqual(
            ('SUCCEEDED', f'KRONOS: the instance was on {there} already'),
            told[0],
        )
        self.assertEqual(
            (
                'FAILED',
                'Action failed in pre_condition: KRONOS:PreFlightError: '
                '[instance_locked] the instance cannot move: it is locked',
            ),
            told[1],
        )
        self.assertEqual(
            (
                'FAILED',
                'Action failed in execute: KRONOS:PreFlightError: '
                '[destination_refused] destination refused: No valid host '
                'was found.',
            ),
            told[2],
        )
        # A failed move does not stop the others.
        self.assertEqual({'SUCCEEDED'}, {state for state, _ in told[3:]})

    def test_nova_away(self):
        plan = self.planned(max_migrations=1)
        self.cloud.down.add(('GET', '/nova/v2.1/servers'))
        self.start(plan)
        (action,) = self.actions(plan)
        self.assertEqual('FAILED', action.state)
        self.assertIn('KRONOS:NovaClientError: ', action.status_message)

    def test_cancelling_the_plan_aborts_in_nova(self):
        plan = self.planned()
        for one in self.cloud.servers.values():
            one.script = ('accepted', *['running'] * 1000)
        running = threading.Event()
        self.cloud.on_look = lambda look: running.set()
        uuid = plan['uuid']
        self.admin_api.patch(
            f'/action_plans/{uuid}',
            [{'op': 'replace', 'path': '/state', 'value': 'PENDING'}],
        )
        self.assertTrue(running.wait(60))
        self.admin_api.patch(
            f'/action_plans/{uuid}',
            [{'op': 'replace', 'path': '/state', 'value': 'CANCELLING'}],
        )
        plan = self.wait_for('action_plans', uuid)
        begun = [m for m in self.cloud.migrations if m.aborted]
        self.assertEqual(self.cloud.migrations, begun)
        self.assertEqual([6, 2, 0, 0, 0], self.count())
        states = [action.state for action in self.actions(plan)]
        self.assertEqual(len(begun), states.count('FAILED'))
        for action in self.actions(plan):
            if action.state == 'FAILED':
                self.assertIn(
                    'KRONOS:MigrationCancelled: [plan_cancelled] its plan was '
                    'cancelled',
                    action.status_message,
                )

    def test_completed_instead_of_cancelled(self):
        plan = self.planned(max_migrations=1)
        uuid = plan['uuid']

        def cancel(look):
            row = objects.ActionPlan.get_by_uuid(
                self.context, uuid, eager=True
            )
            if row.state == 'ONGOING':
                row.state = 'CANCELLING'
                row.save()

        self.cloud.on_look = cancel
        for one in self.cloud.servers.values():
            one.script = ('accepted', *['post-migrating'] * 3, 'completed')
        self.start(plan)
        (action,) = self.actions(plan)
        self.assertEqual('SUCCEEDED', action.state)
        self.assertEqual(
            'KRONOS: completed instead of cancelled', action.status_message
        )
