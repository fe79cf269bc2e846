# SPDX-License-Identifier: Apache-2.0
"""What the tests of a move share: a small cloud and a clock of their own."""

from keystoneauth1 import adapter, noauth, session
from oslotest import base

from kronos.actions.core import concurrency, slots
from kronos.actions.core.parameters import MigrationTask
from kronos.actions.live import context, parameters, run
from kronos.clients import placement
from kronos.clients.nova import client as nova_client
from kronos.clients.nova import live_migration
from tests.fakes.small_cloud import cloud

UUID = '11111111-1111-1111-1111-111111111111'
NOVA = '/nova/v2.1'
POST = ('POST', f'{NOVA}/servers')


class Clock:
    """Seconds that pass when somebody sleeps."""

    def __init__(self):
        self.now = 1000.0
        self._plans = []

    def __call__(self):
        return self.now

    def at(self, moment, do):
        """Do something as soon as somebody has slept until then."""
        self._plans.append((moment, do))

    def sleep(self, seconds):
        self.now += seconds
        due = [one for one in self._plans if one[0] <= self.now]
        for one in due:
            self._plans.remove(one)
            one[1]()


class FakeSlots:
    """The turns of the others, without a database."""

    def __init__(self, clock):
        self.others = []
        self.held = False
        self.log = []
        """(what, when) of every turn that began or ended."""
        self.errors = []
        """What the next wishes for a turn raise."""
        self.replaced = []
        """What the next ones who wait are told; then nothing."""
        self.entries = []
        """What the next ones who enter are told; then that it is free."""
        self._clock = clock

    def enter(self):
        found = (
            self.entries.pop(0) if self.entries else slots.DeliveryState.FREE
        )
        if isinstance(found, Exception):
            raise found
        return found

    def renew(self):
        if self.replaced:
            raise self.replaced.pop(0)

    def look(self):
        return list(self.others)

    def take(self, decide):
        if self.errors:
            raise self.errors.pop(0)
        reason = decide(list(self.others))
        if not reason:
            self._note(True)
        return reason

    def release(self):
        if self.held:
            self._note(False)

    def _note(self, held):
        self.held = held
        self.log.append(('taken' if held else 'released', self._clock()))


class Notices:
    """What would be told, as (event, further words)."""

    def __init__(self):
        self.told = []

    def started(self, **more):
        self.told.append(('started', more))

    def completed(self, **more):
        self.told.append(('completed', more))

    def failed(self, **more):
        self.told.append(('failed', more))


class MoveTestCase(base.BaseTestCase):
    """One instance on h1 that is to move to h2."""

    def setUp(self):
        super().setUp()
        self.instance = cloud.Server(UUID, 'h1', 'one')
        self.cloud = self.useFixture(
            cloud.Cloud(
                ['h1', 'h2', 'h3'], {'alpha': ['h1', 'h2']}, [self.instance]
            )
        )
        self.clock = Clock()
        self.client = self.make_client('compute', nova_client.NovaClient)
        self.live_migration = live_migration.LiveMigration(self.client.api)
        self.placement = self.make_client(
            'placement', placement.PlacementClient
        )
        self.task = MigrationTask(UUID, 'h1', 'h2', 'spread', 'alpha', 'one')
        self.settings = parameters.MigrationSettings(
            task=self.task,
            timing=parameters.MigrationTiming(
                queue_timeout=1800, migration_timeout=600, poll_interval=50
            ),
            limits=concurrency.ConcurrencyLimits(),
        )
        self.cancelled = False
        self.told = []
        self.slots = FakeSlots(self.clock)
        self.notices = Notices()

    def make_client(self, service, kind):
        url = f'{cloud.URL}/{"nova/v2.1" if service == "compute" else service}'
        return kind(
            adapter.Adapter(
                session.Session(auth=noauth.NoAuth()),
                service_type=service,
                endpoint_override=url,
            ),
            sleep=self.clock.sleep,
        )

    def leave_behind(self, hosts):
        """What Placement holds besides, once Nova was asked to migrate."""
        real = self.cloud.allocations

        def allocations():
            found = real()
            if self.cloud.migrations:
                found[UUID] = {**found[UUID], **hosts}
            return found

        self.cloud.allocations = allocations

    def run_of(self, **more):
        """:param more: parts of its context that are others"""
        given = {
            'is_cancelled': lambda: self.cancelled,
            'tell': self.told.append,
            **more,
        }
        return run.MigrationRun(
            self.settings,
            context.MigrationContext(
                nova=self.client,
                live_migration=self.live_migration,
                placement=self.placement,
                slots=self.slots,
                notices=self.notices,
                clock=self.clock,
                wall=self.clock,
                sleep=self.clock.sleep,
                **given,
            ),
        )

    def run_move(self):
        """The whole move; what is remarked on its success."""
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

    def add_server(self, number, host, **more):
        """One more server; its uuid ends with the number."""
        uuid = f'00000000-0000-0000-0000-{number:012d}'
        server = cloud.Server(uuid, host, f'more{number}', **more)
        self.cloud.servers[uuid] = server
        return server

    def move_by_hand(self, server, host):
        """Somebody starts a migration that runs until it is ended."""
        server.script = ('running',)
        self.live_migration.live_migrate(server.uuid, host)
        return self.cloud.migrations[-1]

    def reply(self, verb, path, body):
        """What Nova or Placement answers from now on, a function."""
        real = self.cloud.answer

        def answer(method, where, query, told):
            if (method, where) == (verb, path):
                return body(query)
            return real(method, where, query, told)

        self.cloud.answer = answer

    def end(self, migration, status='completed'):
        migration.script = [status]
        self.cloud._reach(migration)

    @staticmethod
    def slot(
        instance='other', source='h8', destination='h9', since=900.0, **more
    ):
        """Of another action; in another scope unless said otherwise."""
        more = {'scope': 'beta', 'is_held': True, **more}
        return slots.Slot(
            action=f'action of {instance}',
            plan='plan',
            instance=instance,
            source=source,
            destination=destination,
            since=since,
            **more,
        )

    def events(self):
        """(event, retry_count, final) of all notices."""
        return [
            (event, more['retry_count'], more.get('final'))
            for event, more in self.notices.told
        ]

    def place(self):
        return self.instance.host, self.instance.task_state

    @property
    def aborts(self):
        return [path for verb, path in self.cloud.calls if verb == 'DELETE']

    @property
    def requests(self):
        """How often Nova was asked to migrate, whatever it answered."""
        return len(
            [one for one in self.cloud.bodies if 'os-migrateLive' in one]
        )
