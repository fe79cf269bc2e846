# SPDX-License-Identifier: Apache-2.0
"""Audits that run side by side never plan for the same hosts at once."""

import threading

import fixtures
from watcher import objects
from watcher.applier.messaging import trigger
from watcher.common import context, exception

from tests.functional.watcher import base

AT_ONCE = {'auto_trigger': True, 'force': True}
LOOKS = ('POST', '/prometheus/api/v1/query')
"""What every audit asks when it has read the past, Nova's too."""
QUERIES = 4
"""Of the policies, at every look."""


class RivalsTestCase(base.KronosTestCase):
    """While an audit looks at the cloud, another one plans."""

    CAST_AS_CALL = False

    def setUp(self):
        super().setUp()
        # What earlier plans changed is not measured, so queries are counted.
        self.set('kronos', effect_settling_seconds=86400)
        # Its answer comes when the other audit's moves are over.
        self.set('kronos_prometheus', timeout=200)
        self.asked = 0
        self.waiting = threading.Event()
        self.go_on = threading.Event()
        self.addCleanup(self.go_on.set)
        real = self.cloud.answer

        def answer(method, path, query, body):
            if (method, path) == LOOKS:
                self.asked += 1
                if self.asked == 1:
                    self.waiting.set()
                    self.go_on.wait(200)
            return real(method, path, query, body)

        self.cloud.answer = answer

    def start_audit(self, **fields):
        """An audit that is looking at the cloud until it is to go on."""
        audit = self.begin_audit(**AT_ONCE | fields)
        self.assertTrue(self.waiting.wait(60))
        return audit

    def ends(self, audit):
        """It, and the plans that it has launched.

        The next test has servers of the same names.
        """
        self.go_on.set()
        audit = self.wait_for('audits', audit['uuid'])
        if audit['auto_trigger']:
            for plan in self.plans(audit):
                self.wait_for('action_plans', plan['uuid'])
        return audit

    def moved(self, audit):
        """The servers in the plans of an audit."""
        return {
            action.input_parameters['resource_id']
            for plan in self.plans(audit)
            for action in self.actions(plan)
        }

    def test_the_one_that_is_late_plans_nothing(self):
        self.set('kronos', cooldown=600)
        late = self.start_audit()
        first = self.create_audit(**AT_ONCE)
        (plan,) = self.plans(first)
        self.wait_for('action_plans', plan['uuid'])
        self.assertEqual('SUCCEEDED', self.ends(late)['state'])
        self.assertEqual(3 * QUERIES, self.asked)
        self.assertEqual(3, len(self.moved(first)))
        self.assertEqual(set(), self.moved(late))
        self.assertIn('cools down', self.message(late))
        states = {
            action.state
            for plan in self.plans(first)
            for action in self.actions(plan)
        }
        self.assertEqual({'SUCCEEDED'}, states)

    def test_without_a_cooldown_it_plans_what_is_left(self):
        late = self.start_audit()
        first = self.create_audit(**AT_ONCE)
        self.wait_for('action_plans', self.plan(first)['uuid'])
        self.ends(late)
        self.assertEqual(set(), self.moved(first) & self.moved(late))

    def test_other_hosts_do_not_matter(self):
        self.cloud.aggregates = {'a': ['h1', 'h3'], 'b': ['h2', 'h4']}
        for one in base.servers('h2', 21, 4):
            self.cloud.servers[one.uuid] = one
        late = self.start_audit(parameters={'aggregates': 'a'})
        first = self.create_audit(parameters={'aggregates': 'b'}, **AT_ONCE)
        self.wait_for('action_plans', self.plan(first)['uuid'])
        self.ends(late)
        self.assertEqual(2 * QUERIES, self.asked)
        self.assertTrue(self.moved(first))
        self.assertTrue(self.moved(late))

    def test_a_plan_that_waits_for_an_operator_binds_nobody(self):
        late = self.start_audit(auto_trigger=False)
        first = self.create_audit(force=True)
        self.assertEqual('RECOMMENDED', self.plan(first)['state'])
        self.ends(late)
        self.assertEqual(2 * QUERIES, self.asked)
        self.assertEqual(self.moved(first), self.moved(late))

    def test_one_that_is_started_meanwhile_does(self):
        self.asked = 1
        older = self.create_audit(force=True)
        self.asked = 0
        late = self.start_audit()
        self.start(self.plan(older))
        self.ends(late)
        self.assertEqual(2 * QUERIES, self.asked)
        self.assertEqual(set(), self.moved(older) & self.moved(late))

    def test_a_rival_at_every_look(self):
        """It looks once more, then plans nothing and says why."""
        self.asked = 1
        older = self.plan(self.create_audit(force=True))
        rivals = []
        real = self.cloud.answer

        def answer(method, path, query, body):
            if (method, path) == LOOKS and not self.asked % QUERIES:
                rivals.append(self.write_rival(older, len(rivals)))
            return real(method, path, query, body)

        self.asked = QUERIES
        self.cloud.answer = answer
        audit = self.create_audit(**AT_ONCE)
        self.assertEqual('SUCCEEDED', audit['state'])
        self.assertEqual(2, len(rivals))
        self.assertEqual(set(), self.moved(audit))
        message = self.message(audit)
        self.assertIn(f'Nothing is planned: action plan {rivals[1]}', message)
        self.assertIn('for h1 came up', message)
        self.assertEqual(
            [
                f'KRONOS: action plan {rival} for h1 came up while this audit '
                'was looking, so this plan was deleted.'
                for rival in rivals
            ],
            self.deleted(audit),
        )

    def deleted(self, audit):
        """What the plans of an audit say that were deleted again."""
        everything = context.make_context(is_admin=True, show_deleted=True)
        plans = objects.ActionPlan.list(
            everything, filters={'audit_uuid': audit['uuid']}
        )
        return [
            plan.status_message
            for plan in sorted(plans, key=lambda one: one.id)
            if plan.state == 'DELETED'
        ]

    def write_rival(self, older, number):
        """A plan that somebody has started, of a server that nobody knows."""
        row = objects.ActionPlan.get_by_uuid(self.context, older['uuid'])
        plan = objects.ActionPlan(
            self.context,
            uuid=base.uuid(900 + number),
            audit_id=row.audit_id,
            strategy_id=row.strategy_id,
            state='ONGOING',
        )
        plan.create()
        objects.Action(
            self.context,
            uuid=base.uuid(950 + number),
            action_plan_id=plan.id,
            action_type='kronos_live_migrate',
            state='PENDING',
            parents=[],
            input_parameters={
                'resource_id': base.uuid(999),
                'aggregate': 'alpha',
                'source_node': 'h1',
                'destination_node': 'h9',
            },
        ).create()
        return plan.uuid


