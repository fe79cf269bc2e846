# SPDX-License-Identifier: Apache-2.0
"""Does HiGHS solve what it is given, and does nobody call it who has none?"""

import types
from unittest import mock

import numpy as np
from oslotest import base

from kronos.engine.planning.proof import exact_model
from kronos.extensions.room.planning import highs

COSTS = np.array([-2.0, -3.0])
MATRIX = np.array([[2.0, 3.0]])
LIMITS = np.array([5.5])


class TestHighs(base.BaseTestCase):
    def test_whole_numbers(self) -> None:
        result = highs.whole(
            COSTS,
            MATRIX,
            (np.array([-np.inf]), LIMITS),
            np.array([9.0, 9.0]),
            {'node_limit': 1000},
        )
        self.assertEqual([1, 1], np.rint(result.x).tolist())

    def test_infeasible(self) -> None:
        """Rows contradict each other; a limit or a fault proves nothing."""
        for least, is_infeasible in ((5.0, False), (20.0, True)):
            result = highs.whole(
                COSTS,
                MATRIX,
                (np.array([least]), np.array([30.0])),
                np.array([3.0, 4.0]),
                {'node_limit': 1000},
            )
            self.assertEqual(is_infeasible, highs.is_infeasible(result))
        for status, message, is_infeasible in (
            (1, 'iteration limit', False),
            (4, 'The problem is unbounded or infeasible.', True),
            (4, 'numerical difficulties', False),
        ):
            ended = types.SimpleNamespace(
                x=None, status=status, message=message
            )
            self.assertEqual(is_infeasible, highs.is_infeasible(ended))

    def test_parts(self) -> None:
        result = highs.mixed(COSTS, MATRIX, LIMITS)
        self.assertAlmostEqual(-5.5, result.fun)

    def test_none(self) -> None:
        none = mock.patch.object(exact_model, 'solver', return_value=None)
        with none:
            self.assertIsNone(highs.solver())
            self.assertRaises(RuntimeError, highs.mixed, COSTS, MATRIX, LIMITS)
