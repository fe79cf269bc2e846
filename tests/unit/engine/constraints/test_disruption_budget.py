# SPDX-License-Identifier: Apache-2.0
"""Does a plan keep to all disruption budgets, and use what they leave?"""

import dataclasses
import random
from collections import Counter
from collections.abc import Iterator

import numpy as np
from oslotest import base

from kronos.engine import edits
from kronos.engine.constraints.disruption_budget import DisruptionBudget
from kronos.engine.planning.propose import propose
from kronos.engine.reasons import Code
from kronos.engine.settings import SearchName, Settings, SwapMoves
from kronos.engine.types import (
    Disruption,
    MigrationPhase,
    PlanningInput,
    ServerGroup,
    Snapshot,
)
from tests.builders import constraints, scopes
from tests.unit.engine.oracles import budget_literal
from tests.unit.engine.oracles.comparing import LiteralTestCase
from tests.unit.engine.oracles.comparing import PlanningInput as Case

CASES = 200
NOW = 1_800_000_000.0
WINDOW = 3600


def budgets(rng: random.Random) -> dict[str, object]:
    """Options by lot; most of them leave something to plan."""

    def text() -> str:
        window = f'{rng.randint(1, 4)}/{rng.choice([60, WINDOW])}'
        at_once = f'{rng.randint(1, 4)}'
        return rng.choice([window, at_once, f'{at_once},{window}', ''])

    return {
        'project_budget': text(),
        'project_budgets': {'p1': text()} if rng.random() < 0.3 else {},
        'group_budget': text(),
        'instance_budget': text(),
    }


def history(rng: random.Random, snapshot: Snapshot) -> list[Disruption]:
    """Moves by lot, of instances in the scope, elsewhere and deleted since."""
    projects = {
        uuid: instance.project_id
        for uuid, instance in snapshot.instances.items()
    }
    projects |= {'elsewhere': 'p0', 'deleted': 'p1'}
    return [
        Disruption(
            uuid,
            projects[uuid],
            rng.choice([None, NOW - rng.choice([0, 59, 60, 61, 3599, 3600])]),
            rng.random() < 0.3,
        )
        for uuid in rng.choices(sorted(projects), k=rng.randint(0, 4))
    ]


def draw(seed: int) -> Case:
    """A scope by lot, with projects, groups, a history and budgets."""
    rng = random.Random(f'budgets {seed}')
    snapshot, policies, settings = scopes.chance(seed)
    settings.repeat_moves = False
    snapshot.taken_at = NOW
    for instance in snapshot.instances.values():
        instance.project_id = rng.choice(['p0', 'p1', 'p2'])
    uuids = sorted(snapshot.instances)
    if len(uuids) > 2 and not snapshot.groups:
        members = rng.sample(uuids, 2)
        snapshot.groups.append(ServerGroup('g', 'unknown-rule', members))
    snapshot.disruptions = history(rng, snapshot)
    settings = dataclasses.replace(settings, **budgets(rng))
    return snapshot, policies, settings


