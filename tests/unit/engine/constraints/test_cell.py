# SPDX-License-Identifier: Apache-2.0
"""Does no instance leave its cell?"""

from oslotest import base

from kronos.engine import edits
from kronos.engine.constraints.cell import SameCell
from kronos.engine.settings import Settings
from kronos.engine.types import Snapshot
from tests.builders import constraints, scopes


def scope(**cells: str) -> Snapshot:
    """One instance a host, of the same name."""
    found = scopes.scope(
        [],
        {host: [] for host in cells},
        [scopes.vm(host, host, []) for host in cells],
    )
    for host, cell in cells.items():
        found.hosts[host].cell = cell
    return found


class TestSameCell(base.BaseTestCase):
    def test_pairs(self) -> None:
        """An unknown cell is that of nobody, not of another such host."""
        given = constraints.given(scope(a='one', b='one', c='two', d=''))
        constraint = SameCell.build(given)
        assert constraint is not None
        expected = [
            [True, True, False, False],
            [True, True, False, False],
            [False, False, True, False],
            [False, False, False, False],
        ]
        self.assertEqual(expected, constraints.pairs(constraint, given.shape))
        self.assertEqual(
            'the host is in cell two, not one, and no live migration '
            'crosses cells',
            constraint.why_not(0, 2),
        )
        self.assertIn('cell unknown, not two', constraint.why_not(2, 3) or '')

    def test_no_cells_are_known(self) -> None:
        self.assertIsNone(SameCell.build(constraints.given(scope(a='', b=''))))

    def test_relaxation(self) -> None:
        """Both are in the cell that is known, if one is."""
        for source, destination, cell in (
            ('one', 'two', 'two'),
            ('one', '', 'one'),
            ('', '', 'one'),
        ):
            snapshot = scope(a=source, b=destination, c='three')
            constraint = SameCell.build(constraints.given(snapshot))
            assert constraint is not None
            reason = constraint.why_not(0, 1)
            assert reason is not None
            self.assertIn(reason.code, SameCell.codes)
            pair = edits.Pair('a', 'a', 'b')
            case = constraints.relaxed(
                SameCell, snapshot, Settings(), reason, pair
            )
            again = SameCell.build(constraints.given(case.snapshot))
            assert again is not None
            self.assertIsNone(again.why_not(0, 1))
            self.assertEqual(cell, case.snapshot.hosts['b'].cell)
            self.assertEqual(destination, snapshot.hosts['b'].cell)
