# SPDX-License-Identifier: Apache-2.0
"""Does a proof hold as it is, and no falsified one?"""

import dataclasses
import math
from typing import Any
from unittest import mock

from oslotest import base

from kronos.extensions.room.certificates import Certificate, Claim
from kronos.extensions.room.planning.cluster import Cluster, Way
from kronos.extensions.room.planning.counts import Counted, Counts
from kronos.extensions.room.planning.market import checking, proofs
from kronos.extensions.room.planning.scope_case import ScopeCase
from tests.unit.extensions.room.planning import placements
from tests.unit.extensions.room.planning.market import scope_cases, test_grids

MOVING = (201, 207, 216)
"""Seeds whose clusters require moves."""


def fewest(seed: int = 201) -> tuple[ScopeCase, Certificate]:
    case = scope_cases.generated(seed, 1, 1)
    counted = Counts(case.cluster, case.targets).fewest_moves()
    assert isinstance(counted, Counted)
    certificate = proofs.fewest(case, counted.moves)
    assert certificate is not None
    return case, certificate


class TestFalsified(base.BaseTestCase):
    def refused(
        self,
        case: ScopeCase,
        certificate: Certificate,
        **changes: Any,
    ) -> str:
        self.assertTrue(checking.check(case, certificate).holds)
        false = dataclasses.replace(certificate, **changes)
        verdict = checking.check(case, false)
        self.assertFalse(verdict.holds)
        return verdict.text

    def test_fewest(self) -> None:
        for seed in MOVING:
            case, certificate = fewest(seed)
            self.assertGreater(certificate.number, 0)
            slots = certificate.slots
            dear = [
                dataclasses.replace(kind, price=30.0)
                for kind in certificate.kinds
            ]
            below = [dataclasses.replace(dear[0], price=-1.0), *dear[1:]]
            for changes, pattern in (
                ({'number': certificate.number + 1}, 'by its prices'),
                ({'slots': dict.fromkeys(slots, 50.0)}, 'by its prices'),
                ({'kinds': dear}, 'by its prices'),
                ({'kinds': below}, 'negative, or no number'),
                ({'slots': dict.fromkeys(slots, math.nan)}, 'no number'),
                ({'move': 2.0}, 'priced above 1'),
            ):
                text = self.refused(case, certificate, **changes)
                self.assertIn(pattern, text)

    def test_most(self) -> None:
        case = scope_cases.generated(201, 0)
        certificate = proofs.most(case, 4, 0)
        assert certificate is not None
        for changes, pattern in (
            ({'number': certificate.number - 1}, 'at most'),
            ({'move': 1.0}, 'at most'),
            ({'migrations': None}, 'for how many'),
            ({'slots': {'f16': 0.5}}, 'below 1'),
            ({'slots': {'f8': 1.0}}, 'flavors'),
            ({'kinds': certificate.kinds[1:]}, 'kinds of servers'),
        ):
            self.assertIn(pattern, self.refused(case, certificate, **changes))

    def test_impossible(self) -> None:
        case = scope_cases.generated(202, 40)
        certificate = proofs.impossible(case)
        assert certificate is not None
        possible = scope_cases.case(case.cluster, 1)
        self.assertFalse(checking.check(possible, certificate).holds)

        text = self.refused(case, certificate, move=0.5)
        self.assertIn('a migration has a price', text)

    def test_stuck(self) -> None:
        small = placements.generated(203)
        case = scope_cases.case(small, 0)
        verdict = checking.check(case, Certificate(Claim.STUCK, 99))
        self.assertFalse(verdict.holds)
        self.assertIn('fits on', verdict.text)
        full = Cluster(
            small.hosts,
            small.free * 0,
            (Way(0, (1, 1)),),
            small.slots,
            {(0, 0): ('x',)},
        )
        case = scope_cases.case(full, 0)
        self.assertTrue(
            checking.check(case, Certificate(Claim.STUCK, 0)).holds
        )

    def test_overfull(self) -> None:
        """The same as by all trades, with an overfull host."""
        market = test_grids.market((1, 3), (4, 4), (-1, 5))
        for prices in test_grids.TestGrids.prices(mock.Mock()):
            table = checking._Table(
                test_grids.np.concatenate([market.demands, market.slots]),
                [*prices.kinds.tolist(), 1.0],
                prices.move,
            )
            for place in range(len(market.sizes)):
                self.assertAlmostEqual(
                    test_grids.best(market, place, prices),
                    table.host(market.free[place], market.counts[place]),
                )

    def test_coarse(self) -> None:
        """With coarse units, less is proven, and nothing wrong."""
        case, certificate = fewest()
        with mock.patch.object(checking, 'CELLS', 60):
            verdict = checking.check(case, certificate)
        self.assertIn('by its prices, at least', verdict.text)
