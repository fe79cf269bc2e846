# SPDX-License-Identifier: Apache-2.0
"""Is the rest of a plan expected to take what its moves so far say?"""

import dataclasses

from kronos.osc import plans
from kronos.osc.moves import MoveAction
from kronos.osc.run import remaining_time
from tests.unit.osc.run import scripted


class TestRemainingTime(scripted.ScriptedTestCase):
    def seconds(self, elapsed: float = 0.0, **script: object) -> float | None:
        self.play(**script)
        self.script.plan_state = 'ONGOING'
        row = {**self.script._plan(advances=False)}
        plan = plans.read(self.client, row)
        percents = {move.uuid: 50.0 for move in plan.moves[1:]}
        return remaining_time.of(plan.moves, percents, elapsed)

    def test_before_the_first_move_its_forecasts(self) -> None:
        self.assertEqual(
            15.0, self.seconds(moves=[['PENDING', 'ONGOING']], forecast=10.0)
        )

    def test_the_pace_so_far(self) -> None:
        moves = [['SUCCEEDED', 'ONGOING']]
        for forecast in (0.0, 10.0):
            self.assertAlmostEqual(
                20.0, self.seconds(60.0, moves=moves, forecast=forecast)
            )

    def planned(self, **script: object) -> list[MoveAction]:
        self.play(**script)
        return plans.read(self.client, self.script._plan(False)).moves

    def test_some_have_no_forecast(self) -> None:
        move, other = self.planned(moves=[['PENDING', 'PENDING']], forecast=8)
        other = dataclasses.replace(other, forecast=0.0)
        self.assertEqual(16.0, remaining_time.of([move, other], {}, 0.0))

    def test_a_host_that_is_closed_says_nothing_of_the_pace(self) -> None:
        moves = self.planned(moves=[['PENDING', 'PENDING']], forecast=8.0)
        closing = dataclasses.replace(
            moves[0],
            kind='kronos_close_host',
            server='',
            state='SUCCEEDED',
            forecast=0.0,
        )
        moves.insert(0, closing)
        self.assertEqual(16.0, remaining_time.of(moves, {}, 1.0))
        self.assertIsNone(remaining_time.of([closing], {}, 1.0))

    def test_nothing_to_go_by(self) -> None:
        self.play(moves=[['PENDING', 'PENDING']])
        plan = plans.read(self.client, self.script._plan(advances=False))
        self.assertIsNone(remaining_time.of(plan.moves, {}, 60.0))
        self.assertIsNone(remaining_time.of([], {}, 60.0))

    def test_nothing_is_left(self) -> None:
        self.assertIsNone(
            self.seconds(9.0, moves=[['SUCCEEDED', 'FAILED']], forecast=3.0)
        )
