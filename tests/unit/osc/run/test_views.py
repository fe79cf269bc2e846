# SPDX-License-Identifier: Apache-2.0
"""Does a look at a plan say what is done, and what is under way?"""

from kronos.osc import plans
from kronos.osc.moves import MoveAction
from kronos.osc.run import views
from tests.unit.osc.run import scripted


class TestOfPlan(scripted.ScriptedTestCase):
    def view(self, percent: float | None, **script: object) -> views.View:
        self.play(**script)
        self.script.plan_state = 'ONGOING'
        plan = plans.read(self.client, self.script._plan(advances=False))

        def of_move(move: MoveAction) -> float | None:
            return percent

        return views.of_plan(plan, of_move, 60.0)

    def test_under_way(self) -> None:
        view = self.view(50.0, moves=[['FAILED', 'ONGOING']])
        self.assertRegex(
            view.line,
            'is ONGOING: 1 of 2 actions done, 1 failed, 1 under way, '
            'about 20 s left',
        )
        self.assertEqual((1, 2), (view.done, view.total))
        self.assertEqual(['web-2 cmp1 -> cmp3 (spread): 50 %'], view.lines)

    def test_one_action(self) -> None:
        view = self.view(None, moves=[['ONGOING']])
        self.assertIn(': 0 of 1 action done, ', view.line)

    def test_what_watcher_says_where_nova_does_not(self) -> None:
        view = self.view(
            None,
            moves=[['ONGOING', 'ONGOING']],
            reasons={'web-1': 'KRONOS: waits for its turn'},
        )
        self.assertEqual(
            [
                'web-1 cmp1 -> cmp2 (spread): waits for its turn',
                'web-2 cmp1 -> cmp3 (spread)',
            ],
            view.lines,
        )

    def test_no_more_lines_than_a_terminal_has(self) -> None:
        count = views.SHOWN + 5
        view = self.view(
            None,
            names=[f'vm{number}' for number in range(count)],
            moves=[['ONGOING'] * count],
        )
        self.assertEqual(views.SHOWN, len(view.lines))
        self.assertIn(f'{count} under way', view.line)
