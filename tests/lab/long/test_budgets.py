# SPDX-License-Identifier: Apache-2.0
"""Budgets count every move, between appliers and from audit to audit."""

import concurrent.futures

from tests.lab import base, tenants
from tests.lab.appliers import TwoAppliersTestCase
from tests.lab.test_spread import pile

BUDGET = '3/600'
"""Of a project."""
SERVERS = 8
AUDITS = 5


class TestBudgets(tenants.TenantTestCase):
    def test_moves_by_hand_and_what_is_deleted(self):
        """Two moves by hand leave one; nothing deleted gives it back."""
        uuids = self.boot(pile('cmp1', SERVERS), self.tenant)
        for name in ('cmp1-0', 'cmp1-1'):
            self.by_hand(uuids[name], 'cmp2')
        self.wait_for_metrics()
        _, _, actions = self.spread()
        self.assertGreater(len(actions), 1)

        self.configure(project_budget=BUDGET)
        audit, plan, actions = self.spread()
        self.assertEqual(1, len(actions))
        moved = self.moved(actions)
        others = {uuids[name] for name in uuids if name not in moved}
        self.assert_used_up(audit, f'project_budget {BUDGET}', others)
        self.carried_out(plan)
        self.assertEqual([], self.spread()[2])

        self.openstack(f'server delete --wait {uuids["cmp1-0"]}')
        self.openstack(f'optimize actionplan delete {plan["uuid"]}')
        self.wait_for_metrics()
        audit, _, actions = self.spread()
        self.assertEqual([], actions)
        del uuids['cmp1-0']
        self.assert_used_up(
            audit, f'project_budget {BUDGET}', set(uuids.values())
        )
        self.configure()
        self.assertNotEqual([], self.spread()[2])


class TestTwoAppliers(tenants.TenantTestCase, TwoAppliersTestCase):
    def test_plans_of_two_scopes(self):
        """Both were planned within the budget; it has one move."""
        self.configure(project_budget='1/600')
        uuids = self.boot([*pile('cmp1', 6), *pile('cmp7', 6)], self.tenant)
        plans = []
        for scope in ('alpha', 'beta'):
            _, plan, actions = self.spread(scope, '--force')
            self.assertEqual(1, len(actions))
            plans.append(plan)
        self.cloud.set_migrations({'default': {'seconds': 3}})
        with concurrent.futures.ThreadPoolExecutor() as pool:
            list(pool.map(self.begin, plans))

        ended = [self.executed(plan) for plan in plans]
        self.assertEqual(2, len({plan['hostname'] for plan in ended}))
        rows = {
            row['state']: row for plan in plans for row in self.actions(plan)
        }
        self.assertEqual({'SUCCEEDED', 'SKIPPED'}, set(rows))
        self.assertIn(
            '[disruption_budget] project_budget 1/600 of its project is used '
            'up: ',
            rows['SKIPPED']['status_message'],
        )
        [order] = self.orders()
        moved = rows['SUCCEEDED']['input_parameters']
        self.assertIn(moved['resource_id'], order['path'])
        placed = {name: name.partition('-')[0] for name in uuids}
        placed[moved['resource_name']] = moved['destination_node']
        self.assert_at_rest(placed)

    def begin(self, plan):
        url = f'/v1/action_plans/{plan["uuid"]}/start'
        self.cloud.watcher(url, 'post')


class TestGroupBudget(tenants.TenantTestCase):
    def test_members_over_five_audits(self):
        """One member moves in an hour, however often there is an audit."""
        self.configure(group_budget='1/3600')
        group = self.tenant.group('five', 'soft-anti-affinity')
        members = [
            base.Wanted(f'five-{n}', 'cmp1', 0.9, 2600, group=group)
            for n in range(5)
        ]
        uuids = self.boot([*members, *pile('cmp1', 3)], self.tenant)
        in_group = {uuids[member.name] for member in members}
        for number in range(AUDITS):
            audit, plan, _ = self.spread('alpha', '--auto-trigger')
            self.executed(plan)
            moves = [
                row
                for row in self.migrations()
                if row['instance_uuid'] in in_group
            ]
            self.assertLessEqual(len(moves), 1, number)
            self.wait_for_metrics()
        self.assertEqual(1, len(moves))
        stays = in_group - {moves[0]['instance_uuid']}
        self.assert_used_up(audit, 'group_budget 1/3600', stays)
        self.configure()
        self.assertLess(set(), self.moved(self.spread()[2]))
