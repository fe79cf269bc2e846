# SPDX-License-Identifier: Apache-2.0
"""What does a constraint get that states itself in one method?"""

import numpy as np
from oslotest import base

from kronos.engine.constraints.base import KeyedConstraint
from kronos.engine.constraints.constraint_set import ConstraintSet
from kronos.engine.reasons import Code, Reason
from tests.builders import constraints
from tests.builders.constraints import Handmade


class TestConstraint(base.BaseTestCase):
    def test_a_new_rule_is_one_method(self) -> None:
        """It gets its masks from that."""

        class Even(Handmade):
            def why_not(self, instance: int, host: int) -> Reason | None:
                if (instance + host) % 2 == 0:
                    return None
                return Reason('odd', Code.NO_ROOM)

        rules = ConstraintSet([Even(3, 2)])
        self.assertEqual(
            [[True, False], [False, True], [True, False]],
            rules.rows(np.arange(3)).tolist(),
        )
        self.assertEqual([False, True, False], rules.column(1).tolist())
        self.assertEqual([(1, 'odd')], rules.refusals(0))


class Small(Handmade, KeyedConstraint[int, int]):
    """A host takes what is not larger than itself."""

    @staticmethod
    def why(key: int, other: int) -> Reason | None:
        if key <= other:
            return None
        return Reason(f'{key} is more than {other}', Code.NO_ROOM)


class TestKeyedConstraint(base.BaseTestCase):
    def test_masks_are_what_it_says(self) -> None:
        constraint = Small([1, 3, 1, 2], [2, 1, 3])
        shape = constraint.shape
        self.assertEqual((4, 3), shape)
        said = constraints.said(constraint, shape).tolist()
        self.assertEqual(
            [
                [True, True, True],
                [False, False, True],
                [True, True, True],
                [True, False, True],
            ],
            said,
        )
        for mask in constraints.masked(constraint, shape):
            self.assertEqual(said, mask.tolist())
        self.assertEqual('3 is more than 2', constraint.why_not(1, 0))

    def test_nobody_there(self) -> None:
        constraint = Small([], [1, 2])
        self.assertEqual((0, 2), constraint.rows(np.arange(0)).shape)
        self.assertEqual((0,), constraint.column(1).shape)
