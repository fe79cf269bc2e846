# SPDX-License-Identifier: Apache-2.0
"""Are servers born, moved and gone when the load says so?"""

import numpy as np
from oslotest import base

from kronos.simulate.churn import Churn
from kronos.simulate.cloud import Cloud
from kronos.simulate.moves import Moves
from tests.builders import loads


class TestChurn(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        places = np.array([[0, -1, 1], [0, 1, 1], [1, 1, -1]])
        load = loads.load(np.ones((3, 3)), places, [4.0, 4.0])
        self.cloud = Cloud(load)
        moves = Moves(self.cloud, 0.0, 0)
        self.churn = Churn(load, self.cloud, moves, None)

    def test_as_it_was(self) -> None:
        hosts = []
        for tick in range(3):
            self.churn.advance(tick, float(tick))
            hosts.append(self.cloud.host.tolist())
        self.assertEqual([[0, -1, 1], [0, 1, 1], [1, 1, -1]], hosts)
        [journey] = self.churn.journeys
        self.assertEqual(
            (loads.uuid(0), 'h0000', 'h0001', 2.0),
            (
                journey.instance,
                journey.source,
                journey.destination,
                journey.at,
            ),
        )

    def test_moves(self) -> None:
        self.assertEqual([], self.churn.moves(0, 100.0))
        [move] = self.churn.moves(1, 100.0)
        self.assertEqual(
            (0, 0, 1, 0.0, 6 + 20.48, 2048.0),
            (
                move.instance,
                move.source,
                move.destination,
                move.start_s,
                move.seconds,
                move.memory_mb,
            ),
        )
