# SPDX-License-Identifier: Apache-2.0
"""Does the result of a cell drain tell all that its action needs?"""

from typing import Any

from oslotest import base

from kronos.engine.cell_drain import CellMove, OffloadedServer
from kronos.engine.planning.propose import propose
from kronos.engine.settings import Settings
from kronos.engine.types import AggregateResult, Snapshot
from tests.builders import cells
from tests.builders.cells import CPU, server


def run(snapshot: Snapshot, **drain: Any) -> AggregateResult:
    return propose([snapshot], [CPU], cells.settings(**drain)).scopes[0]


class TestOutcome(base.BaseTestCase):
    def test_moves(self) -> None:
        servers = [
            server('keeps', flavor='medium'),
            server('pinned', pinned_availability_zone='zone-old'),
        ]
        asked = {'small': 'large', '*': 'same'}
        result = run(
            cells.cells(servers),
            flavor_map=asked,
            unpin_az=True,
            close_source=True,
        )
        moves = {step.instance: step.cell_move for step in result.steps}
        ends = 'old', 'new'
        zones = {'source_zone': 'zone-old', 'destination_zone': 'zone-new'}
        self.assertEqual(
            {
                'keeps': CellMove(*ends, 'medium', 'medium', **zones),
                'pinned': CellMove(
                    *ends,
                    'small',
                    'large',
                    **zones,
                    destination_flavor_id='2',
                    unpins=True,
                ),
            },
            moves,
        )
        self.assertEqual(
            {'keeps': False, 'pinned': True},
            {uuid: move and move.is_resize for uuid, move in moves.items()},
        )

    def test_closings(self) -> None:
        """Hosts of the source that are open, and only if anything leaves."""
        snapshot = cells.cells([server('a')])
        self.assertEqual([], run(snapshot).closings)
        closed = run(snapshot, close_source=True).closings
        self.assertEqual(['o1', 'o2'], [one.host for one in closed])
        self.assertEqual('cell old is being emptied', closed[0].reason)
        assert snapshot.services is not None
        snapshot.services['o1'].status = 'disabled'
        closed = run(snapshot, close_source=True).closings
        self.assertEqual(['o2'], [one.host for one in closed])
        empty = run(cells.cells([]), close_source=True)
        self.assertEqual([], empty.closings)

    def test_count(self) -> None:
        """Servers of target cells are none of it; offloaded ones may be."""
        servers = [server('a'), server('b', locked=True), server('c', 'n1')]
        snapshot = cells.cells(servers)
        snapshot.offloaded = [OffloadedServer('uuid', 'shelved')]
        cell = run(snapshot).cell
        assert cell is not None
        self.assertEqual(('old', ['new']), (cell.source, cell.targets))
        self.assertEqual((2, 1), (cell.servers_before, cell.servers_after))
        self.assertEqual(snapshot.offloaded, cell.may_be_here)
        self.assertFalse(cell.is_empty)

    def test_empty(self) -> None:
        cell = run(cells.cells([server('c', 'n1')])).cell
        assert cell is not None
        self.assertTrue(cell.is_empty)

    def test_standing_still(self) -> None:
        """What is there is told, whatever is the matter."""
        snapshot = cells.cells([server('a')])
        snapshot.services = None
        cell = run(snapshot).cell
        assert cell is not None
        self.assertEqual((1, 1), (cell.servers_before, cell.servers_after))

    def test_other_plans(self) -> None:
        snapshot = cells.cells([server('a')])
        [result] = propose([snapshot], [CPU], Settings()).scopes
        self.assertIsNone(result.cell)
