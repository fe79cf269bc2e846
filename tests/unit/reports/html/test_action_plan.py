# SPDX-License-Identifier: Apache-2.0
"""Is a plan of any length and kind drawn?"""

from typing import Any

from oslotest import base

from kronos.reports.html import action_plan, view


def move(number: int, **fields: Any) -> dict[str, Any]:
    return {
        'name': f'vm{number}',
        'server': f'u{number}',
        'source': 'h1',
        'destination': 'h2',
        'scope': 'alpha',
        'phase': 'spread',
        'kind': 'kronos_live_migrate',
        'state': 'PENDING',
        'reason': '',
        'remedy': '',
        'changes': '',
        'combined': '',
        **fields,
    }


def render(moves: list[dict[str, Any]], **fields: Any) -> str:
    plan = {
        'uuid': 'p',
        'state': 'RECOMMENDED',
        'message': '',
        'audit_message': '',
        'done': 0,
        'failed': 0,
        'imbalance_before': None,
        'imbalance_after': None,
        'efficacy': [],
        'moves': moves,
        **fields,
    }
    return action_plan.render(plan, [('Strategy', 'x'), ('Audit', '')])


class TestRender(base.BaseTestCase):
    def test_before_and_after(self) -> None:
        text = render([move(1)], imbalance_before=0.6, imbalance_after=0.2)
        self.assertIn('0.6000', text)
        self.assertIn('0.2000', text)
        self.assertNotIn('Combined imbalance', render([move(1)]))

    def test_facts_without_a_value_are_left_out(self) -> None:
        text = render([])
        self.assertIn('<dt>Strategy</dt>', text)
        self.assertNotIn('<dt>Audit</dt>', text)

    def test_no_move(self) -> None:
        self.assertIn('The plan has no action.', render([]))

    def test_numbers_are_those_of_the_table(self) -> None:
        """An action that moves nothing would shift them."""
        self.assertIn('class="flow"', render([move(1), move(2)]))
        closing = move(1, destination='', phase='', kind='kronos_close_host')
        text = render([closing, move(2)])
        self.assertNotIn('class="flow"', text)
        self.assertIn('kronos_close_host', text)

    def test_many_moves(self) -> None:
        text = render([move(number) for number in range(view.MOVES + 2)])
        self.assertEqual(view.MOVES, text.count('role="rowheader"'))
        self.assertIn('and 2 actions more', text)
