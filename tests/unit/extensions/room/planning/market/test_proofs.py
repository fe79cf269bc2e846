# SPDX-License-Identifier: Apache-2.0
"""Do prices prove what an exact program of its own says?"""

from oslotest import base

from kronos.extensions.room.certificates import Claim
from kronos.extensions.room.planning.market import checking, proofs
from tests.unit.extensions.room.planning import placements
from tests.unit.extensions.room.planning.market import scope_cases

SEEDS = range(200, 206)


class TestProofs(base.BaseTestCase):
    def test_fewest_and_impossible(self) -> None:
        """The bound is never above the fewest, nor more than 1 below."""
        claims = []
        for seed in SEEDS:
            for numbers in ((1,), (3,), (2, 2)):
                case = scope_cases.generated(seed, *numbers)
                best = placements.fewest(case.cluster, case.targets)
                impossible = proofs.impossible(case)
                if best is None:
                    assert impossible is not None, (seed, numbers)
                    self.assertTrue(checking.check(case, impossible).holds)
                    claims.append(impossible.claim)
                    continue
                self.assertIsNone(impossible)
                certificate = proofs.fewest(case, best)
                assert certificate is not None
                self.assertTrue(checking.check(case, certificate).holds)
                self.assertIn(best - certificate.number, (0, 1))
                claims.append(certificate.claim)
        self.assertGreater(claims.count(Claim.FEWEST), 5)
        self.assertGreater(claims.count(Claim.IMPOSSIBLE), 2)

    def test_most(self) -> None:
        """More migrations never have a lower bound, nor above the sum."""
        for seed in SEEDS:
            case = scope_cases.generated(seed, 0)
            last = 0
            for moves in (0, 2, 6):
                certificate = proofs.most(case, moves, 0)
                assert certificate is not None
                self.assertTrue(checking.check(case, certificate).holds)
                self.assertGreaterEqual(certificate.number, last)
                self.assertLessEqual(certificate.number, case.cluster.by_sum())
                last = certificate.number
                for more in (last, last + 1):
                    targets = scope_cases.case(case.cluster, more).targets
                    best = placements.fewest(case.cluster, targets)
                    if more > last:
                        self.assertTrue(best is None or best > moves)

    def test_nearest(self) -> None:
        case = scope_cases.generated(200, 500, 1)
        nearest = proofs.nearest(case, 3)
        self.assertLess(nearest['f16'], 500)
        self.assertLessEqual(nearest['f8'], 1)
