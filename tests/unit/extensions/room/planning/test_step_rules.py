# SPDX-License-Identifier: Apache-2.0
"""Is every move asked of the constraints, as those before it leave them?"""

from oslotest import base

from kronos.engine.planning.phases import Prepared
from kronos.engine.planning.scope_planner import ScopePlanner
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.types import PlanningInput
from kronos.extensions.room.planning.step_rules import StepRules
from kronos.extensions.room.room import RoomPhase, RoomRequest
from tests.builders import policies, rooms


def simulation(**request: object) -> Simulation:
    """The scope in the phase, before its first move."""
    case = PlanningInput(
        rooms.scope(),
        [policies.policy('cpu')],
        rooms.settings(flavors={'f8': 1}, **request),
    )
    scope = ScopePlanner(case).scope
    assert isinstance(scope, Prepared)
    phases = scope.phases()
    started = phases.simulation(None)
    phases.begin(started, RoomPhase.MAKE_ROOM)
    return started


class TestStepRules(base.BaseTestCase):
    def test_room_is_used_up(self) -> None:
        """4 CPUs are free on b: for one of 4, and then for none of 2."""
        started = simulation()
        rules = StepRules(started, RoomRequest({'f8': 1}))
        (b,) = [started.placement.index.host['b']]
        self.assertTrue(rules.allows('a4', b))
        rules.make('a4', b)
        self.assertFalse(rules.allows('a2', b))
        self.assertFalse(rules.allows('a4', b))
        rules.take_back()
        self.assertTrue(rules.allows('a2', b))
        self.assertEqual([], started.steps)

    def test_the_last_move(self) -> None:
        started = simulation()
        place = started.placement.index.host['b']
        rules = StepRules(started, RoomRequest({'f8': 1}))
        rules.make('a2', place)
        rules.make('c2', place)
        rules.take_back_last()
        self.assertEqual((1, 1), (rules.moves, len(started.steps)))
        rules.take_back()
        self.assertEqual([], started.steps)

    def test_max_imbalance(self) -> None:
        started = simulation()
        place = started.placement.index.host['b']
        for ceiling, is_legal in ((0.0, False), (1.0, True)):
            request = RoomRequest({'f8': 1}, max_imbalance=ceiling)
            rules = StepRules(started, request)
            self.assertEqual(is_legal, rules.allows('a4', place))
        self.assertEqual([], started.steps)
