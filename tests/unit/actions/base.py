# SPDX-License-Identifier: Apache-2.0
"""What the tests of a move share: a small cloud and a clock of their own."""

from keystoneauth1 import adapter, noauth, session
from oslotest import base

from kronos.actions import aftermath, migration, preflight
from kronos.clients import nova
from tests.functional.watcher import cloud

UUID = '11111111-1111-1111-1111-111111111111'


class Clock:
    """Seconds that pass when somebody sleeps."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


class MoveTestCase(base.BaseTestCase):
    """One instance on h1 that is to move to h2."""

    def setUp(self):
        super().setUp()
        self.instance = cloud.Server(UUID, 'h1', 'one')
        self.cloud = self.useFixture(
            cloud.Cloud(['h1', 'h2', 'h3'], {}, [self.instance])
        )
        self.clock = Clock()
        self.client = nova.NovaClient(
            adapter.Adapter(
                session.Session(auth=noauth.NoAuth()),
                service_type='compute',
                endpoint_override=self.cloud.nova_url,
            ),
            sleep=self.clock.sleep,
        )
        self.task = preflight.Task(UUID, 'h1', 'h2', 'spread', 'alpha', 'one')
        self.timing = aftermath.Timing(
            queue_timeout=1800, migration_timeout=600, poll_interval=50
        )
        self.cancelled = False

    def run_move(self):
        return migration.Migration(
            self.client,
            self.task,
            self.timing,
            is_cancelled=lambda: self.cancelled,
            clock=self.clock,
            sleep=self.clock.sleep,
        ).run()

    def fails(self, error, *words):
        """Run the move; it must raise ``error`` with all ``words``."""
        raised = self.assertRaises(error, self.run_move)
        self.assertIs(error, type(raised))
        for word in words:
            self.assertIn(word, str(raised))
        return raised

    @property
    def aborts(self):
        return [path for verb, path in self.cloud.calls if verb == 'DELETE']
