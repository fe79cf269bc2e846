# SPDX-License-Identifier: Apache-2.0
"""Whose moves are not over, by action rows and by what Nova says?"""

from collections.abc import Collection
from typing import Any

import fixtures
from oslotest import base

from kronos.clients.nova.rows import MigrationStatus
from kronos.engine.types import Instance
from kronos.extensions.cells.cell_drain import (
    CELL_MARK,
    CELL_MOVE,
    CellMove,
    Confirm,
    ForeignMove,
)
from kronos.extensions.cells.readings import unfinished_moves
from kronos.extensions.cells.readings.unfinished_moves import BegunMove
from kronos.snapshots import watcher_actions
from kronos.snapshots.watcher_actions import ActionRow, PlanRow
from tests.builders.cells import server

AT = 1000.0
CELLS = {'o1': 'old', 'o2': 'old', 'n1': 'new', 'x1': ''}
TOLD = {
    'aggregate': 'old -> new',
    'resource_id': 'a',
    'source_node': 'o1',
    'destination_node': 'n1',
    'mode': 'resize',
    'source_cell': 'old',
    'destination_cell': 'new',
    'target_cells': ['new', 'newer'],
    'source_flavor': 'small',
    'destination_flavor': 'large',
    'destination_flavor_id': '2',
    'source_zone': 'zo',
    'destination_zone': 'zn',
    'unpin_zone': True,
    'confirm': 'auto',
    'action_plan_uuid': 'plan',
}
MARK = {'at': AT, 'status': 'ACTIVE', 'migration': 'm1', 'known': ['m0']}


def row(
    state: str = 'CANCELLED',
    mark: Any = MARK,
    message: str = '',
    kind: str = CELL_MOVE,
    **told: Any,
) -> ActionRow:
    parameters = TOLD | told | {CELL_MARK: mark}
    return ActionRow('action', kind, state, parameters, message, AT, AT)


def begun(given: ActionRow, plan: str = 'CANCELLED') -> BegunMove | None:
    return unfinished_moves.begun(given, PlanRow('plan', plan, AT))


def known(given: ActionRow, plan: str = 'CANCELLED') -> BegunMove:
    found = begun(given, plan)
    assert found is not None
    return found


class TestBegun(base.BaseTestCase):
    def test_all_of_it(self) -> None:
        self.assertEqual(
            BegunMove(
                'action', 'a', 'o1', 'n1',
                CellMove('old', 'new', 'small', 'large', 'zo', 'zn', '2',
                         True),
                ['new', 'newer'], AT, AT, migration='m1', known=['m0'],
            ),
            begun(row()),
        )  # fmt: skip

    def test_no_request(self) -> None:
        """Of a live migration, without a mark, or one that Nova refused."""
        for given in (
            row(kind=watcher_actions.ACTION_TYPE),
            row(mark=None),
            row(mark='asked'),
            row(mark={'status': 'ACTIVE'}),
            row(mark={'at': True}),
            row(mark=MARK | {'refused': 'no such host'}),
        ):
            self.assertIsNone(begun(given))

    def test_what_cannot_be_finished(self) -> None:
        log = self.useFixture(fixtures.FakeLogger())
        self.assertIsNone(begun(row(destination_flavor=7)))
        self.assertIn('Action action has started a move', log.output)

    def test_how_far_it_is(self) -> None:
        """By the states of the action and of its plan."""
        text = 'Action failed in execute: KRONOS:MigrationTimeout: x'
        for given, plan, expected in (
            (row('CANCELLED'), 'CANCELLED', {}),
            (row('FAILED'), 'FAILED', {}),
            (row('ONGOING'), 'CANCELLED', {}),
            (row('FAILED'), 'ONGOING', {'plan': 'plan'}),
            (row('ONGOING'), 'CANCELLING', {'plan': 'plan'}),
            (row('SUCCEEDED'), 'SUCCEEDED', {'is_over': True}),
            (row('SUCCEEDED', confirm='manual'), 'SUCCEEDED',
             {'confirm': Confirm.MANUAL, 'has_ended': True}),
            (row('CANCELLED', confirm='manual'), 'CANCELLED',
             {'confirm': Confirm.MANUAL}),
            (row('DELETED', confirm='manual'), 'DELETED',
             {'confirm': Confirm.MANUAL, 'has_ended': True}),
            (row('DELETED', confirm='manual', message=text), 'DELETED',
             {'confirm': Confirm.MANUAL}),
            (row('FAILED', finishes='first'), 'FAILED', {'is_second': True}),
            (row('DELETED', finishes='first', message=text), 'DELETED',
             {'is_second': True}),
            (row('CANCELLED', finishes='first'), 'CANCELLED', {}),
        ):  # fmt: skip
            usual = {'confirm': Confirm.AUTO, 'plan': '', 'has_ended': False,
                     'is_second': False, 'is_over': False}  # fmt: skip
            found = vars(known(given, plan))
            self.assertEqual(
                usual | expected, {name: found[name] for name in usual}
            )


def migration(
    uuid: str, at: float = AT, status: str = 'finished', **more: Any
) -> MigrationStatus:
    return MigrationStatus('a', status, uuid, created_at=at, **more)