class TestLiteral(LiteralTestCase):
    def test_every_move_is_the_best_that_budgets_allow(self) -> None:
        """Move by move the plan is what a literal search takes."""

        def cases() -> Iterator[Case]:
            for seed in range(CASES):
                snapshot, policies, settings = draw(seed)
                settings.plateau_moves = False
                settings.swap_moves = SwapMoves.NONE
                yield snapshot, policies, settings

        tally = self.compare(cases(), budget_literal.Budgeted)
        self.assertGreater(tally.moves, CASES // 3)


class TestPlans(base.BaseTestCase):
    def test_no_plan_exceeds_a_budget(self) -> None:
        """Whatever the phases and searches: no window has too many."""
        codes: Counter[str] = Counter()
        moves = 0
        for seed in range(CASES):
            rng = random.Random(f'phases {seed}')
            snapshot, policies, settings = draw(seed)
            settings.search = rng.choice([SearchName.GREEDY, SearchName.BEST])
            settings.evacuate = rng.random() < 0.5
            settings.enforce_hard_affinity = rng.random() < 0.5
            settings.enforce_soft_affinity = rng.random() < 0.5
            settings.unlimited = rng.random() < 0.5
            settings.budget_exempt = rng.choice([[], ['evacuate']])
            if settings.evacuate:
                settings.drain_hosts = [sorted(snapshot.hosts)[0]]
            if rng.random() < 0.3:
                policies = [
                    policy.model_copy(
                        update={'mode': 'pack', 'capacity_query': 'full'}
                    )
                    for policy in policies
                ]
                for reading in snapshot.readings.values():
                    reading.capacity = reading.imbalance
            [scope] = propose([snapshot], policies, settings).scopes
            faults = budget_literal.broken(snapshot, settings, scope.steps)
            self.assertEqual([], faults, seed)
            moves += len(scope.steps)
            codes.update(why.code for why in scope.stayed.values())
        self.assertGreater(moves, CASES)
        self.assertGreater(codes[Code.DISRUPTION_BUDGET], CASES)


class TestDisruptionBudget(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.settings = Settings(project_budget='2/3600')
        self.snapshot = scopes.scope(
            [],
            {'a': [], 'b': []},
            [
                scopes.vm(uuid, 'a', [], project_id=project)
                for uuid, project in (('u', 'p'), ('v', 'p'), ('w', 'q'))
            ],
        )
        self.snapshot.taken_at = NOW
        self.snapshot.disruptions = [Disruption('x', 'p', NOW - 600.0)]

    def built(
        self, phase: MigrationPhase = MigrationPhase.SPREAD
    ) -> DisruptionBudget | None:
        return DisruptionBudget.build(
            constraints.given(self.snapshot, self.settings, phase)
        )

    def test_pairs(self) -> None:
        constraint = self.built()
        assert constraint is not None
        self.assertTrue(constraints.said(constraint, (3, 2)).all())
        constraint.follow(0, 0, 1)
        expected = [[False, False], [False, False], [True, True]]
        self.assertEqual(expected, constraints.pairs(constraint, (3, 2)))
        constraint.follow(0, 1, 0)
        self.assertTrue(constraints.said(constraint, (3, 2)).all())
        self.assertFalse(constraint.binds_rebuilds)

    def test_all_at_once(self) -> None:
        constraint = self.built()
        assert constraint is not None
        self.assertTrue(constraint.takes_all(np.array([0, 2]), 1))
        self.assertFalse(constraint.takes_all(np.array([0, 1]), 1))

    def test_phases(self) -> None:
        for phase in MigrationPhase:
            is_bound = self.built(phase) is not None
            self.assertIs(phase is not MigrationPhase.EVACUATE, is_bound)
        self.settings.project_budget = ''
        self.assertIsNone(self.built())

    def test_lifted(self) -> None:
        self.settings.project_budgets = {'p': '1/3600'}
        case = PlanningInput(self.snapshot, [], self.settings)
        constraint = self.built()
        assert constraint is not None
        reason = constraint.why_not(0, 1)
        assert reason is not None
        self.assertIs(Code.DISRUPTION_BUDGET, reason.code)
        lifted = DisruptionBudget.relax(
            case, reason, edits.Pair('u', 'a', 'b')
        )
        self.assertEqual('', lifted.settings.project_budget)
        self.assertEqual({}, lifted.settings.project_budgets)
        self.assertEqual({'p': '1/3600'}, self.settings.project_budgets)

    def test_an_instance_moves_once(self) -> None:
        """Where a plan may move one twice, a budget would miscount that."""
        constraint = self.built()
        assert constraint is not None
        constraint.follow(2, 0, 1)
        reason = constraint.why_not(2, 0)
        self.assertIn('moves once in a plan', str(reason))
        self.assertEqual([False], constraint.within(np.array([2])).tolist())
