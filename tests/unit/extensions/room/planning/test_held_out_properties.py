# SPDX-License-Identifier: Apache-2.0
"""Do audits reach the optimum of many more small clusters?"""

from tests.unit.extensions.room.planning import held_out

SEEDS = range(4512, 4560)


class TestOtherClusters(held_out.HeldOut):
    """Those of :mod:`test_held_out` are 12 more."""

    def test_optimum(self) -> None:
        for seed in SEEDS:
            self.judge(seed)
        self.assertGreater(self.ends['most'], 60)
        self.assertGreater(self.ends['fewest'], 30)
        self.assertGreater(self.ends['impossible'], 20)
