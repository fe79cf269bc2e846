# SPDX-License-Identifier: Apache-2.0
"""Does the best search come through where moving one by one stalls?"""

import functools
import itertools

from oslotest import base

from kronos.engine.planning import propose
from kronos.engine.settings import SearchName, Settings, SwapMoves, TieBreak
from kronos.engine.types import StopReason
from tests.builders import stalls
from tests.unit.engine.oracles import fewest, legality

FEW = (
    ('ties', 0),
    ('flavor', 5),
    ('flavor', 8),
    ('empty', 4),
)
"""Of the set, what a solver tells all about in no time. Those of kind flavor
end just at their thresholds."""
BUDGET = 20
SECONDS = 60.0
MORE = 1.3
"""Times as many migrations as are needed, on average."""


@functools.cache
def needed(kind: str, seed: int) -> fewest.Fewest:
    """What the solver says of a scope."""
    return fewest.fewest(stalls.draw(kind, seed), BUDGET, SECONDS)


class TestBest(base.BaseTestCase):
    def test_all_come_within(self) -> None:
        ratios = []
        for kind, seed in FEW:
            stall = stalls.draw(kind, seed)
            settings = Settings(max_migrations=BUDGET, search=SearchName.BEST)
            [scope] = propose.propose(
                [stall.snapshot], stall.policies, settings
            ).scopes
            least = needed(kind, seed)
            with self.subTest(kind=kind, seed=seed):
                self.assertTrue(least.is_proven)
                self.assertEqual(StopReason.BALANCED, scope.stopped)
                judge = legality.Judge(
                    stall.snapshot, stall.policies, settings
                )
                self.assertEqual([], judge.faults(scope))
                self.assertGreaterEqual(len(scope.steps), least.at_least)
                ratios.append(len(scope.steps) / (least.migrations or 1))
        self.assertEqual(len(FEW), len(ratios))
        self.assertLessEqual(sum(ratios) / len(ratios), MORE)

    def test_the_plain_rule_stalls(self) -> None:
        stall = stalls.draw('ties', 0)
        settings = Settings(
            max_migrations=BUDGET,
            plateau_moves=False,
            swap_moves=SwapMoves.NONE,
            tie_break=TieBreak.FIRST,
        )
        [scope] = propose.propose(
            [stall.snapshot], stall.policies, settings
        ).scopes
        self.assertEqual(StopReason.STUCK, scope.stopped)


class TestOracle(base.BaseTestCase):
    """What the solver says, and what trying every single move says."""

    def test_one_and_more(self) -> None:
        for kind, seed in FEW:
            least = needed(kind, seed)
            with self.subTest(kind=kind, seed=seed):
                self.assertEqual(least.migrations, least.at_least)
                self.assertEqual(
                    least.migrations == 1, one_does(stalls.draw(kind, seed))
                )

    def test_too_few(self) -> None:
        migrations = needed('ties', 0).migrations
        assert migrations is not None
        stall = stalls.draw('ties', 0)
        found = fewest.fewest(stall, migrations - 1, SECONDS)
        self.assertIsNone(found.migrations)
        self.assertTrue(found.is_proven)


def one_does(stall: stalls.Stall) -> bool:
    """Whether any one migration brings all policies within."""
    for (one, usage), host in itertools.product(stall.vms, stall.hosts):
        scores = {name: list(row) for name, row in stall.hosts.items()}
        for at, share in enumerate(usage):
            scores[one.host][at] -= share
            scores[host][at] += share
        if all(
            max(column) - min(column) <= policy.threshold + 1e-9
            for policy, column in zip(
                stall.policies, zip(*scores.values(), strict=True), strict=True
            )
        ):
            return True
    return False
