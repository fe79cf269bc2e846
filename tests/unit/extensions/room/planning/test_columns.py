# SPDX-License-Identifier: Apache-2.0
"""Are all choices of a few servers there?"""

from oslotest import base

from kronos.extensions.room.planning import columns


class TestChoices(base.BaseTestCase):
    def test_by_way(self) -> None:
        self.assertEqual(
            [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]],
            columns.choices(2, 2).tolist(),
        )

    def test_nothing_to_choose_from(self) -> None:
        self.assertEqual((1, 0), columns.choices(0, 3).shape)
