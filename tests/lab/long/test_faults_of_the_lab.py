# SPDX-License-Identifier: Apache-2.0
"""The lab fails as it is told to, and Nova does what the manual says."""

import time
from typing import Any

import requests

from tests.lab import base

from labkit import cleaning  # isort: skip

HOW_IT_ENDS: dict[str, tuple[dict[str, Any], str, str, bool, bool]] = {
    # rule; migration, server; whether the server is on its destination,
    # whether it holds room on both hosts
    'well': ({'seconds': 2}, 'completed', 'ACTIVE', True, False),
    'late': (
        {'accepted_seconds': 2, 'preparing_seconds': 1, 'post_seconds': 1},
        'completed',
        'ACTIVE',
        True,
        False,
    ),
    'refused': ({'fail': 'source-check'}, 'error', 'ACTIVE', False, False),
    'unfit': ({'fail': 'destination-check'}, 'error', 'ACTIVE', False, False),
    'broken': ({'fail': 'destination-crash'}, 'error', 'ERROR', False, False),
    'unready': ({'fail': 'pre'}, 'failed', 'ACTIVE', False, False),
    'rolled-back': (
        {'end': 'failed', 'seconds': 4, 'fail_at': 0.5},
        'failed',
        'ACTIVE',
        False,
        False,
    ),
    'crashed': ({'end': 'error'}, 'error', 'ERROR', False, True),
    'left-badly': ({'fail': 'post-source'}, 'error', 'ERROR', True, True),
    'came-badly': ({'fail': 'post-destination'}, 'error', 'ERROR', True, True),
    'stayed': ({'end': 'stayed'}, 'completed', 'ACTIVE', False, True),
    'lost': ({'end': 'lost'}, 'completed', 'MIGRATING', False, True),
}
STILL_SECONDS = 3.0
ENDED = ('completed', 'failed', 'error', 'cancelled')


class FaultsTestCase(base.LabTestCase):
    def migrate(self, server: str, host: str) -> None:
        answer = self.cloud.compute.post(
            f'/servers/{server}/action',
            json={'os-migrateLive': {'host': host, 'block_migration': 'auto'}},
            microversion='2.68',
        )
        self.assertEqual(202, answer.status_code, answer.text)

    def boot_on(self, host: str, name: str) -> str:
        return str(self.cloud.boot(name, host, zone='', cpu=1)['id'])

    def status(self, server: str) -> str | None:
        rows = self.migrations(instance_uuid=server)
        return rows[0]['status'] if rows else None

    def wait_for_status(self, server: str, *wanted: str) -> None:
        self.wait(lambda: self.status(server) in wanted, f'to be {wanted}')

    def stalled(self, server: str) -> int:
        """Bytes of memory left of a transfer that stands still."""
        since, last = time.monotonic(), 0

        def still() -> int | None:
            nonlocal since, last
            for row in self.cloud.under_way(server):
                left = row['memory_remaining_bytes'] or 0
                if left != last:
                    since, last = time.monotonic(), left
            is_still = time.monotonic() - since > STILL_SECONDS
            return last if last and is_still else None

        return int(self.wait(still, 'the transfer to stand still'))


