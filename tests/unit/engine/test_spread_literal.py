# SPDX-License-Identifier: Apache-2.0
"""Does pruning change the plan? Never: move by move it is the literal one."""

from oslotest import base

from kronos.engine.propose import propose
from kronos.engine.settings import SoftRules, TieBreak
from kronos.engine.types import StopReason
from tests.unit.engine import reference, scopes

CASES = 400


class TestLiteralRule(base.BaseTestCase):
    def _compare(
        self, tie_break: TieBreak, penalty: float | None = None
    ) -> int:
        planned = moves = 0
        seen = set()
        for seed in range(CASES):
            snapshot, policies, settings = scopes.chance(seed)
            settings.plateau_moves = settings.swap_moves = False
            settings.tie_break = tie_break
            if penalty is not None:
                settings.soft_rules = SoftRules.PENALTY
                settings.soft_rule_penalty = penalty
            result = propose([snapshot], policies, settings).scopes[0]
            if result.stopped is StopReason.TOO_FEW_HOSTS:
                continue
            expected = reference.Literal(snapshot, policies, settings).plan()
            steps = [
                (one.instance, one.source, one.destination)
                for one in result.steps
            ]
            with self.subTest(seed=seed):
                self.assertEqual(expected.moves, steps)
                self.assertEqual(expected.stopped, result.stopped.value)
                self.assertAlmostEqual(
                    expected.combined, result.combined_after, places=9
                )
            planned += bool(steps)
            moves += len(steps)
            seen.add(result.stopped)
        # The lots must be worth comparing.
        self.assertGreater(planned, CASES // 3)
        self.assertGreater(moves, CASES)
        self.assertEqual(
            {StopReason.BALANCED, StopReason.BUDGET, StopReason.STUCK}, seen
        )
        return moves

    def test_first(self) -> None:
        self._compare(TieBreak.FIRST)

    def test_variance(self) -> None:
        self._compare(TieBreak.VARIANCE)

    def test_variance_per_gib(self) -> None:
        self._compare(TieBreak.VARIANCE_PER_GIB)

    def test_penalty(self) -> None:
        """Soft rules may be broken, at a price."""
        vetoed = self._compare(TieBreak.VARIANCE)
        dear = self._compare(TieBreak.VARIANCE, 0.02)
        free = self._compare(TieBreak.VARIANCE, 0.0)
        # Each price must matter.
        self.assertLess(vetoed, dear)
        self.assertLess(dear, free)
