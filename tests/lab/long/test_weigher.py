# SPDX-License-Identifier: Apache-2.0
"""Where do twenty new servers land, one by one, at once, and without us?"""

from tests.lab import weighing
from tests.lab.weighing import MORE, WeigherTestCase


class TestSpread(WeigherTestCase):
    def test_one_by_one_and_together(self):
        """As even as the planner would place them, within 10 %."""
        self.load()
        names = [f'new-{n}' for n in range(MORE)]
        self.schedule(with_weigher=True)
        before = self.expected()
        allowed = 1.1 * weighing.placed_greedily(before, MORE)
        self.new(names)
        one_by_one = weighing.imbalance(self.expected())
        self.delete(names)
        self.wait_for_metrics()
        together = self.at_once()
        self.delete([f'new-{n}' for n in range(1, MORE + 1)])
        self.schedule(with_weigher=False)
        without = self.at_once()
        print(
            f'before {weighing.imbalance(before):.4f}, '
            f'greedy {allowed / 1.1:.4f}, '
            f'one by one {one_by_one:.4f}, together {together:.4f}, '
            f'without {without:.4f}'
        )
        self.assertLessEqual(one_by_one, allowed)
        self.assertLessEqual(together, allowed)
        self.assertGreater(without, allowed)
