# SPDX-License-Identifier: Apache-2.0
"""Can columns be sent from process to process?"""

import pickle

from oslotest import base

from kronos.simulate import loop
from kronos.simulate.columns import Kind
from tests.builders import loads, simulations


class TestPickle(base.BaseTestCase):
    def test_there_and_back(self) -> None:
        load = loads.load([[1.0, 1.0]] * 4, [0, 0], [4.0, 4.0])
        column = simulations.column(load, Kind.ENGINE)
        again = pickle.loads(pickle.dumps(column))
        self.assertEqual(column, again)
        result = loop.run(load, again)
        copied = pickle.loads(pickle.dumps(result))
        self.assertEqual(result.figures, copied.figures)
        self.assertEqual(result.journeys, copied.journeys)
