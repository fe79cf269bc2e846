# SPDX-License-Identifier: Apache-2.0
"""Where does what leaves its cell go?"""

from oslotest import base

from kronos.engine import edits
from kronos.engine.constraints.cell import SameCell
from kronos.engine.constraints.constraint_set import CONSTRAINTS
from kronos.engine.extension import PLAIN
from kronos.engine.types import PlanningInput
from kronos.extensions.cells.cell_drain import CellPhase
from kronos.extensions.cells.planning.target_cell import TargetCell
from tests.builders import cells, constraints


class TestTargetCell(base.BaseTestCase):
    def test_pairs(self) -> None:
        """To the target cell, from wherever; and cells may be crossed."""
        snapshot = cells.cells([cells.server('a'), cells.server('b', 'n1')])
        snapshot.hosts['n3'].cell = 'third'
        given = constraints.given(
            snapshot, cells.settings(), CellPhase.CELL_DRAIN
        )
        kinds = given.settings.extension.constraints(CONSTRAINTS)
        self.assertNotIn(SameCell, kinds)
        self.assertIn(TargetCell, kinds)
        constraint = TargetCell.build(given)
        assert constraint is not None
        hosts = given.index.hosts
        self.assertEqual(['n1', 'n2', 'n3', 'o1', 'o2'], hosts)
        expected = [[True, True, False, False, False]] * 2
        self.assertEqual(expected, constraints.pairs(constraint, given.shape))
        self.assertEqual(
            'the host is in no target cell', constraint.why_not(0, 2)
        )

    def test_relaxation(self) -> None:
        case = PlanningInput(
            cells.cells([cells.server('a')]), [], cells.settings()
        )
        reason = TargetCell.why('old', False)
        assert reason is not None
        pair = edits.Pair('a', 'o1', 'o2')
        found = TargetCell.relax(case, reason, pair)
        self.assertEqual('new', found.snapshot.hosts['o2'].cell)
        self.assertEqual('old', case.snapshot.hosts['o2'].cell)
        other = edits.with_settings(case, extension=PLAIN)
        self.assertIs(other, TargetCell.relax(other, reason, pair))

    def test_only_in_a_cell_drain(self) -> None:
        given = constraints.given(cells.cells([cells.server('a')]))
        self.assertIsNone(TargetCell.build(given))
        self.assertIsNotNone(SameCell.build(given))
