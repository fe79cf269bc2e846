# SPDX-License-Identifier: Apache-2.0
"""Does the table show each move, and the plan before and after?"""

import dataclasses

from kronos.osc import plans
from kronos.osc.run import plan_table
from tests.unit.osc.run import scripted


class TestText(scripted.ScriptedTestCase):
    def test_lines(self) -> None:
        self.play(names=['web-1', 'web\n2'])
        plan = plans.read(self.client, self.script._plan(advances=False))
        lines = plan_table.text(plan, 'alpha: done').splitlines()
        cells = [
            [cell.strip() for cell in line.split('|')[1:-1]]
            for line in lines
            if line.startswith('|')
        ]
        self.assertEqual([*plan_table.COLUMNS], cells[0])
        self.assertEqual(
            ['1', 'web-1', 'cmp1', 'cmp2', 'spread'], cells[1][:5]
        )
        self.assertEqual('web?2', cells[2][1])
        self.assertEqual(
            [
                'Combined imbalance: 0.600 -> 0.200',
                'imbalance_removed: 66.7 %',
                'alpha: done',
            ],
            lines[-3:],
        )

    def test_a_host_is_closed(self) -> None:
        plan = plans.read(self.client, self.script._plan(advances=False))
        plan.moves[0] = dataclasses.replace(
            plan.moves[0], kind='kronos_close_host', phase=''
        )
        text = plan_table.text(plan, '')
        self.assertIn(' close_host ', text)
