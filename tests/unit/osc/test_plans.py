# SPDX-License-Identifier: Apache-2.0
"""Are the plans of Kronos found among others, whatever these are?"""

import ddt

from kronos.common import exceptions
from kronos.osc import plans
from tests.unit.osc import clouds
from tests.unit.osc.clouds import uuid


class TestNewest(clouds.CloudTestCase):
    def newest(self, *filters: object) -> list[str]:
        return [plan.uuid for plan in plans.newest(self.client, *filters)]

    def test_the_last_made_comes_first(self) -> None:
        for number in (3, 2, 1):
            self.add_plan(number)
        self.assertEqual([uuid(1), uuid(2)], self.newest(2))

    def test_others_are_left_out_and_not_looked_into(self) -> None:
        self.add_plan(2, strategy_name='workload_balance')
        self.add_plan(1)
        self.assertEqual([uuid(1)], self.newest(9))
        self.assertEqual(
            1, sum('actions' in request for request in self.watcher.requests)
        )

    def test_a_strategy_that_was_deleted(self) -> None:
        """Its actions tell whose it was."""
        for number, kind in ((2, 'migrate'), (1, 'kronos_live_migrate')):
            plan = self.add_plan(number, strategy_name=None)
            self.add_action(plan, action_type=kind)
        self.assertEqual([uuid(1)], self.newest(9))

    def test_one_strategy(self) -> None:
        self.add_plan(3, strategy_name='ours')
        self.add_plan(2, strategy_name='kronos_pack')
        self.add_plan(1)
        self.assertEqual([uuid(2)], self.newest(9, 'kronos_pack'))
        self.assertEqual([uuid(3)], self.newest(9, 'ours'))

    def test_more_than_a_page(self) -> None:
        for number in range(plans.PAGE + 2, 1, -1):
            self.add_plan(number, strategy_name='other')
        self.watcher.plans.insert(0, self.watcher.plans.pop())
        self.watcher.plans[0]['strategy_name'] = 'kronos_spread'
        self.assertEqual([uuid(2)], self.newest(9))
        pages = [
            request
            for request in self.watcher.requests
            if 'action_plans' in request
        ]
        self.assertEqual(2, len(pages))

    def test_no_more_pages_than_needed(self) -> None:
        for number in range(2 * plans.PAGE, 0, -1):
            self.add_plan(number)
        self.assertEqual(3, len(self.newest(3)))
        pages = [
            request
            for request in self.watcher.requests
            if 'action_plans' in request
        ]
        self.assertEqual(1, len(pages))


@ddt.ddt
class TestOne(clouds.CloudTestCase):
    def one(self, **fields: object) -> plans.Plan:
        return plans.by_uuid(self.client, self.add_plan(1, **fields))

    def test_a_strategy_of_a_deployer(self) -> None:
        plan = self.add_plan(1, strategy_name='ours')
        self.assertRaises(
            exceptions.KronosException, plans.by_uuid, self.client, plan
        )
        self.add_action(plan)
        self.assertEqual('ours', plans.by_uuid(self.client, plan).strategy)

    def test_watchers_refusal_is_no_missing_plan(self) -> None:
        self.watcher.refusal = 403, {}
        error = self.assertRaises(exceptions.ClientError, self.one)
        self.assertEqual(403, error.kwargs['status'])

    def test_the_imbalance_of_its_goal(self) -> None:
        result = self.one(
            efficacy_indicators=[
                {'name': 'combined_imbalance_before', 'value': 0.5},
                {'name': 'combined_imbalance_after', 'value': 0},
            ]
        )
        self.assertEqual((0.5, 0), result.imbalance)

    def test_the_imbalance_by_its_moves(self) -> None:
        """The first and the last of each scope; the most uneven counts."""
        plan = self.add_plan(1, strategy_name='kronos_evacuate')
        for number, (scope, change) in enumerate(
            (
                ('alpha', '0.700 -> 0.600'),
                ('beta', '0.300 -> 0.250'),
                ('alpha', '0.600 -> 0.200'),
                ('beta', 'unknown'),
            ),
            start=1,
        ):
            more = {
                'aggregate': scope,
                'combined_imbalance': change,
                'sequence': number,
            }
            self.add_action(plan, inputs=more)
        result = plans.by_uuid(self.client, plan)
        self.assertEqual((0.7, 0.25), result.imbalance)
        self.assertEqual(['alpha', 'beta'], result.scopes)

    def test_no_imbalance(self) -> None:
        self.assertEqual((None, None), self.one().imbalance)

    @ddt.data(
        None,
        {},
        'x',
        [None, 1, [], {'name': 1, 'value': 1}, {'name': 'x', 'value': 'y'}],
        [{'name': 'x', 'value': True}, {'name': 'x'}],
    )
    def test_efficacy_of_whatever_form(self, indicators: object) -> None:
        result = self.one(
            efficacy_indicators=indicators, global_efficacy=indicators
        )
        self.assertEqual(({}, []), (result.indicators, result.efficacy))

    def test_the_order_is_the_plans(self) -> None:
        plan = self.add_plan(1)
        for sequence in (2, 1, 3):
            self.add_action(
                plan, f'vm{sequence}', inputs={'sequence': sequence}
            )
        result = plans.by_uuid(self.client, plan)
        self.assertEqual(['vm1', 'vm2', 'vm3'], [x.name for x in result.moves])
        self.assertEqual((3, 0), (result.done, result.failed))
