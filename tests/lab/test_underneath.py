# SPDX-License-Identifier: Apache-2.0
"""What Nova and Watcher stand on is restarted under moves.

==============  =====================================================
Restarted       The moves
==============  =====================================================
nova-conductor  SUCCEEDED: what it had begun goes on
the broker      SUCCEEDED: the services come back to it, before Nova
                calls the hosts down
the database    SUCCEEDED: waits for a turn go on when it is back,
                within what max_retries and retry_backoff allow
==============  =====================================================
"""

import datetime
from typing import Any

import fixtures

from tests.lab import base, killed

from labkit import furnishing  # isort: skip


class TestUnderneath(killed.KilledTestCase):
    def setUp(self) -> None:
        super().setUp()
        # Hosts that come back to a broker report late. Where Nova calls them
        # down for that, the moves are aborted, and rightly so.
        self.addCleanup(self.lab.restart, 'nova-api')
        self.useFixture(
            fixtures.EnvironmentVariable(
                'OS_DEFAULT__SERVICE_DOWN_TIME', '600'
            )
        )
        self.lab.restart('nova-api')

    def test_restarted(self):
        """One move runs meanwhile, one waits for its turn."""
        placed = {'one': 'cmp1', 'other': 'cmp2'}
        plan = self.planned(placed, {'default': {'seconds': 1, 'stall_at': 0}})
        # Afterwards, so that it is not the graph which makes one wait.
        self.configure(max_concurrent_migrations=1, max_retries=6)
        goals = self.goals(plan)
        self.start(plan)
        self.wait(lambda: self.transferring(*placed), 'one to run')
        self.wait(
            lambda: any('waits: ' in text for text in self.told(plan)),
            'the other one to wait',
        )
        for name in ('nova-conductor', 'rabbitmq', 'mariadb'):
            self.lab.stop(name, kill=True)
            self.lab.start(name)
            self.wait_for_reports()
        self.cloud.set_migrations({})
        self.carried_out(self.executed(plan))
        self.assertEqual({'one': 1, 'other': 1}, self.asked())
        self.assert_at_rest(goals)

    def transferring(self, *names: str) -> bool:
        """Whether one of the migrations has begun, and told Nova so.

        What its driver asks of a conductor that is killed fails it.
        """
        return any(
            row['disk_total_bytes'] or row['memory_total_bytes']
            for name in names
            for row in self.cloud.under_way(self.uuids[name])
        )

    def wait_for_reports(self) -> None:
        """Wait until Nova has heard each host again, from now on."""
        now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
        since = {f'compute-{host}': now for host in base.topology.HOSTS}
        self.wait(
            lambda: (
                not {*since} & furnishing.silent_services(self.cloud, since)
            ),
            'the hosts to be heard again',
        )

    def told(self, plan: dict[str, Any]) -> list[str]:
        return [text for _, text in self.ends(plan).values()]
