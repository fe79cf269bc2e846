# SPDX-License-Identifier: Apache-2.0
"""How are hosts lost while moves are under way, and what is left then?"""

import collections
from typing import Any, ClassVar

from tests.lab import base

APPLIER = 'watcher-applier'
HELD: dict[str, dict[str, Any]] = {
    'queued': {'queued_seconds': None},
    'preparing': {'preparing_seconds': None},
    'running': {'seconds': 2, 'stall_at': 0.5},
}
"""How a migration is held in a state, which is its server's name, too."""
SOURCES = dict(zip(HELD, base.ALPHA, strict=False))


class KilledTestCase(base.LabTestCase):
    options: ClassVar = {
        'drain_may_exceed_threshold': True,
        'max_concurrent_migrations': 6,
        'retry_backoff': 1,
    }

    def setUp(self) -> None:
        super().setUp()
        # Before hosts and applier are started: what is held, ends.
        self.addCleanup(self.cloud.set_migrations, {})

    def planned(
        self, placed: dict[str, str], rules: dict[str, Any]
    ) -> dict[str, Any]:
        """A plan that takes servers off their hosts.

        :param placed: server name to host
        :param rules: how their migrations go
        """
        self.uuids = self.boot(
            base.Wanted(name, host, 0.5, 1000) for name, host in placed.items()
        )
        self.cloud.set_migrations(rules)
        hosts = ','.join(sorted(set(placed.values())))
        _, plan, actions = self.audited(
            f'aggregates=alpha hosts={hosts}', strategy='kronos_evacuate'
        )
        self.assertEqual(set(placed), self.moved(actions))
        return plan

    def held(self) -> dict[str, Any]:
        """The plan whose three migrations are each in the state it names."""
        plan = self.planned(SOURCES, HELD)
        self.start(plan)
        for name in HELD:
            self.wait_for_status(name, name)
        return plan

    def status(self, name: str) -> str | None:
        """Nova's word for the newest migration of a server."""
        rows = self.migrations(instance_uuid=self.uuids[name])
        return rows[0]['status'] if rows else None

    def wait_for_status(self, name: str, *wanted: str) -> None:
        self.wait(
            lambda: self.status(name) in wanted, f'{name} to be {wanted}'
        )

    def goals(self, plan: dict[str, Any]) -> dict[str, str]:
        """Where a plan takes its servers."""
        return {
            row['input_parameters']['resource_name']: row['input_parameters'][
                'destination_node'
            ]
            for row in self.actions(plan)
        }

    def ends(self, plan: dict[str, Any]) -> dict[str, tuple[str, str]]:
        """State and message of a plan's actions, by server."""
        return {
            row['input_parameters']['resource_name']: (
                row['state'],
                row['status_message'] or '',
            )
            for row in self.actions(plan)
        }

    def asked(self) -> dict[str, int]:
        """How often Nova got a request to move a server, by its name."""
        names = {uuid: name for name, uuid in self.uuids.items()}
        return collections.Counter(
            names[order['path'].split('/')[-2]] for order in self.orders()
        )

    def lose(self, hosts: set[str], kill: bool) -> None:
        """Stop hosts, all at once; they are started again at the end."""
        for host in hosts:
            self.addCleanup(self.lab.start, host)
        for host in hosts:
            self.lab.stop(host, kill=kill)

    def regain(self, hosts: set[str]) -> None:
        for host in hosts:
            self.lab.start(host)
        self.wait(lambda: not self.down(), 'the hosts to be up')


class SourceTestCase(KilledTestCase):
    def check_again(self, kill: bool) -> None:
        """The hosts are noticed to be down, and come back."""
        plan = self.held()
        goals = self.goals(plan)
        hosts = set(SOURCES.values())
        self.lose(hosts, kill)
        self.wait(lambda: hosts <= self.down(), 'the hosts to be down')
        self.cloud.set_migrations({})
        self.regain(hosts)
        self.assertEqual('FAILED', self.executed(plan)['state'])
        ends = self.ends(plan)
        for name in ('queued', 'preparing'):
            self.assertEqual(
                ('SUCCEEDED', 'KRONOS: tried 2 times'), ends[name]
            )
        state, text = ends['running']
        self.assertEqual('FAILED', state)
        self.assertRegex(
            text, r'KRONOS:MigrationFailed: \[\w+\] migration error: '
        )
        self.assertIn('its allocations in Placement were put back', text)
        self.assertEqual(
            {'queued': 2, 'preparing': 2, 'running': 1}, self.asked()
        )
        self.assert_at_rest({**goals, 'running': SOURCES['running']})


class DestinationTestCase(KilledTestCase):
    def check_lost(self, kill: bool) -> None:
        """Each move is aborted as soon as its host is noticed to be down."""
        plan = self.held()
        goals = self.goals(plan)
        hosts = set(goals.values())
        self.lose(hosts, kill)
        self.assertEqual('FAILED', self.executed(plan)['state'])
        for name, (state, text) in self.ends(plan).items():
            self.assertEqual('FAILED', state, text)
            self.assertIn(
                'KRONOS:MigrationCancelled: [destination_closed] aborted '
                f'{name}',
                text,
            )
            self.assertIn(
                f'nova-compute on destination {goals[name]} is down', text
            )
        self.assertEqual(dict.fromkeys(HELD, 1), self.asked())
        self.assert_at_rest(SOURCES)
        self.cloud.set_migrations({})
        self.regain(hosts)
        self.assert_at_rest(SOURCES)


class ApplierTestCase(KilledTestCase):
    """Plans whose applier is lost."""

    def by_hand(self, name: str, source: str, destination: str) -> None:
        """Boot a server and begin to move it as an operator does."""
        self.uuids[name] = self.cloud.boot(name, source, cpu=0.1)['id']
        self.openstack(
            '--os-compute-api-version 2.30 server migrate --live-migration '
            f'--host {destination} {self.uuids[name]}'
        )
        self.wait_for_status(name, 'running')

    def evacuation(self, hosts: set[str], more: str = '') -> dict[str, Any]:
        _, plan, _ = self.audited(
            f'aggregates=alpha hosts={",".join(sorted(hosts))}',
            more,
            'kronos_evacuate',
        )
        return plan

    def state(self, plan: dict[str, Any]) -> str:
        url = f'/v1/action_plans/{plan["uuid"]}'
        return str(self.cloud.watcher(url)['state'])

    def telling(self, plan: dict[str, Any], words: str) -> bool:
        return all(words in text for _, text in self.ends(plan).values())

    def assert_given_up(self, plan: dict[str, Any]) -> None:
        """Watcher has cancelled it, and then its actions one by one."""
        self.assertEqual('CANCELLED', self.executed(plan)['state'])
        self.wait(
            lambda: {s for s, _ in self.ends(plan).values()} == {'CANCELLED'},
            'all actions to be cancelled',
        )
        for name, (_, text) in self.ends(plan).items():
            self.assertIn('Applier controller was stopped', text, name)
