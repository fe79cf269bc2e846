# SPDX-License-Identifier: Apache-2.0
"""Do audits reach the optimum of small clusters, with its proof?"""

from tests.unit.extensions.room.planning import held_out

SEEDS = range(4500, 4512)


class TestSomeClusters(held_out.HeldOut):
    """The others are in :mod:`test_held_out_properties`."""

    def test_optimum(self) -> None:
        for seed in SEEDS:
            self.judge(seed)
        self.assertGreater(self.ends['most'], 10)
        self.assertGreater(self.ends['fewest'], 5)
        self.assertGreater(self.ends['impossible'], 1)
