# SPDX-License-Identifier: Apache-2.0
"""How is the success of a maintenance run measured?"""

from oslotest import base

from kronos.engine.types import CycleReport
from kronos.extensions.maintenance import maintenance
from kronos.extensions.maintenance.audit.goal import Maintenance
from kronos.extensions.maintenance.host_states import State
from tests.unit.extensions.maintenance.test_outcome import run
from tests.unit.strategies.outcome.test_status_messages import scope, step


class TestGoal(base.BaseTestCase):
    def numbers(self, to_move: int = 0, **states: State) -> dict[str, float]:
        kept = run(**states)
        kept.to_move = to_move
        result = scope(steps=[step(1), step(2)])
        result.beside[maintenance.NAME] = kept
        numbers: dict[str, float] = Maintenance.indicators(
            CycleReport([result])
        )
        return numbers

    def test_each_host_counts_once(self) -> None:
        states = {f'h{number}': state for number, state in enumerate(State)}
        numbers = self.numbers(**states)
        self.assertEqual(
            {
                'hosts_to_do': 4,
                'hosts_emptying': 2,
                'hosts_handed_over': 2,
                'hosts_done': 1,
                'hosts_late': 1,
            },
            {k: v for k, v in numbers.items() if k.startswith('hosts')},
        )

    def test_servers(self) -> None:
        numbers = self.numbers(5, a=State.EMPTYING)
        self.assertEqual(
            (5, 3, 2),
            (
                numbers['servers_to_move'],
                numbers['servers_to_move_after'],
                numbers['migrations'],
            ),
        )
        self.assertEqual(0, self.numbers()['servers_to_move_after'])

    def test_the_narrowest_scope_limits_a_run(self) -> None:
        results = [scope(), scope(), scope()]
        for result, number in zip(results, (3, 2), strict=False):
            kept = run(a=State.TO_DO)
            kept.look.most_at_once = number
            result.beside[maintenance.NAME] = kept
        numbers = Maintenance.indicators(CycleReport(results))
        self.assertEqual(2, numbers['most_at_once'])
