# SPDX-License-Identifier: Apache-2.0
"""A run is planned while a plan of it is carried out, and nothing is twice."""

import re
import threading

from oslo_config import cfg
from watcher import objects

from tests.functional.watcher import base, maintained

CONF = cfg.CONF
ALLOCATIONS = re.compile('/placement/resource_providers/[^/]+/allocations')


class TestBeside(maintained.MaintainTestCase):
    """Two hosts with two servers each are maintained, two others are empty.

    The first hand-over waits until it is to go on.
    """

    CAST_AS_CALL = False
    SERVERS = {'h1': 2, 'h2': 2, 'h3': 0, 'h4': 0}

    def setUp(self):
        # The applier makes its workers as soon as it is there.
        CONF.set_override('workers', 3, 'watcher_applier')
        self.addCleanup(CONF.clear_override, 'workers', 'watcher_applier')
        super().setUp()
        self.waiting = threading.Event()
        self.go_on = threading.Event()
        self.addCleanup(self.go_on.set)
        real = self.cloud.answer

        def answer(method, path, query, body):
            is_look = method == 'GET' and ALLOCATIONS.fullmatch(path)
            if is_look and not self.waiting.is_set():
                self.waiting.set()
                self.go_on.wait(200)
            return real(method, path, query, body)

        self.cloud.answer = answer

    def begin(self):
        """A plan that empties one host, and is about to hand it over."""
        plan = self.plan(self.maintain(force=True))
        response = self.admin_api.patch(
            f'/action_plans/{plan["uuid"]}',
            [{'op': 'replace', 'path': '/state', 'value': 'PENDING'}],
        )
        self.assertEqual(200, response.status_code, response.text)
        self.assertTrue(self.waiting.wait(60))
        return plan, self.closed_host()

    def done_by(self, *plans):
        """What actions of plans did, and where; all of them SUCCEEDED."""
        rows = [row for plan in plans for row in self.actions(plan)]
        for row in rows:
            self.assertEqual('SUCCEEDED', row.state, row.status_message)
            self.assertNotIn('already', row.status_message or '')
        return [
            (row.action_type, row.input_parameters['source_node'])
            for row in rows
        ]

    def test_another_host_is_emptied_meanwhile(self):
        """Each server moves once, and each host is handed over once."""
        first, host = self.begin()
        audit = self.maintain(force=True, at_once=2)
        second = self.plan(audit)
        self.assertNotEqual([], self.actions(second), self.message(audit))
        self.start(second)
        self.assertEqual(
            'ONGOING',
            self.wait_for(
                'action_plans', first['uuid'], ('ONGOING', *base.OVER)
            )['state'],
        )
        self.go_on.set()
        self.wait_for('action_plans', first['uuid'])
        [other] = {*self.HOSTS} - {host}
        kinds = (
            'kronos_close_for_maintenance',
            'kronos_hand_over',
            'kronos_live_migrate',
            'kronos_live_migrate',
        )
        self.assertEqual(
            sorted((kind, name) for name in (host, other) for kind in kinds),
            sorted(self.done_by(first, second)),
        )

    def test_a_host_in_hand_is_left_to_its_plan(self):
        """It counts against k, and the audit ends without an action."""
        first, host = self.begin()
        audit = self.maintain(force=True, at_once=1)
        self.assertEqual([], self.actions(self.plan(audit)))
        message = self.message(audit)
        self.assertIn('1 host of the scope cannot take servers', message)
        self.assertNotIn('handed over', message)
        self.go_on.set()
        self.wait_for('action_plans', first['uuid'])
        self.assertEqual(
            1, self.done_by(first).count(('kronos_hand_over', host))
        )

    def test_what_a_cancelled_plan_left_is_planned_again(self):
        """As after an applier that was killed: the host is in no hand."""
        first, host = self.begin()
        row = objects.ActionPlan.get_by_uuid(
            self.context, first['uuid'], eager=True
        )
        row.state = 'CANCELLED'
        row.save()
        kinds = [
            (row.action_type, row.input_parameters['source_node'])
            for row in self.actions(self.plan(self.maintain(force=True)))
        ]
        self.assertEqual([('kronos_hand_over', host)], kinds)
        self.go_on.set()

    def test_without_force(self):
        """The audit says that it plans nothing beside other plans."""
        body = {
            'audit_type': 'CONTINUOUS',
            'interval': '60',
            'goal': 'kronos_maintenance',
            'strategy': 'kronos_maintain',
            'parameters': {'hosts': [*self.HOSTS], 'run': 'r1'},
        }
        uuid = self.admin_api.post('/audits', body).json()['uuid']
        audit = objects.Audit.get_by_uuid(self.context, uuid, eager=True)
        self.execute(audit)
        self.assertIn(
            'one plan at a time, and none beside other plans: the audit was '
            'created without --force',
            self.message({'uuid': uuid}),
        )
