# SPDX-License-Identifier: Apache-2.0
"""Does pruning change the plan? Never: move by move it is the literal one."""

from kronos.engine.settings import SoftRules, SwapMoves, TieBreak
from kronos.engine.types import StopReason
from tests.builders import scopes
from tests.unit.engine.oracles.comparing import LiteralTestCase, PlanningInput
from tests.unit.engine.oracles.spread_literal import Literal

CASES = 400


def uneven(
    seed: int, tie_break: TieBreak, penalty: float | None
) -> PlanningInput:
    """A scope by lot.

    :param penalty: for breaking a soft rule; None: they are kept
    """
    snapshot, policies, settings = scopes.chance(seed)
    settings.plateau_moves, settings.swap_moves = False, SwapMoves.NONE
    settings.tie_break = tie_break
    if penalty is not None:
        settings.soft_rules = SoftRules.PENALTY
        settings.soft_rule_penalty = penalty
    return snapshot, policies, settings


class TestLiteralRule(LiteralTestCase):
    def _compare(
        self, tie_break: TieBreak, penalty: float | None = None
    ) -> int:
        cases = (uneven(seed, tie_break, penalty) for seed in range(CASES))
        tally = self.compare(cases, Literal)
        self.assertGreater(tally.planned, CASES // 3)
        self.assertGreater(tally.moves, CASES)
        self.assertEqual(
            {StopReason.BALANCED, StopReason.BUDGET, StopReason.STUCK},
            tally.stopped,
        )
        return tally.moves

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
