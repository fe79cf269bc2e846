# SPDX-License-Identifier: Apache-2.0
"""What the tests of a move share: a small cloud and a clock of their own."""

from keystoneauth1 import adapter, noauth, session
from oslotest import base

from kronos.actions import aftermath, course, order, preflight, traffic
from kronos.clients import nova, placement
from tests.functional.watcher import cloud

UUID = '11111111-1111-1111-1111-111111111111'
NOVA = '/nova/v2.1'


class Clock:
    """Seconds that pass when somebody sleeps."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


class Turns:
    """The turns of the others, without a database."""

    def __init__(self):
        self.claims = []
        self.held = 0

    def take(self, decide):
        reason = decide(list(self.claims))
        self.held += not reason
        return reason

    def release(self):
        self.held -= 1


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
        self.client = self.make_client('compute', nova.NovaClient)
        self.placement = self.make_client(
            'placement', placement.PlacementClient
        )
        self.task = preflight.Task(UUID, 'h1', 'h2', 'spread', 'alpha', 'one')
        self.order = order.Order(
            task=self.task,
            timing=aftermath.Timing(
                queue_timeout=1800, migration_timeout=600, poll_interval=50
            ),
            limits=traffic.Limits(),
        )
        self.cancelled = False
        self.told = []
        self.turns = Turns()
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

    def course(self):
        return course.Course(
            self.order,
            order.World(
                nova=self.client,
                placement=self.placement,
                turns=self.turns,
                notices=self.notices,
                is_cancelled=lambda: self.cancelled,
                tell=self.told.append,
                clock=self.clock,
                wall=self.clock,
                sleep=self.clock.sleep,
            ),
        )

    def run_move(self):
        """The whole move; what is remarked on its success."""
        move = self.course()
        move.begin()
        return move.carry_out()

    def fails(self, error, *words, run=None):
        """Run the move; it must raise ``error`` with all ``words``."""
        raised = self.assertRaises(error, run or self.run_move)
        self.assertIs(error, type(raised))
        for word in words:
            self.assertIn(word, str(raised))
        return raised

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
