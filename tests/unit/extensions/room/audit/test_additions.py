# SPDX-License-Identifier: Apache-2.0
"""What does an audit that makes room say and do beside the plan?"""

from oslotest import base

from kronos.engine.types import AggregateResult, CycleReport
from kronos.extensions.room.audit import additions
from kronos.extensions.room.audit.additions import RoomAdditions
from kronos.extensions.room.room import NAME, RoomOutcome
from kronos.strategies.outcome.planned_actions import PlannedAction
from tests.unit.strategies.outcome.test_status_messages import scope


def made(wanted: int, bound: int) -> AggregateResult:
    outcome = RoomOutcome(
        {'f': wanted}, {'f': 1}, {'f': 2}, {'f': 9}, bound=bound
    )
    return scope(beside={NAME: outcome})


class TestAdditions(base.BaseTestCase):
    def test_summary(self) -> None:
        text = additions.summary(made(3, 2))
        self.assertIn('slots of f: 1 -> 2, 3 wanted: no order of', text)
        text = additions.summary(made(0, 2))
        self.assertIn('slots of f: 1 -> 2 after 0 migrations', text)
        self.assertEqual('', additions.summary(scope()))

    def test_is_over(self) -> None:
        own = RoomAdditions()
        self.assertTrue(own.is_described(made(1, 2)))
        self.assertFalse(own.is_described(scope()))

    def test_phase(self) -> None:
        """The action knows the phases of the trunk only."""
        move = PlannedAction(
            'kronos_live_migrate', {'phase': 'make_room'}, 'a'
        )
        ahead = PlannedAction('nop', {}, 'b')
        arranged = RoomAdditions().arranged(CycleReport([]), [ahead], [move])
        self.assertEqual([ahead, move], arranged)
        self.assertEqual('affinity', move.parameters['phase'])

    def test_moves_on_numa_nodes(self) -> None:
        """One after the other, whatever order of turns is planned."""
        nodes = scope(
            name='nodes',
            beside={NAME: RoomOutcome({}, {}, {}, {}, on_nodes=True)},
        )
        moves = [
            PlannedAction(
                'kronos_live_migrate',
                {'aggregate': aggregate, 'sequence': sequence},
                str(sequence),
            )
            for aggregate, sequence in (('nodes', 3), ('x', 1), ('nodes', 2))
        ]
        arranged = RoomAdditions().arranged(
            CycleReport([nodes, scope(name='x')]), [], moves
        )
        self.assertEqual(['1', '2', '3'], [each.resource for each in arranged])
        first, second, third = arranged
        self.assertEqual(
            ([], [], [second]), (first.after, second.after, third.after)
        )
