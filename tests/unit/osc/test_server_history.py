# SPDX-License-Identifier: Apache-2.0
"""Is all told that Watcher has of a server, and nothing of others?"""

from typing import Any

from kronos.common import exceptions
from kronos.osc import server_history
from kronos.osc.server_history import ServerHistory
from tests.unit.osc import clouds
from tests.unit.osc.clouds import ago, uuid

NOTHING = (
    'Kronos has neither moved this server nor planned to move it in the last '
    '7 days.'
)


class TestFind(clouds.CloudTestCase):
    def find(self, server: str = 'vm1', days: int = 7) -> ServerHistory:
        return server_history.find(
            self.client, server, days, clouds.NOW.timestamp
        )

    def refused(self, server: str) -> str:
        error = self.assertRaises(
            exceptions.KronosException, self.find, server
        )
        return str(error)

    def moves(self, *arguments: Any) -> list[tuple[str, str]]:
        """State of each action and of its plan."""
        result = self.find(*arguments)
        return [(move.move.state, move.plan_state) for move in result.moves]

    def test_what_was_done(self) -> None:
        plan = self.add_plan(60)
        self.add_action(plan, 'vm1', updated_at=ago(50))
        self.add_action(plan, 'vm2', updated_at=ago(40))
        self.add_action(
            plan,
            'vm1',
            state='FAILED',
            updated_at=ago(30),
            status_message=clouds.TOLD,
        )
        result = self.find()
        self.assertEqual(
            ['FAILED', 'SUCCEEDED'], [x.move.state for x in result.moves]
        )
        self.assertEqual((uuid(1), 'vm1'), (result.server, result.name))
        self.assertRegex(
            result.answer,
            r'^vm1 h1 -> h2 \(spread\) was FAILED at \S+: the instance is '
            r'locked; in the last 7 days: 2 actions, 1 of 2 succeeded$',
        )

    def test_what_is_planned(self) -> None:
        plan = self.add_plan(60, state='RECOMMENDED')
        self.add_action(plan, state='PENDING', updated_at=None)
        result = self.find()
        self.assertEqual([('PENDING', 'RECOMMENDED')], self.moves())
        self.assertIn(
            f'is planned, and waits for: openstack optimize actionplan start '
            f'{plan}; in the last 7 days: 1 action, none has ended',
            result.answer,
        )

    def test_what_is_going_on(self) -> None:
        plan = self.add_plan(60, state='ONGOING')
        self.add_action(plan, state='ONGOING')
        self.assertIn('h1 -> h2 (spread) is running', self.find().answer)
        self.watcher.actions[0]['state'] = 'PENDING'
        self.assertIn('waits in a plan that is ONGOING', self.find().answer)

    def test_what_will_not_be(self) -> None:
        plan = self.add_plan(60, state='CANCELLED')
        self.add_action(plan, state='PENDING')
        self.assertEqual([('PENDING', 'CANCELLED')], self.moves())
        self.assertEqual(NOTHING, self.find().answer)

    def test_what_was_deleted(self) -> None:
        self.add_action(uuid(77), state='DELETED', status_message=clouds.TOLD)
        self.assertEqual([('DELETED', '')], self.moves())
        self.assertEqual('instance_locked', self.find().moves[0].move.fault)

    def test_how_far_back(self) -> None:
        plan = self.add_plan(3 * 1440)
        self.add_action(plan, updated_at=ago(2.5 * 1440), created_at=ago(5000))
        self.assertEqual(1, len(self.moves('vm1', 3)))
        self.assertEqual([], self.moves(uuid(1), 2))

    def test_a_name_that_nobody_has(self) -> None:
        self.assertEqual(
            'Kronos has neither moved a server "vm1" nor planned to move it '
            'in the last 7 days; use its uuid, or more --days',
            self.refused('vm1'),
        )

    def test_a_name_that_two_have(self) -> None:
        plan = self.add_plan(60)
        self.add_action(plan, 'vm1', inputs={'resource_name': 'web'})
        self.add_action(plan, 'vm2', inputs={'resource_name': 'web'})
        self.assertEqual(
            f'2 servers have the name "web": {uuid(1)}, {uuid(2)}; use the '
            'uuid of one of them',
            self.refused('web'),
        )
        self.assertEqual('web', self.find(uuid(2)).name)

    def test_a_host_is_no_server(self) -> None:
        plan = self.add_plan(60)
        self.add_action(
            plan,
            action_type='kronos_close_host',
            inputs={'resource_name': 'h1', 'resource_id': 'h1', 'phase': None},
        )
        self.assertIn('"h1"', self.refused('h1'))

    def test_actions_of_others(self) -> None:
        self.add_action(self.add_plan(60), action_type='migrate')
        self.assertIn('"vm1"', self.refused('vm1'))

    def test_a_uuid_of_which_nothing_is_known(self) -> None:
        """What the audits said last is told then."""
        for number in range(1, 8):
            self.add_plan(8 - number, audit_uuid=self.add_audit(number))
        self.add_plan(1, strategy_name='other', audit_uuid=self.add_audit(8))
        result = self.find(uuid(1))
        self.assertEqual((NOTHING, []), (result.answer, result.moves))
        self.assertEqual(
            ['audit-7', 'audit-6', 'audit-5', 'audit-4', 'audit-3'],
            [audit.name for audit in result.audits],
        )

    def test_the_audits_that_planned_it(self) -> None:
        mine, other = self.add_audit(1), self.add_audit(2)
        plan = self.add_plan(60, audit_uuid=mine)
        self.add_plan(59, audit_uuid=other)
        self.add_action(plan, inputs={'audit_uuid': mine})
        result = self.find()
        self.assertEqual([mine], [audit.uuid for audit in result.audits])

    def test_many_actions(self) -> None:
        """No more pages are read than reach back so far."""
        plan = self.add_plan(60)
        for number in range(1001):
            self.add_action(plan, 'vm2', updated_at=ago(20000 + number))
        self.add_action(plan, 'vm1', updated_at=ago(1))
        self.assertEqual(1, len(self.moves('vm1')))
        pages = [
            request
            for request in self.watcher.requests
            if '/actions/' in request
        ]
        self.assertEqual(1, len(pages))
