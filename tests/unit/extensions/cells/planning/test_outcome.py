# SPDX-License-Identifier: Apache-2.0
"""Does the result of a cell drain tell all that its action needs?"""

from typing import Any

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import AggregateResult, Snapshot
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import (
    CellMove,
    ForeignMove,
    OffloadedServer,
    needs_of,
)
from tests.builders import cells
from tests.builders.cells import CPU, server, unfinished


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
        moves = {step.instance: step.how for step in result.steps}
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
        needs_of(snapshot).offloaded = [OffloadedServer('uuid', 'shelved')]
        cell = cell_drain.outcome_of(run(snapshot))
        assert cell is not None
        self.assertEqual(('old', ['new']), (cell.source, cell.targets))
        self.assertEqual((2, 1), (cell.servers_before, cell.servers_after))
        self.assertEqual(needs_of(snapshot).offloaded, cell.may_be_here)
        self.assertFalse(cell.is_empty)

    def test_empty(self) -> None:
        cell = cell_drain.outcome_of(run(cells.cells([server('c', 'n1')])))
        assert cell is not None
        self.assertTrue(cell.is_empty)

    def test_standing_still(self) -> None:
        """What is there is told, whatever is the matter."""
        snapshot = cells.cells([server('a')])
        snapshot.services = None
        cell = cell_drain.outcome_of(run(snapshot))
        assert cell is not None
        self.assertEqual((1, 1), (cell.servers_before, cell.servers_after))

    def test_unfinished(self) -> None:
        """What is on its way leaves; what goes back is there again."""
        servers = [
            server('leaves', status='RESIZE', task_state='resize_prep'),
            server('back', 'n1', status='REVERT_RESIZE'),
            server('there', 'n1', status='VERIFY_RESIZE'),
            server('waits', 'n2', status='VERIFY_RESIZE'),
            server('goes on', 'n2', status='VERIFY_RESIZE'),
            server('of others', 'n3', status='VERIFY_RESIZE'),
            server('locked', locked=True),
            server('free'),
        ]
        snapshot = cells.cells(servers)
        needs_of(snapshot).unfinished = [
            unfinished('leaves', 'RESIZE', 'o1'),
            unfinished('back', 'REVERT_RESIZE'),
            unfinished('there'),
            unfinished('waits', has_ended=True),
            unfinished('goes on', plan='p'),
            unfinished('of no host here', 'RESIZE', 'o9'),
        ]
        other = ForeignMove('of others', '', 'o2', 'n3', 'old')
        elsewhere = ForeignMove('of another cell', '', 'x1', 'n3', 'x')
        needs_of(snapshot).of_others = [other, elsewhere]
        result = run(snapshot)
        cell = cell_drain.outcome_of(result)
        assert cell is not None
        self.assertEqual(
            ['leaves', 'back', 'there', 'of no host here'],
            [one.instance for one in cell.finishing],
        )
        began = [move for _, move in cell_drain.finishing(result)]
        self.assertEqual(began, cell.finishing)
        self.assertEqual(['waits'], [o.instance for o in cell.unconfirmed])
        self.assertEqual(['goes on'], [o.instance for o in cell.going_on])
        self.assertEqual([other], cell.of_others)
        self.assertEqual(['free'], [step.instance for step in result.steps])
        # leaves, locked, free; without leaves and free, and with back.
        self.assertEqual((3, 2), (cell.servers_before, cell.servers_after))
        self.assertEqual(['locked'], cell.staying)
        self.assertEqual(Code.CELL_BEGUN, result.stayed['leaves'].code)
        self.assertEqual(Code.CELL_STATUS, result.stayed['of others'].code)

    def test_they_count_as_under_way(self) -> None:
        """Whatever Nova tells of resizes, and whoever is at them."""
        servers = [server('a'), server('b')]
        for more in ({}, {'plan': 'p'}, {'has_ended': True}):
            snapshot = cells.cells(servers)
            needs_of(snapshot).unfinished = [unfinished('c', **more)]
            [result] = propose(
                [snapshot], [CPU], cells.settings(max_migrations=2)
            ).scopes
            self.assertEqual(1, len(result.steps))
            self.assertIn(
                'the budget of 2 is reduced by 1', ' '.join(result.warnings)
            )

    def test_finishing_needs_no_metrics(self) -> None:
        """Nor os-services: what was begun is between two cells."""
        snapshot = cells.cells([server('a', 'n1', status='VERIFY_RESIZE')])
        snapshot.services = None
        needs_of(snapshot).unfinished = [unfinished('a')]
        result = run(snapshot)
        self.assertEqual(
            ['a'], [one.instance for _, one in cell_drain.finishing(result)]
        )
        self.assertEqual(Code.CELL_BEGUN, result.stayed['a'].code)

    def test_not_empty_before_all_is_over(self) -> None:
        other = ForeignMove('a', '', 'o2', 'n3', 'old')
        for unfinished_, others in (
            ([unfinished('a')], []),
            ([unfinished('a', has_ended=True)], []),
            ([unfinished('a', plan='p')], []),
            ([], [other]),
        ):
            snapshot = cells.cells([])
            needs_of(snapshot).unfinished, needs_of(snapshot).of_others = (
                unfinished_,
                others,
            )
            cell = cell_drain.outcome_of(run(snapshot))
            assert cell is not None
            self.assertEqual(0, cell.servers_before)
            self.assertFalse(cell.is_empty)

    def test_other_plans(self) -> None:
        snapshot = cells.cells([server('a')])
        [result] = propose([snapshot], [CPU], Settings()).scopes
        self.assertIsNone(cell_drain.outcome_of(result))