class TestMigrations(FaultsTestCase):
    def test_how_it_ends(self):
        """Each rule, and what is left of it in Nova and Placement."""
        places = {
            name: (base.ALPHA[number % 6], f'cmp{7 + number % 3}')
            for number, name in enumerate(HOW_IT_ENDS)
        }
        self.cloud.set_migrations(
            {name: row[0] for name, row in HOW_IT_ENDS.items()}
        )
        made = self.cloud.boot_all(
            base.Wanted(name, source, zone='', cpu=1)
            for name, (source, _destination) in places.items()
        )
        uuids = {server['name']: server['id'] for server in made}
        for name, uuid in uuids.items():
            self.migrate(uuid, places[name][1])
        for name, row in HOW_IT_ENDS.items():
            with self.subTest(name):
                _rule, migration, server, arrived, both = row
                uuid = uuids[name]
                self.wait_for_status(uuid, *ENDED)
                # One that failed to prepare is called error for a moment.
                self.wait_for_status(uuid, migration)
                found = self.cloud.servers()[uuid]
                source, destination = places[name]
                host = destination if arrived else source
                self.assertEqual(server, found['status'])
                self.assertEqual(host, found['OS-EXT-SRV-ATTR:host'])
                [record] = self.migrations(instance_uuid=uuid)
                held = {
                    *self.allocations(uuid),
                    *self.allocations(record['uuid']),
                }
                self.assertEqual(
                    {source, destination} if both else {host}, held
                )

    def test_abort(self):
        """In each state; what waits behind goes on."""
        source = 'cmp1'
        server = self.boot_on(source, 'web')
        for rule, state in (
            ({'queued_seconds': None}, 'queued'),
            ({'preparing_seconds': 5}, 'preparing'),
            ({'seconds': 1, 'stall_at': 0.5}, 'running'),
        ):
            self.cloud.set_migrations({'web': rule})
            self.migrate(server, 'cmp2')
            self.wait_for_status(server, state)
            if state == 'running':
                self.assertEqual(self.stalled(server), self.stalled(server))
            [found] = self.cloud.under_way(server)
            answer = self.cloud.abort(server, found['id'])
            self.assertEqual(202, answer.status_code, answer.text)
            self.wait_for_status(server, 'cancelled')
            self.assert_at_rest({'web': source})
        self.cloud.set_migrations({})
        self.migrate(server, 'cmp2')
        self.wait_for_status(server, 'completed')
        self.assert_at_rest({'web': 'cmp2'})

    def test_released(self):
        """What a rule holds goes on when the rule is gone."""
        server = self.boot_on('cmp1', 'web')
        self.cloud.set_migrations({'web': {'queued_seconds': None}})
        self.migrate(server, 'cmp2')
        self.wait_for_status(server, 'queued')
        self.cloud.set_migrations({'web': {'stall_at': 0.5}})
        self.stalled(server)
        self.cloud.set_migrations({})
        self.wait_for_status(server, 'completed')
        self.assert_at_rest({'web': 'cmp2'})

    def test_a_rule_that_makes_no_sense(self):
        for rule in ({'end': 'well'}, {'stall_at': 2}, {'second': 1}):
            error = self.assertRaises(
                ValueError, self.cloud.set_migrations, {'web': rule}
            )
            self.assertIn('web', str(error))

    def test_killed_hosts_come_back(self):
        """Also what the dead source has left open is gone at a reset."""
        server = self.boot_on('cmp1', 'web')
        self.cloud.set_migrations({'web': {'queued_seconds': None}})
        self.migrate(server, 'cmp2')
        self.wait_for_status(server, 'queued')
        self.lab.stop('cmp1', kill=True)
        self.lab.stop('nova-conductor', kill=True)
        self.lab.mend()
        self.wait(lambda: not self.down(), 'the host to be up')
        self.assertEqual('queued', self.status(server))
        cleaning.reset(self.cloud)
        self.assertEqual([], self.migrations(status='queued'))
        for provider in self.cloud.providers():
            url = f'/resource_providers/{provider}/allocations'
            found = self.cloud.connection.placement.get(url)
            self.assertEqual({}, found.json()['allocations'])


class TestNovaProxy(FaultsTestCase):
    def ask(self, **more: Any) -> requests.Response:
        """A call of Nova's API through the proxy."""
        token = self.cloud.connection.session.get_token()
        port = self.lab.ports['nova_proxy']
        return requests.get(
            f'http://127.0.0.1:{port}/v2.1/os-services',
            headers={'X-Auth-Token': token},
            timeout=base.LIMIT_SECONDS,
            **more,
        )

    def test_watcher_goes_through_it(self):
        """And nobody else: the scenarios see what really happens."""
        self.cloud.servers()
        self.assertEqual([], self.cloud.api_requests())
        self.wait_for_metrics()
        audit = self.finished(self.audit('aggregates=alpha'))
        self.assertEqual('SUCCEEDED', audit['State'])
        paths = [row['path'] for row in self.cloud.api_requests()]
        self.assertTrue([p for p in paths if '/servers/detail' in p], paths)

    def test_statuses(self):
        for status, text in (
            (500, 'computeFault'),
            (502, '<html>'),
            (503, 'serviceUnavailable'),
            (429, 'overLimit'),
        ):
            self.cloud.set_nova_api(
                [{'answer': status, 'count': 1, 'retry_after': 3}]
            )
            found = self.ask()
            self.assertEqual(status, found.status_code)
            self.assertEqual('3', found.headers['Retry-After'])
            self.assertIn(text, found.text)
            self.assertEqual(200, self.ask().status_code)

    def test_no_answer(self):
        for answer, forwarded in (
            ('reset', False),
            ('refuse', False),
            ('swallow', True),
        ):
            self.cloud.set_nova_api(
                [
                    {'answer': 503, 'method': 'POST'},
                    {'answer': answer, 'path': 'os-services'},
                ]
            )
            self.assertRaises(requests.ConnectionError, self.ask)
            last = self.cloud.api_requests()[-1]
            self.assertEqual(
                (answer, forwarded, 1),
                (last['answer'], last['forwarded'], last['rule']),
            )

    def test_late(self):
        for answer in ('hang', 'late'):
            self.cloud.set_nova_api([{'answer': answer, 'seconds': 0.5}])
            self.assertEqual(200, self.ask().status_code)

    def test_a_rule_that_makes_no_sense(self):
        for rule in ({'answer': 200}, {'answer': 503, 'methods': 'GET'}):
            error = self.assertRaises(
                ValueError, self.cloud.set_nova_api, [rule]
            )
            self.assertIn('rule 0', str(error))


class TestSecondApplier(FaultsTestCase):
    def test_it_comes_and_goes(self):
        self.second_applier()
        rows = {
            row['host']: row['status']
            for row in self.cloud.watcher('/v1/services')['services']
            if row['name'] == 'watcher-applier'
        }
        self.assertEqual('ACTIVE', rows[base.services.SECOND_HOST])
        self.lab.mend()
        self.lab.stop(base.services.SECOND_APPLIER, kill=True)
