# SPDX-License-Identifier: Apache-2.0
"""What does a bound say of a plan?"""

from oslotest import base

from kronos.engine.types import PackingBound


class TestPackingBound(base.BaseTestCase):
    def test_is_optimal(self) -> None:
        self.assertTrue(PackingBound(5, 2, 2, 9).is_optimal)
        self.assertFalse(PackingBound(5, 1, 2, 9).is_optimal)

    def test_says_something(self) -> None:
        """Not that no more hosts can be emptied than there are."""
        self.assertTrue(PackingBound(5, 1, 2, 9).says_something)
        self.assertFalse(PackingBound(None, 1, 9, 9).says_something)
        self.assertTrue(PackingBound(None, 9, 9, 9).says_something)
        self.assertTrue(PackingBound(5, 0, 0, 0).says_something)
