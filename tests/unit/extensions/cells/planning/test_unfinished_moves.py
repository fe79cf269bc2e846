# SPDX-License-Identifier: Apache-2.0
"""Which moves that were begun does a plan finish, and what of the others?"""

from typing import Any

from oslotest import base

from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Event, Origin, Outcome, Snapshot
from kronos.extensions.cells.cell_drain import (
    CellMove,
    UnfinishedMove,
    needs_of,
)
from kronos.extensions.cells.planning import unfinished_moves
from tests.builders import cells
from tests.builders.cells import server, unfinished

ELSEWHERE = CellMove('older', 'new', 'small', 'small')


def snapshot(*moves: UnfinishedMove, **server_fields: Any) -> Snapshot:
    servers = [
        server(one.instance, one.host, status=one.status, **server_fields)
        for one in moves
        if one.host in (*cells.OLD, *cells.NEW)
    ]
    found = cells.cells(servers)
    needs_of(found).unfinished = list(moves)
    return found


class TestFinished(base.BaseTestCase):
    def finished(
        self, given: Snapshot, settings: Settings | None = None
    ) -> tuple[list[str], dict[str, Reason]]:
        found = unfinished_moves.judged(given, settings or cells.settings())
        return (
            [one.move.instance for one in found if one.is_finished],
            {one.move.instance: one.reason for one in found},
        )

    def test_nobody_is_at_it(self) -> None:
        """Wherever the server is, in the scope or not."""
        for status, host in (
            ('RESIZE', 'o1'),
            ('VERIFY_RESIZE', 'n1'),
            ('REVERT_RESIZE', 'n1'),
            ('RESIZE', 'of no scope'),
        ):
            found, reasons = self.finished(
                snapshot(unfinished('a', status, host))
            )
            self.assertEqual(['a'], found)
            self.assertEqual(Code.CELL_BEGUN, reasons['a'].code)
            self.assertEqual(
                'its move to cell new, which Kronos began and left in '
                f'{status}, is finished by this plan',
                reasons['a'],
            )

    def test_its_plan_goes_on(self) -> None:
        found, reasons = self.finished(snapshot(unfinished('a', plan='p')))
        self.assertEqual([], found)
        self.assertEqual(Code.CELL_BEGUN, reasons['a'].code)
        self.assertIn('is in action plan p, which goes on', reasons['a'])

    def test_a_plan_that_goes_on_finishes_it(self) -> None:
        """Its action may not have begun; Nova tells of no plan."""
        for outcome, origin, expected in (
            (Outcome.PLANNED, Origin.WATCHER, []),
            (Outcome.UNDER_WAY, Origin.WATCHER, []),
            (Outcome.FAILED, Origin.WATCHER, ['a']),
            (Outcome.UNDER_WAY, Origin.NOVA, ['a']),
        ):
            given = snapshot(unfinished('a'))
            given.events = [
                Event('a', 'o1', 'n1', outcome, 0.0, origin, plan='other')
            ]
            found, reasons = self.finished(given)
            self.assertEqual(expected, found)
            in_plan = 'is in action plan other' in reasons['a']
            self.assertEqual(not expected, in_plan)

    def test_an_operator_confirms_it(self) -> None:
        found, reasons = self.finished(
            snapshot(unfinished('a', has_ended=True))
        )
        self.assertEqual([], found)
        self.assertEqual(Code.CELL_UNCONFIRMED, reasons['a'].code)
        self.assertIn('"openstack server resize confirm a"', reasons['a'])

    def test_the_audit_excludes_it(self) -> None:
        given = snapshot(unfinished('a'), unmovable='excluded')
        found, reasons = self.finished(given)
        self.assertEqual([], found)
        self.assertEqual('excluded', reasons['a'])

    def test_locked_and_pinned_ones(self) -> None:
        """They are in between all the same."""
        given = snapshot(unfinished('a'), locked=True, tags=['kronos:pin'])
        self.assertEqual(['a'], self.finished(given)[0])

    def test_another_cell(self) -> None:
        """Its own audit finishes it; and other strategies look at none."""
        given = snapshot(unfinished('a', how=ELSEWHERE))
        self.assertEqual(([], {}), self.finished(given))
        given = snapshot(unfinished('a'))
        self.assertEqual(([], {}), self.finished(given, Settings()))

    def test_finishing_it_has_failed(self) -> None:
        """Then it is tried again when the quarantine is over."""
        event = Event(
            'a', 'o1', 'n1', Outcome.FAILED, 900.0, Origin.WATCHER,
            error_type='MigrationFailed', status='FAILED',
        )  # fmt: skip
        settings = cells.settings()
        settings.quarantine_seconds = 600.0
        for is_second, ago, expected in (
            (False, 1.0, ['a']),
            (True, 1.0, []),
            (True, 700.0, ['a']),
        ):
            given = snapshot(unfinished('a', 'RESIZE', 'o1',
                                        is_second=is_second))  # fmt: skip
            given.events, given.taken_at = [event], event.at + ago
            found, reasons = self.finished(given, settings)
            self.assertEqual(expected, found)
            rests = reasons['a'].code is Code.INSTANCE_QUARANTINE
            self.assertEqual(not expected, rests)