class TestLostTrigger(base.KronosTestCase):
    """An applier whose database has not got the plan yet begins nothing."""

    CAST_AS_CALL = False

    def test_the_next_audit_says_what_to_do(self):
        self.set('kronos', cooldown=40)
        lost = threading.Event()
        real = trigger.TriggerActionPlan.launch_action_plan

        def launch(endpoint, context, action_plan_uuid):
            if not lost.is_set():
                lost.set()
                raise exception.ActionPlanNotFound(
                    action_plan=action_plan_uuid
                )
            return real(endpoint, context, action_plan_uuid)

        self.useFixture(
            fixtures.MonkeyPatch(
                'watcher.applier.messaging.trigger.TriggerActionPlan.'
                'launch_action_plan',
                launch,
            )
        )
        plan = self.plan(self.create_audit(**AT_ONCE))
        self.assertTrue(lost.wait(60))
        for _ in range(2):
            later = self.create_audit(**AT_ONCE)
            message = self.message(later)
            self.assertIn(
                f'"openstack optimize actionplan start {plan["uuid"]}"',
                message,
            )
            self.assertNotIn('cools down', message)
            moves = [self.actions(one) for one in self.plans(later)]
            self.assertEqual([], [one for one in moves if one])
        self.assertEqual('SUCCEEDED', self.start(plan)['state'])
        self.assertIn('cools down', self.message(self.create_audit(**AT_ONCE)))
