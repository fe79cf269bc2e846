# SPDX-License-Identifier: Apache-2.0
"""What the tests of a move to another cell share: two cells and a clock."""

import json

from keystoneauth1 import adapter, noauth, session
from oslotest import base

from kronos.clients import glance, placement
from kronos.clients.nova import client as nova_client
from kronos.clients.nova.cell_listings import CellListings
from kronos.clients.nova.cell_migration import CellMigration
from kronos.clients.nova.server_details import ServerDetails
from kronos.extensions.cells.actions import context, parameters, run
from kronos.extensions.cells.actions.checkpoint import Checkpoint, PlanStanding
from kronos.extensions.cells.actions.parameters import CellMoveTask
from kronos.extensions.cells.cell_drain import CELL_MARK
from tests.fakes.small_cloud import cloud as small_cloud
from tests.fakes.two_cells import cloud
from tests.fakes.two_cells.cold_moves import ColdServer
from tests.unit.actions.live import base as moves

UUID = moves.UUID
OTHER = '22222222-2222-2222-2222-222222222222'
SERVER = f'/nova/v2.1/servers/{UUID}'
ACTION = ('POST', f'{SERVER}/action')
MIGRATIONS = ('GET', '/nova/v2.1/os-migrations')
ENDPOINTS = {
    'compute': 'nova/v2.1',
    'placement': 'placement',
    'image': 'glance/v2',
}


class MarkedSlots(moves.FakeSlots):
    """Besides turns, what the rows of actions tell of moves."""

    def __init__(self, clock, asked):
        super().__init__(clock)
        self.marks = {}
        """By action; the own one's is ''."""
        self.written = []
        """(mark, how often Nova was asked before) of every one written."""
        self.mark_errors = []
        """What the next marks raise; None: they do not."""
        self._asked = asked

    def mark(self, key, value, must_go_on=True):
        error = self.mark_errors.pop(0) if self.mark_errors else None
        if error:
            raise error
        document = json.loads(json.dumps(value))
        assert key == CELL_MARK
        self.marks[''] = document
        self.written.append((document, self._asked()))

    def mark_of(self, key, action_uuid=''):
        return self.marks.get(action_uuid, {})


class CellMoveTestCase(base.BaseTestCase):
    """One server on o1 of the cell old that is to move to n1 of new."""

    def setUp(self):
        super().setUp()
        self.clock = moves.Clock()
        self.server = ColdServer(UUID, 'o1', 'one')
        self.cloud = self.useFixture(cloud.TwoCells(self.clock, [self.server]))
        self.nova = self.make_client('compute', nova_client.NovaClient)
        self.cell_migration = CellMigration(self.nova.api)
        self.task = CellMoveTask(
            instance=UUID,
            source='o1',
            destination='n1',
            phase='cell_drain',
            aggregate='old -> new',
            name='one',
            source_cell='old',
            destination_cell='new',
            target_cells=['new'],
            source_flavor='small',
            destination_flavor='small',
            source_zone='az-old',
            destination_zone='az-new',
        )
        self.settings = parameters.CellMoveSettings(task=self.task)
        self.cancelled = False
        self.told = []
        self.kept = []
        self.others = []
        """Marks of the plan's other actions."""
        self.slots = MarkedSlots(self.clock, lambda: len(self.requests))
        self.notices = moves.Notices()
        self.context = self.context_of()

    def make_client(self, service, kind):
        return kind(
            adapter.Adapter(
                session.Session(auth=noauth.NoAuth()),
                service_type=service,
                endpoint_override=f'{small_cloud.URL}/{ENDPOINTS[service]}',
            ),
            sleep=self.clock.sleep,
        )

    def context_of(self, **more):
        """:param more: parts that are others"""
        return context.CellMoveContext(
            nova=self.nova,
            cell_migration=self.cell_migration,
            details=ServerDetails(self.nova.api),
            listings=CellListings(self.nova.api),
            placement=self.make_client('placement', placement.PlacementClient),
            glance=self.make_client('image', glance.GlanceClient),
            prometheus=lambda: None,
            slots=self.slots,
            plan=lambda: PlanStanding.of(self.others),
            notices=self.notices,
            keep=self.keep,
            is_cancelled=lambda: self.cancelled,
            tell=self.told.append,
            clock=self.clock,
            wall=self.clock,
            sleep=self.clock.sleep,
            **more,
        )

    def keep(self, document):
        """As a file would have it."""
        self.kept.append(json.loads(json.dumps(document, allow_nan=False)))

    def run_of(self):
        return run.CellMoveRun(self.settings, self.context, 'plan')

    def run_move(self):
        """The whole move; what is told of its success."""
        move = self.run_of()
        move.begin()
        return move.carry_out()

    def fails(self, error, *words, run=None):
        """Run the move; it must raise ``error`` with all ``words``."""
        raised = self.assertRaises(error, run or self.run_move)
        self.assertIs(error, type(raised))
        for word in words:
            self.assertIn(word, str(raised))
        return raised

    def stop_server(self):
        """It is stopped before it moves."""
        self.server.status, self.server.power = 'SHUTOFF', 4

    def resizes(self):
        """The move is a resize."""
        self.task.mode = 'resize'
        self.task.destination_flavor = 'large'
        self.task.destination_flavor_id = '2'
        self.server.lands = 'n1'

    def cancel(self):
        self.cancelled = True

    def mark(self, **more):
        """A mark of what an applier has begun that died."""
        before = self.context.details.get(UUID)
        return Checkpoint(
            **{
                'asked_at': self.clock(),
                'status': before.status,
                'before': before.document(),
                **more,
            }
        )

    def ask_by_hand(self):
        """Somebody, or an applier that died, has asked for the same move."""
        return self.cell_migration.migrate(UUID, 'n1')

    @property
    def requests(self):
        """Each request for a move that reached Nova, whatever it answered."""
        return [
            one
            for one in self.cloud.bodies
            if 'migrate' in one or 'resize' in one
        ]

    @property
    def asked(self):
        """What Nova accepted of all that changes the server, in order."""
        return [action for action, _request in self.server.asked]

    def place(self):
        one = self.server
        return one.host, one.status, one.task_state, one.power

    def events(self):
        """(event, retry_count, final) of all notices."""
        return [
            (event, more['retry_count'], more.get('final'))
            for event, more in self.notices.told
        ]

    @property
    def document(self):
        """The evidence; it was kept once."""
        [document] = self.kept
        return document
