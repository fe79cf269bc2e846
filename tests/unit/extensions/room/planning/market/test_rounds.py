# SPDX-License-Identifier: Apache-2.0
"""Do prices and trades end where the bound and the mixture agree?"""

from oslotest import base

from kronos.extensions.room.planning.market import goods, rounds
from kronos.extensions.room.planning.market.masters import Aim
from kronos.extensions.room.planning.market.rounds import Priced
from tests.unit.extensions.room.planning.market import scope_cases


def priced(seed: int, aim: Aim, *numbers: int, moves: int = 6) -> Priced:
    case = scope_cases.generated(seed, *numbers)
    market = goods.of(case.cluster, case.targets)
    return rounds.priced(market, aim, moves)


class TestRounds(base.BaseTestCase):
    def test_bound_and_mixture(self) -> None:
        for seed in range(210, 213):
            for aim, number in ((Aim.MOST, 0), (Aim.FEWEST, 1)):
                result = priced(seed, aim, number)
                value = result.master.mixed().value
                self.assertAlmostEqual(value, result.bound, delta=0.1)

    def test_whole(self) -> None:
        result = priced(210, Aim.MOST, 0)
        result.bound = 3.7
        self.assertEqual(3, result.whole)
        result = priced(210, Aim.FEWEST, 1)
        result.bound = 3.2
        self.assertEqual(4, result.whole)

    def test_possible(self) -> None:
        self.assertGreater(priced(210, Aim.POSSIBLE, 500).bound, 1.0)
        self.assertLess(priced(210, Aim.POSSIBLE, 0).bound, 1e-6)
