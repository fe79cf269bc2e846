# SPDX-License-Identifier: Apache-2.0
"""Does the plain rule even out hosts, and stop there?"""

import numpy as np
from oslotest import base

from kronos.simulate.cloud import Cloud
from kronos.simulate.plain_rule import PlainRule
from tests.builders import loads


class TestRule(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.usage = np.array([4.0, 3.0, 1.0, 1.0])
        load = loads.load([self.usage] * 2, [0, 0, 0, 1], [10.0] * 3)
        self.cloud = Cloud(load)
        for server, host in enumerate([0, 0, 0, 1]):
            self.cloud.boot(server, host)

    def moves(self, values: list[float]) -> list[tuple[int, int]]:
        rule = PlainRule(
            self.cloud, np.array(values), self.usage, np.full(3, 10.0)
        )
        return list(rule.moves(self.cloud.alive))

    def test_until_it_is_even(self) -> None:
        self.assertEqual([(0, 2), (2, 1)], self.moves([0.8, 0.1, 0.0]))

    def test_even(self) -> None:
        self.assertEqual([], self.moves([0.4, 0.3, 0.3]))

    def test_host_without_reading(self) -> None:
        self.assertEqual([(0, 1)], self.moves([0.8, 0.1, np.nan]))

    def test_no_room(self) -> None:
        self.cloud.capacity[1, 2] = 0
        self.assertEqual([(0, 1)], self.moves([0.8, 0.1, 0.0]))
