# SPDX-License-Identifier: Apache-2.0
"""Is a word and its options the audit that Watcher is to run?"""

from oslotest import base

from kronos.common import exceptions
from kronos.osc.run import request

GOALS = {
    'kronos_spread': 'kronos_balance',
    'kronos_cell_drain': 'kronos_cell',
    'quiet': 'silence',
}


class TestRequest(base.BaseTestCase):
    def test_the_goal_is_that_of_the_strategy(self) -> None:
        for word, strategy in (
            ('spread', 'kronos_spread'),
            ('cell-drain', 'kronos_cell_drain'),
            ('kronos_spread', 'kronos_spread'),
            ('quiet', 'quiet'),
        ):
            made = request.make(GOALS, word, [], [])
            self.assertEqual(
                (strategy, GOALS[strategy]), (made.strategy, made.goal)
            )

    def test_fields(self) -> None:
        made = request.make(
            GOALS, 'spread', ['a', 'b'], [('max_migrations', 3)]
        )
        self.assertEqual(
            {
                'audit_type': 'ONESHOT',
                'auto_trigger': False,
                'force': True,
                'name': made.name,
                'goal': 'kronos_balance',
                'strategy': 'kronos_spread',
                'parameters': {'aggregates': ['a', 'b'], 'max_migrations': 3},
            },
            made.fields,
        )

    def test_no_two_have_the_same_name(self) -> None:
        names = {request.make(GOALS, 'spread', [], []).name for _ in 'abc'}
        self.assertEqual(3, len(names))

    def test_a_strategy_that_there_is_not(self) -> None:
        error = self.assertRaises(
            exceptions.KronosException, request.make, GOALS, 'spred', [], []
        )
        self.assertIn('no strategy kronos_spred; ', str(error))
        self.assertIn('did you mean spread?', str(error))


class TestPair(base.BaseTestCase):
    def test_values(self) -> None:
        for text, value in (
            ('a=5', 5),
            ('a=true', True),
            ('a=["x", "y"]', ['x', 'y']),
            ('a=x=y', 'x=y'),
            ('a=', ''),
        ):
            self.assertEqual(('a', value), request.pair(text))

    def test_no_pair(self) -> None:
        for text in ('a', '=5', ''):
            self.assertRaises(ValueError, request.pair, text)
