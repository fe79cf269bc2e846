# SPDX-License-Identifier: Apache-2.0
"""Do proposals raise the limit that cuts a plan off?"""

import dataclasses
from typing import Any

from oslotest import base

from kronos.engine.explain import budgets
from kronos.engine.reasons import Code
from kronos.engine.settings import EffectUse
from kronos.engine.types import MigrationPhase, PlanningInput
from tests.unit.engine.explain.test_remedies import asked, budget


class TestLarger(base.BaseTestCase):
    def limited(
        self, phase: MigrationPhase = MigrationPhase.SPREAD, **more: Any
    ) -> tuple[PlanningInput, list[budgets.Budget]]:
        """The first two proposals for a second migration."""
        scene = budget()
        settings = dataclasses.replace(
            scene.case.settings,
            use_effect=EffectUse.LIMIT,
            canary_moves=1,
            **more,
        )
        case = dataclasses.replace(scene.case, settings=settings)
        why = asked(case)
        verdict = why.verdict(*scene.pair)
        self.assertIs(Code.BUDGET_USED, verdict.code)
        verdict = dataclasses.replace(verdict, phase=phase)
        some = budgets.larger(case, why.result, verdict)
        return case, [next(some), next(some)]

    def test_canary_moves(self) -> None:
        """With one more, the plan makes the move."""
        case, some = self.limited(max_migrations=5)
        self.assertEqual([None, None], [each.max_migrations for each in some])
        self.assertEqual(
            [{'canary_moves': '2'}, {'canary_moves': '3'}],
            [each.overrides for each in some],
        )
        self.assertNotIn('max_migrations', some[0].text)
        changed = dataclasses.replace(
            case,
            settings=dataclasses.replace(case.settings, canary_moves=2),
        )
        before, after = asked(case).result, asked(changed).result
        self.assertEqual((1, 2), (len(before.steps), len(after.steps)))

    def test_both(self) -> None:
        _, some = self.limited(max_migrations=1)
        self.assertEqual({'canary_moves': '2'}, some[0].overrides)
        self.assertEqual([2, 3], [each.max_migrations for each in some])
        self.assertIn('max_migrations', some[0].text)

    def test_any_number(self) -> None:
        _, some = self.limited(max_migrations=None, unlimited=True)
        self.assertEqual([None, None], [each.max_migrations for each in some])

    def test_a_drain_is_not_limited(self) -> None:
        _, some = self.limited(MigrationPhase.EVACUATE, max_migrations=1)
        self.assertEqual([{}, {}], [each.overrides for each in some])
        self.assertEqual([2, 3], [each.max_migrations for each in some])
