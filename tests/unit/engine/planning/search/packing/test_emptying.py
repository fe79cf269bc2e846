# SPDX-License-Identifier: Apache-2.0
"""Which of two emptyings is better?"""

from oslotest import base

from kronos.engine.planning.search.packing import emptying
from kronos.engine.planning.search.packing.emptying import Emptying
from kronos.engine.settings import Settings
from tests.builders import packing
from tests.unit.engine.planning.test_pack import CPU, three


class TestEmptying(base.BaseTestCase):
    def test_better(self) -> None:
        moves = [(0, 0, 1), (1, 0, 1)]
        ordered = [
            Emptying([0, 1], moves, 9),
            Emptying([0], moves[:1], 9),
            Emptying([0], moves, 1),
            Emptying([0], moves, 2),
            Emptying(),
        ]
        for good, bad in zip(ordered, ordered[1:], strict=False):
            self.assertIs(good, emptying.better(good, bad))
            self.assertIs(good, emptying.better(bad, good))
        equal = Emptying([1], moves, 1)
        self.assertIs(equal, emptying.better(equal, ordered[2]))

    def test_memory(self) -> None:
        found = packing.packing(three(), [CPU], Settings()).scope
        utilization = found.simulation.utilization
        self.assertEqual(0, Emptying.of(utilization, [], []).memory_mb)
        utilization.memory_mb[:2] = 5, 7
        moves = [(0, 0, 1), (1, 0, 1)]
        self.assertEqual(12, Emptying.of(utilization, [0], moves).memory_mb)
