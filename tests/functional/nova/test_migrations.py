# SPDX-License-Identifier: Apache-2.0
"""Live migrations in a real Nova."""

from typing import Any

import nova.compute.api

from kronos.clients.nova import rows
from kronos.clients.nova.rows import AbortOutcome, MigrationStatus
from kronos.common import exceptions
from kronos.engine.eligibility import instances
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import Instance, Outcome
from tests.functional.nova import base

TPM_TRAITS = (
    'COMPUTE_SECURITY_TPM_2_0',
    'COMPUTE_SECURITY_TPM_CRB',
    'COMPUTE_SECURITY_TPM_SECRET_SECURITY_DEPLOYMENT',
    'COMPUTE_SECURITY_TPM_SECRET_SECURITY_HOST',
    'COMPUTE_SECURITY_TPM_SECRET_SECURITY_USER',
)
"""Of hosts that take servers with any vTPM."""


class _Migrations(base.NovaTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(self._let_all_end)

    def _let_all_end(self) -> None:
        """Nova's services wait for ever for what is cut off under way."""
        self.until(
            'no server is migrating',
            lambda: all(
                instance.task_state is None
                for instance in self.nova.list_instances()
            ),
        )

    def instance(self, uuid: str) -> Instance:
        found = self.nova.get_instance(uuid)
        assert found is not None
        return found

    def ended(self, uuid: str, key: str) -> MigrationStatus:
        def look() -> MigrationStatus | None:
            status = self.live_migration.get_migration_status(uuid, key)
            return status if status.is_over else None

        status: MigrationStatus = self.until('the migration is over', look)
        return status


class TestLiveMigration(_Migrations):
    def test_it_moves(self) -> None:
        uuid = self.boot('host1')['id']
        request = self.live_migration.live_migrate(uuid, 'host2')
        self.assertRegex(request, '^req-')
        status = self.ended(uuid, request)
        self.assertEqual('completed', status.status)
        self.assertEqual(
            ('host1', 'host2'), (status.source, status.destination)
        )
        self.assertEqual(uuid, status.instance)
        self.assertGreater(status.created_at, 0)
        self.until(
            'the server is on host2',
            lambda: self.instance(uuid).host == 'host2',
        )
        self.assertEqual('ACTIVE', self.instance(uuid).status)
        self.assertEqual(
            '', self.live_migration.actions.refusal_reason(uuid, request)
        )
        by_uuid = self.live_migration.get_migration_status(uuid, status.uuid)
        self.assertEqual(status.id, by_uuid.id)
        (move,) = self.nova.list_migrations(status.created_at - 60)
        self.assertEqual('host2', move.destination)
        self.assertEqual('completed', move.status)
        self.assertEqual([], self.nova.list_migrations(2**32))

    def test_a_cold_migration_by_hand(self) -> None:
        """From its start to its confirmation, as history tells it."""
        uuid = self.boot('host1')['id']
        self.admin_api.post_server_action(uuid, {'migrate': {'host': 'host2'}})
        seen = set()

        def arrived() -> bool:
            told = {
                (move.status, move.outcome)
                for move in self.nova.list_migrations(0)
            }
            seen.update(told)
            return ('finished', Outcome.MOVED) in told

        self.until('it waits for its confirmation', arrived)
        (move,) = self.nova.list_migrations(0)
        self.assertEqual(
            (uuid, 'host1', 'host2', Outcome.MOVED),
            (move.instance, move.source, move.destination, move.outcome),
        )
        self.assertLessEqual(
            seen,
            {
                *((s, Outcome.UNDER_WAY) for s in rows.UNDER_WAY),
                ('finished', Outcome.MOVED),
            },
        )
        self.assertEqual([], self.nova.list_unfinished_migrations())
        self.admin_api.post_server_action(uuid, {'confirmResize': None})
        self.until(
            'it is confirmed',
            lambda: self.nova.list_migrations(0)[0].status == 'confirmed',
        )
        (move,) = self.nova.list_migrations(0)
        self.assertEqual(Outcome.MOVED, move.outcome)

    def test_a_revert_is_a_move_back(self) -> None:
        uuid = self.boot('host1')['id']
        self.admin_api.post_server_action(uuid, {'migrate': {'host': 'host2'}})

        def status() -> str:
            moves = self.nova.list_migrations(0)
            return moves[0].status if moves else ''

        self.until('it waits', lambda: status() == 'finished')
        self.until(
            'the server waits, too',
            lambda: self.instance(uuid).status == 'VERIFY_RESIZE',
        )
        self.admin_api.post_server_action(uuid, {'revertResize': None})
        self.until('it is reverted', lambda: status() == 'reverted')
        (move,) = self.nova.list_migrations(0)
        self.assertEqual(
            ('host2', 'host1', Outcome.MOVED),
            (move.source, move.destination, move.outcome),
        )
        # The destination says so before the source has it again.
        self.until(
            'the server is back',
            lambda: self.instance(uuid).host == 'host1',
        )

    def test_each_request_finds_its_own_migration(self) -> None:
        uuid = self.boot('host1')['id']
        first = self._refused(uuid)
        second = self.live_migration.live_migrate(uuid, 'host2')
        done = self.ended(uuid, second)
        self.assertEqual('completed', done.status)
        refused = self.live_migration.get_migration_status(uuid, first)
        self.assertEqual('error', refused.status)
        self.assertNotEqual(done.uuid, refused.uuid)
        (server,) = self.nova.list_instances()
        self.assertEqual('host2', server.host)

    def test_requests_in_quick_succession(self) -> None:
        """Within one second, as a try that follows at once."""
        uuid = self.boot('host1')['id']
        requests = [self._refused(uuid) for _ in range(4)]
        requests.append(self.live_migration.live_migrate(uuid, 'host2'))
        self.assertEqual('completed', self.ended(uuid, requests[-1]).status)
        found = [
            self.live_migration.get_migration_status(uuid, request).id
            for request in requests
        ]
        self.assertEqual(sorted(set(found)), found)
        self.assertEqual(5, len(found))

    def test_a_disabled_destination_is_refused_with_a_reason(self) -> None:
        uuid = self.boot('host1')['id']
        request = self._refused(uuid)
        self.assertIn(
            'No valid host was found',
            self.live_migration.actions.refusal_reason(uuid, request),
        )
        server = self.nova.get_instance(uuid)
        assert server is not None
        self.assertEqual(
            ('host1', 'ACTIVE', None),
            (server.host, server.status, server.task_state),
        )

    def test_anti_affinity_is_refused_with_a_reason(self) -> None:
        group = self.api.post_server_groups(
            {'name': 'apart', 'policy': 'anti-affinity'}
        )
        uuids = []
        for host in ('host1', 'host2'):
            body = self._build_server(networks='none', host=host)
            server = self.admin_api.post_server(
                {'server': body, 'os:scheduler_hints': {'group': group['id']}}
            )
            self._wait_for_state_change(server, 'ACTIVE')
            uuids.append(server['id'])
        request = self.live_migration.live_migrate(uuids[0], 'host2')
        self.assertEqual('error', self.ended(uuids[0], request).status)
        self.assertIn(
            'No valid host was found',
            self.live_migration.actions.refusal_reason(uuids[0], request),
        )

    def test_what_nova_refuses_at_once(self) -> None:
        uuid = self.boot('host1')['id']
        error = self._error(uuid, 'nowhere')
        self.assertEqual(400, error.kwargs['status'])
        self.assertIn('nowhere could not be found', str(error))
        self.api.post_server_action(uuid, {'os-stop': None})
        self.until(
            'the server is stopped',
            lambda: self.instance(uuid).status == 'SHUTOFF',
        )
        error = self._error(uuid, 'host2')
        self.assertEqual(409, error.kwargs['status'])
        self.assertFalse(error.kwargs['transient'])
        gone = '11111111-2222-3333-4444-555555555555'
        self.assertEqual(404, self._error(gone, 'host2').kwargs['status'])
        self.assertEqual([], self.nova.list_migrations(0))

    def test_a_migration_that_nova_does_not_know(self) -> None:
        uuid = self.boot('host1')['id']
        error = self.assertRaises(
            exceptions.NovaClientError,
            self.live_migration.get_migration_status,
            uuid,
            '11111111-2222-3333-4444-555555555555',
        )
        self.assertEqual(404, error.kwargs['status'])

    def test_a_vtpm(self) -> None:
        """Nova takes a move of those alone that Kronos would ask for."""
        if not hasattr(nova.compute.api, 'reject_legacy_vtpm_live_migration'):
            self.skipTest('this Nova moves none')
        for host in self.hosts:
            provider = self._get_provider_uuid_by_name(host)
            traits = self._get_provider_traits(provider)
            self._set_provider_traits(provider, [*traits, *TPM_TRAITS])
        for security in ('', 'user', 'deployment', 'host'):
            with self.subTest(security):
                specs = {'hw:tpm_version': '2.0', 'hw:tpm_model': 'tpm-crb'}
                if security:
                    specs['hw:tpm_secret_security'] = security
                uuid = self.boot('host1', flavor_id=self.flavor(**specs))['id']
                reasons = instances.reasons(self.instance(uuid), Settings())
                if security == 'host':
                    self.assertEqual([], reasons)
                    request = self.live_migration.live_migrate(uuid, 'host2')
                    status = self.ended(uuid, request)
                    self.assertEqual('completed', status.status)
                    continue
                self.assertEqual(
                    [Code.INSTANCE_VTPM], [reason.code for reason in reasons]
                )
                error = self._error(uuid, 'host2')
                self.assertEqual(400, error.kwargs['status'])
                self.assertIn('not supported for vTPM-enabled', str(error))

    def _error(self, uuid: str, host: str) -> Any:
        return self.assertRaises(
            exceptions.NovaClientError,
            self.live_migration.live_migrate,
            uuid,
            host,
        )

    def _refused(self, uuid: str) -> str:
        """Ask for a move to host3, which is disabled meanwhile."""
        service = self.admin_api.get_services(
            binary='nova-compute', host='host3'
        )[0]
        self.admin_api.put_service(service['id'], {'status': 'disabled'})
        request = self.live_migration.live_migrate(uuid, 'host3')
        status = self.ended(uuid, request)
        self.assertEqual('error', status.status)
        return request


class TestAbort(_Migrations):
    compute_driver = 'fake.FakeLiveMigrateDriver'
    hosts = ('host1', 'host2')

    def test_a_running_migration(self) -> None:
        uuid = self.boot('host1')['id']
        request = self.live_migration.live_migrate(uuid, 'host2')

        def running() -> MigrationStatus | None:
            status = self.live_migration.get_migration_status(uuid, request)
            return status if status.status == 'running' else None

        status: MigrationStatus = self.until('it is running', running)
        self.assertFalse(status.is_over)
        (move,) = self.nova.list_unfinished_migrations()
        self.assertEqual(
            (uuid, 'running', Outcome.UNDER_WAY),
            (move.instance, move.status, move.outcome),
        )
        server = self.nova.get_instance(uuid)
        assert server is not None
        self.assertEqual(
            ('host1', 'migrating'), (server.host, server.task_state)
        )
        result = self.live_migration.abort_migration(uuid, status)
        self.assertEqual(AbortOutcome.ABORTING, result.outcome)
        self.assertEqual('cancelled', self.ended(uuid, status.uuid).status)
        self.until(
            'the server is at rest',
            lambda: self.nova.get_instance(uuid).task_state is None,
        )
        self.assertEqual('host1', self.instance(uuid).host)
        late = self.live_migration.abort_migration(uuid, status)
        self.assertEqual(AbortOutcome.OVER, late.outcome)
        self.assertNotEqual('', late.text)
