# SPDX-License-Identifier: Apache-2.0
"""Which flavor does a server get, and when is a cell empty?"""

from oslotest import base

from kronos.extensions.cells.cell_drain import CellDrain, CellMove, CellOutcome


class TestFlavors(base.BaseTestCase):
    def test_new_flavor(self) -> None:
        """Without a map all keep theirs; with one, what is not in it stays."""
        for flavor_map, expected in (
            (None, 'm1'),
            ({'m1': 'm2'}, 'm2'),
            ({'m1': 'same', '*': 'm2'}, 'm1'),
            ({'*': 'm2'}, 'm2'),
            ({'*': 'same'}, 'm1'),
            ({'m3': 'm2'}, None),
        ):
            drain = CellDrain('old', ['new'], flavor_map=flavor_map)
            self.assertEqual(expected, drain.new_flavor('m1'), flavor_map)

    def test_is_resize(self) -> None:
        for new, expected in (('m1', False), ('m2', True)):
            self.assertIs(expected, CellMove('o', 'n', 'm1', new).is_resize)


class TestOutcome(base.BaseTestCase):
    def test_empty(self) -> None:
        """A plan that empties it has not been carried out yet."""
        for before, after, expected in ((0, 0, True), (2, 0, False)):
            cell = CellOutcome('old', ['new'], before, after)
            self.assertIs(expected, cell.is_empty)