class Listings:
    """What Nova would say."""

    def __init__(self, *cold: MigrationStatus) -> None:
        self.cold = [*cold]
        self.finished: list[MigrationStatus] = []
        self.asked: list[str] = []
        self.newest = ''
        """Id of the newest request for a move."""

    def is_moved_by(self, uuid: str, requests: Collection[str]) -> bool:
        return self.newest in requests

    def cold_migrations(self, uuid: str) -> list[MigrationStatus]:
        self.asked.append(uuid)
        return self.cold

    def unconfirmed(self) -> list[MigrationStatus]:
        self.asked.append('all')
        return self.finished


class TestFind(base.BaseTestCase):
    def find(
        self, listings: Listings, one: Instance, *moves: BegunMove
    ) -> tuple[list[str], list[ForeignMove]]:
        ours, others = unfinished_moves.find(listings, [one], moves, CELLS)
        return [move.action for move in ours], others

    def test_ours(self) -> None:
        """In each status; the newest row of the server tells."""
        newer = known(row())
        newer.action, newer.created = 'newer', AT + 1
        for status in ('RESIZE', 'VERIFY_RESIZE', 'REVERT_RESIZE'):
            one = server('a', 'n1', status=status)
            found = self.find(
                Listings(migration('m1')), one, newer, known(row())
            )
            self.assertEqual((['newer'], []), found)

    def test_all_of_one(self) -> None:
        one = server('a', 'n1', status='VERIFY_RESIZE')
        move = known(row('SUCCEEDED', confirm='manual'))
        [found], _ = unfinished_moves.find(
            Listings(migration('m1')), [one], [move], CELLS
        )
        self.assertEqual(
            ('n1', 'VERIFY_RESIZE', 'a', Confirm.MANUAL, True, ''),
            (found.host, found.status, found.instance_name, found.confirm,
             found.has_ended, found.plan),
        )  # fmt: skip
        self.assertEqual((move.how, ['new', 'newer']), (
            found.how, found.target_cells
        ))  # fmt: skip

    def test_what_is_over(self) -> None:
        """Nova is not even asked."""
        listings = Listings(migration('m1'))
        for one, move in (
            (server('a'), known(row())),
            (server('b', status='RESIZE'), known(row())),
            (server('a', status='RESIZE'), known(row('SUCCEEDED'))),
        ):
            self.assertEqual(([], []), self.find(listings, one, move))
        self.assertEqual([], listings.asked)

    def test_whose_migration_it_is(self) -> None:
        """Somebody may have moved the server since."""
        unknown = row(mark=MARK | {'migration': ''})
        for given, newest, is_ours in (
            (row(), migration('m1', AT + 9999), True),
            (row(), migration('m2'), False),
            (row(), None, False),
            (unknown, migration('m2', AT - 290), True),
            (unknown, migration('m2', AT + 550), True),
            (unknown, migration('m2', AT + 650), False),
            (unknown, migration('m2', AT - 310), False),
            (unknown, migration('m0', AT), False),
            (unknown, None, True),
        ):
            listings = Listings(*([newest] if newest else []))
            one = server('a', status='RESIZE')
            found, _ = self.find(listings, one, known(given))
            self.assertEqual(is_ours, bool(found), newest)

    def test_clocks_that_are_apart(self) -> None:
        """Rows and ids tell; times do not."""
        going_on = migration('m1', AT - 300, status='finished')
        over = migration('m2', AT + 9999, status='reverted')
        one = server('a', status='VERIFY_RESIZE')
        for listed, is_ours in (
            ([over, going_on], True),
            ([migration('m2', AT - 9999, status='finished'),
              migration('m1', AT, status='reverted')], False),
        ):  # fmt: skip
            listings = Listings(*listed)
            found, _ = self.find(listings, one, known(row()))
            self.assertEqual(is_ours, bool(found), listed)

    def test_by_the_request(self) -> None:
        """Its applier died before it knew of a migration."""
        asked = row(mark=MARK | {'migration': '', 'request': 'req-1'})
        one = server('a', status='VERIFY_RESIZE')
        for newest, is_ours in (('req-1', True), ('req-2', False)):
            listings = Listings(migration('m2', AT - 9999))
            listings.newest = newest
            found, _ = self.find(listings, one, known(asked))
            self.assertEqual(is_ours, bool(found), newest)

    def test_of_others(self) -> None:
        """Between two cells that are known; the rest is no matter."""
        listings = Listings()
        ends = {'source': 'o2', 'destination': 'n1'}
        one = server('a', 'n1', status='VERIFY_RESIZE')
        for changed, expected in (
            ({}, [ForeignMove('a', 'a', 'o2', 'n1', 'old')]),
            ({'destination': 'o1'}, []),
            ({'source': 'x1'}, []),
            ({'source': 'gone'}, []),
        ):
            listings.finished = [migration('m9', **(ends | changed))]
            self.assertEqual(([], expected), self.find(listings, one))
        ours = self.find(Listings(migration('m1')), one, known(row()))
        self.assertEqual((['action'], []), ours)
