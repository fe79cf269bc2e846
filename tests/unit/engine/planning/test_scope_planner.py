# SPDX-License-Identifier: Apache-2.0
"""Is a scope prepared, or does it say why it stands still?"""

import copy

from oslotest import base

from kronos.engine.planning.phases import Prepared
from kronos.engine.planning.scope_planner import ScopePlanner, Stopped
from kronos.engine.settings import Settings
from kronos.engine.types import (
    EarlierMove,
    PlanningInput,
    Snapshot,
    StopReason,
)
from tests.builders import scopes

CPU = scopes.policy('cpu', threshold=0.05)


def given(snapshot: Snapshot, **settings: object) -> PlanningInput:
    how = Settings(**{'max_migrations': 3, **settings})  # type: ignore
    return PlanningInput(snapshot, [CPU], how)


def uneven() -> Snapshot:
    vms = [scopes.vm(f'v{n}', 'a', [0.1]) for n in range(4)]
    vms += [scopes.vm(f'w{n}', 'b', [0.1]) for n in range(2)]
    return scopes.scope([CPU], {'a': [0.4], 'b': [0.2], 'c': [0.0]}, vms)


class TestScope(base.BaseTestCase):
    def test_prepared(self) -> None:
        scope = ScopePlanner(given(uneven())).scope
        assert isinstance(scope, Prepared)
        self.assertEqual({}, scope.fixed)
        self.assertEqual(['cpu'], [one.name for one in scope.policies])
        self.assertEqual(
            ['services', 'score', 'cooldown', 'profile', 'down']
            + ['unavailable'],
            [stage.name for stage in scope.stages],
        )

    def test_stopped(self) -> None:
        snapshot = uneven()
        snapshot.services = None
        planner = ScopePlanner(given(snapshot))
        scope = planner.scope
        assert isinstance(scope, Stopped)
        self.assertIs(StopReason.NO_SERVICES, scope.stopped)
        self.assertIn('compute services is unknown', scope.reason)
        self.assertEqual(scope.reason, planner.plan().reason)
        self.assertEqual([], planner.moves([]))

    def test_planning_changes_nothing_of_it(self) -> None:
        """Who asks for the phases once more finds them as they were."""
        planner = ScopePlanner(given(uneven()))
        scope = planner.scope
        assert isinstance(scope, Prepared)
        before = copy.deepcopy((scope.card, scope.stages, scope.fixed))
        first = planner.plan()
        self.assertEqual(before, (scope.card, scope.stages, scope.fixed))
        self.assertNotEqual([], first.steps)
        self.assertEqual(first, planner.plan())

    def test_earlier_moves_make_another_scorecard(self) -> None:
        snapshot = uneven()
        case = given(snapshot)
        before = ScopePlanner(case).scope.card
        one = snapshot.instances['v0']
        case.earlier = [EarlierMove('other', one, 'a', 'c', {'cpu': 0.1})]
        after = ScopePlanner(case).scope
        self.assertEqual(0.4, before.values['cpu']['a'])
        self.assertAlmostEqual(0.3, after.card.values['cpu']['a'])
        [result] = after.card.results
        self.assertAlmostEqual(0.2, result.imbalance_before)
        self.assertEqual('c', after.now.instances['v0'].host)
        self.assertEqual('a', snapshot.instances['v0'].host)

    def test_what_later_scopes_are_told(self) -> None:
        planner = ScopePlanner(given(uneven(), max_migrations=1))
        [step] = planner.plan().steps
        [move] = planner.moves([step])
        self.assertEqual(
            (step.instance, step.source, step.destination),
            (move.instance.uuid, move.source, move.destination),
        )
        self.assertEqual({'cpu': 0.1}, move.usage)
