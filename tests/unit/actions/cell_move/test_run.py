# SPDX-License-Identifier: Apache-2.0
"""Is a server moved once, and whole, or brought back?"""

from tests.unit.actions.cell_move import base


class TestMove(base.CellMoveTestCase):
    def test_the_whole_way(self):
        told = self.run_move()
        print(told, self.told, self.notices.told, self.slots.written)
        print(self.document)
        self.assertEqual(('n1', 'ACTIVE', None, 1), self.place())
