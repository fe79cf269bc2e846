# SPDX-License-Identifier: Apache-2.0
"""What becomes of moves whose hosts are killed or stopped?

==========================  ==========================================
The host                    Its moves
==========================  ==========================================
source killed or stopped,   queued, preparing: tried again, SUCCEEDED;
and started again           running: FAILED
destination killed, stopped FAILED, aborted, on their sources
source killed, stays down   FAILED (MigrationTimeout); the servers are
                            on their sources when it is back
==========================  ==========================================
"""

import subprocess

from tests.lab import base, killed
from tests.lab.killed import HELD, SOURCES


class TestSource(killed.SourceTestCase):
    def test_killed_and_started_again(self):
        """What had not begun is tried again, what ran is not."""
        self.check_again(kill=True)

    def test_stopped_and_started_again(self):
        """As if it had been killed."""
        self.check_again(kill=False)

    def test_stays_down(self):
        """Told; Nova leaves the allocations to the operator.

        Nobody but the nova-compute that is down knows whether the guest
        still moves, so that nothing is put back.
        """
        self.configure(
            queue_timeout=40,
            migration_timeout=40,
            migration_timeout_per_gib=0,
        )
        plan = self.held()
        hosts = set(SOURCES.values())
        self.lose(hosts, kill=True)
        self.assertEqual('FAILED', self.executed(plan)['state'])
        for name, (state, text) in self.ends(plan).items():
            self.assertEqual('FAILED', state, text)
            self.assertRegex(
                text,
                r'KRONOS:MigrationTimeout: \[\w+\] to be aborted after 40 s',
            )
            self.assertIn(
                f'; nova-compute on source {SOURCES[name]} is down, but not '
                f'over in Nova yet: {name}',
                text,
            )
        self.assertEqual(dict.fromkeys(HELD, 1), self.asked())
        self.cloud.set_migrations({})
        self.regain(hosts)
        self.wait(self.is_idle, 'Nova to take its servers back')
        for name in HELD:
            self.heal(name)
        self.assert_at_rest(SOURCES)

    def is_idle(self) -> bool:
        servers = self.cloud.servers().values()
        return not any(one['OS-EXT-STS:task_state'] for one in servers)

    def heal(self, name: str) -> None:
        """What an operator has to do, with Nova's own means."""
        uuid = self.uuids[name]
        done = subprocess.run(
            [
                base.layout.program('nova-manage'),
                *base.services.nova_files(),
                'placement',
                'heal_allocations',
                '--instance',
                uuid,
                '--force',
            ],
            capture_output=True,
            text=True,
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        for migration in self.migrations(instance_uuid=uuid):
            self.cloud.connection.placement.delete(
                f'/allocations/{migration["uuid"]}'
            )


class TestDestination(killed.DestinationTestCase):
    def test_killed(self):
        """Within the time that Nova takes to notice it."""
        self.check_lost(kill=True)

    def test_stopped(self):
        """As if it had been killed."""
        self.check_lost(kill=False)
