# SPDX-License-Identifier: Apache-2.0
"""Two cells of a real Nova, whose servers may move from one to the other.

Cinder, Glance and Neutron are Nova's own fixtures.
"""

import contextlib
import itertools
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from keystoneauth1 import adapter, session
from neutronclient.common import exceptions as neutron
from nova import context, exception, objects
from nova.policies import base as base_policies
from nova.policies import servers as servers_policies
from nova.tests import fixtures as nova_fixtures
from oslo_utils import uuidutils

from kronos.clients.nova.cell_migration import CellMigration
from kronos.snapshots import cells
from tests.functional.nova import base

OLD, NEW = 'cell1', 'cell2'
HOSTS = {'old1': OLD, 'old2': OLD, 'new1': NEW, 'new2': NEW}
MICROVERSION = '2.100'
POLL_SECONDS = 0.05
RUNNING, SHUTDOWN = 1, 4
TEMPORARY = '-resize-temp'
ATTACHED = 'os-extended-volumes:volumes_attached'
KEPT = (
    'id',
    'name',
    'created',
    'addresses',
    ATTACHED,
    'tags',
    'metadata',
    'key_name',
    'image',
    'security_groups',
    'locked',
    'user_id',
    'tenant_id',
    'config_drive',
    'trusted_image_certificates',
)
"""What is shown of a server and must be after a move as before it."""


@dataclass
class Seen:
    """What was listed of one server, poll by poll."""

    servers: list[int] = field(default_factory=list)
    """How often the server was listed."""
    migrations: list[set[str]] = field(default_factory=list)
    """Uuids of its migrations."""
    statuses: list[tuple[str, ...]] = field(default_factory=list)
    """Status and task, and the statuses of its migrations, changes only."""
    failures: list[str] = field(default_factory=list)


class TwoCellsTestCase(base.NovaTestCase):
    """Two hosts in each cell, a zone a cell, moves between cells allowed."""

    NUMBER_OF_CELLS = 2
    hosts = ()

    def setUp(self) -> None:
        super().setUp()
        self.cinder = self.useFixture(nova_fixtures.CinderFixture(self))
        bind = self.neutron.create_port_binding

        def bind_once(port: str, body: dict[str, Any]) -> Any:
            # Nova's fixture lets a port be bound to a host twice.
            if body['binding']['host'] in self.neutron._port_bindings[port]:
                raise neutron.NeutronClientException(status_code=409)
            return bind(port, body)

        self.neutron.create_port_binding = bind_once
        self.flags(rpc_response_timeout=20, long_rpc_timeout=60)
        self.policy.set_rules(
            {
                servers_policies.CROSS_CELL_RESIZE: (
                    base_policies.RULE_ADMIN_API
                )
            },
            overwrite=False,
        )
        aggregates = {}
        for cell in (OLD, NEW):
            # Its zone and what Kronos knows of it: its name.
            own = self._create_aggregate(cell, availability_zone=cell)
            told = {'metadata': {cells.METADATA_KEY: cell}}
            self.admin_api.post_aggregate_action(own, {'set_metadata': told})
            aggregates[cell] = own
        for host, cell in HOSTS.items():
            self._start_compute(host, cell_name=cell)
            self.admin_api.add_host_to_aggregate(aggregates[cell], host)
        self.cell_migration = CellMigration(self.nova.api)
        self.providers = {
            self._get_provider_uuid_by_host(host): host for host in HOSTS
        }
        self.images = set(self.glance.images)
        # A client of its own: those of Nova's tests are not for threads.
        self._wire = adapter.Adapter(
            session.Session(auth=base.NoKeystone(self.admin_api)),
            endpoint_override=self.admin_api.base_url,
            default_microversion=MICROVERSION,
            service_type='compute',
        )
        self.addCleanup(self._let_all_end)

    def _let_all_end(self) -> None:
        """Nova's services wait for ever for what is cut off under way."""
        self.until(
            'no server is moving',
            lambda: all(
                row['OS-EXT-STS:task_state'] in (None, *self.left_busy)
                for row in self.listed()
            ),
        )

    left_busy: tuple[str, ...] = ()
    """Tasks that a test leaves servers with for ever."""

    def get(self, path: str) -> dict[str, Any]:
        """What Nova answers to an administrator."""
        return dict(self._wire.get(path).json())

    def listed(self) -> list[dict[str, Any]]:
        """All servers, as an administrator lists them."""
        return list(self.get('/servers/detail?all_tenants=1')['servers'])

    def shown(self, uuid: str) -> dict[str, Any]:
        """The server, as an administrator sees it."""
        return dict(self.get(f'/servers/{uuid}')['server'])

    def server(
        self,
        host: str = 'old1',
        *,
        is_stopped: bool = False,
        is_volume_backed: bool = False,
        flavor: str | None = None,
        group: str = '',
        zone: str | None = None,
        port: str = '',
        name: str = 'web',
        key_name: str = '',
    ) -> str:
        """The uuid of a new server, with a tag and metadata.

        :param group: of a server group
        :param zone: to pin it to, in place of the host
        :param port: of Neutron's; without one it has no network
        """
        body = self._build_server(
            name=name,
            flavor_id=flavor,
            networks=[{'port': port, 'tag': 'nic'}] if port else 'none',
            host=None if zone else host,
            az=zone,
        )
        body.update(tags=['gold'], metadata={'owner': 'shop'})
        if key_name:
            body['key_name'] = key_name
        if is_volume_backed:
            del body['imageRef']
            body['block_device_mapping_v2'] = [
                {
                    'boot_index': 0,
                    'uuid': self.bootable_volume(),
                    'source_type': 'volume',
                    'destination_type': 'volume',
                    'tag': 'root',
                }
            ]
        asked: dict[str, Any] = {'server': body}
        if group:
            asked['os:scheduler_hints'] = {'group': group}
        uuid = str(self.admin_api.post_server(asked)['id'])
        self.is_(uuid, 'ACTIVE')
        if not zone:
            # A host named at creation stays in the request.
            self.assertEqual(host, self.host_of(uuid))
        if is_stopped:
            self.act(uuid, 'os-stop')
            self.is_(uuid, 'SHUTOFF')
        return uuid

    def bootable_volume(self) -> str:
        uuid = str(uuidutils.generate_uuid())
        self.cinder.volumes[uuid] = {
            **self.cinder.fake_get(None, uuid),
            'bootable': True,
            'volume_image_metadata': {
                'image_id': self.glance.image1['id'],
            },
        }
        return uuid

    def group(self, policy: str) -> str:
        """The uuid of a new server group."""
        body = {'name': policy, 'policy': policy}
        return str(self.admin_api.post_server_groups(body)['id'])

    def act(self, uuid: str, action: str, value: Any = None) -> None:
        self.admin_api.post_server_action(uuid, {action: value})

    def host_of(self, uuid: str) -> str:
        return str(self.shown(uuid)['OS-EXT-SRV-ATTR:host'])

    def is_(self, uuid: str, status: str) -> None:
        """Wait until it has a status and nothing is done to it."""

        def look() -> bool:
            row = self.shown(uuid)
            now = (row['status'], row['OS-EXT-STS:task_state'])
            return now == (status, None)

        self.until(f'server is {status}', look)

    def disable(self, host: str, status: str = 'disabled') -> None:
        service = self.computes[host].service_ref.uuid
        self.admin_api.put_service(service, {'status': status})

    def force_down(self, host: str, forced_down: bool = True) -> None:
        service = self.computes[host].service_ref.uuid
        self.admin_api.put_service_force_down(service, forced_down)

    def migrations(self, uuid: str) -> dict[str, str]:
        """Status by uuid of the server's migrations."""
        rows = self.get(f'/os-migrations?instance_uuid={uuid}')['migrations']
        return {row['uuid']: row['status'] for row in rows}

    # -- what is listed meanwhile ------------------------------------------

    @contextlib.contextmanager
    def listed_once(
        self, uuid: str, moves: int = 1, is_deleted: bool = False
    ) -> Iterator[Seen]:
        """Check, at every poll, that server and migration are listed once.

        :param moves: how many migrations there may be in the end, each
            listed once at every poll from its beginning on
        :param is_deleted: whether the server is deleted meanwhile
        """
        seen, is_over = Seen(), threading.Event()

        def poll() -> None:
            while True:
                is_last = is_over.is_set()
                try:
                    self._look(uuid, seen)
                except Exception as error:
                    seen.failures.append(repr(error))
                if is_last:
                    return
                is_over.wait(POLL_SECONDS)

        thread = threading.Thread(target=poll, daemon=True)
        thread.start()
        try:
            yield seen
        finally:
            is_over.set()
            thread.join(base.PATIENCE_SECONDS)
        self.assertEqual([], seen.failures)
        counts = [count for count, _ in itertools.groupby(seen.servers)]
        self.assertEqual([1, 0] if is_deleted else [1], counts)
        # One that Nova was not asked for is soon over.
        least = 3 if any(seen.migrations) else 0
        self.assertGreater(len(seen.servers), least)
        if is_deleted:
            return
        known: set[str] = set()
        for uuids in seen.migrations:
            self.assertLessEqual(known, uuids, 'a migration was not listed')
            known = uuids
        self.assertLessEqual(len(known), moves)

    def _look(self, uuid: str, seen: Seen) -> None:
        rows = [row for row in self.listed() if row['id'] == uuid]
        moves = self.get(f'/os-migrations?instance_uuid={uuid}')['migrations']
        seen.servers.append(len(rows))
        seen.migrations.append({row['uuid'] for row in moves})
        if len(moves) != len(seen.migrations[-1]):
            seen.failures.append(f'listed more than once: {moves}')
        now = (
            *(row['status'] for row in rows),
            *(str(row['OS-EXT-STS:task_state']) for row in rows),
            *(row['status'] for row in moves),
        )
        if [now] != seen.statuses[-1:]:
            seen.statuses.append(now)

    # -- what must be afterwards --------------------------------------------

    def picture(self, uuid: str) -> dict[str, Any]:
        """What must be after a move as before."""
        row = self.shown(uuid)
        return {name: row.get(name) for name in KEPT}

    def is_clean(
        self,
        uuid: str,
        host: str,
        status: str,
        before: dict[str, Any],
        flavor: str | None = None,
        volumes: int | None = None,
    ) -> None:
        """Check that a server is whole on a host, and nowhere else.

        :param before: of :meth:`picture`
        :param flavor: the name of the one it must have; None: not checked
        :param volumes: how many it must have; None: as before
        """
        self.is_(uuid, status)
        now = self.picture(uuid)
        if volumes is not None:
            self.assertEqual(volumes, len(now[ATTACHED]))
            before = {**before, ATTACHED: now[ATTACHED]}
        self.assertEqual(before, now)
        row = self.shown(uuid)
        self.assertEqual(host, row['OS-EXT-SRV-ATTR:host'])
        self.assertEqual(HOSTS[host], row['OS-EXT-AZ:availability_zone'])
        power = RUNNING if status == 'ACTIVE' else SHUTDOWN
        self.assertEqual(power, row['OS-EXT-STS:power_state'])
        if flavor:
            self.assertEqual(flavor, row['flavor']['original_name'])
        self.assertEqual({host: power}, self.guests(uuid))
        self.room_is_right(uuid, row, host)
        self.assertEqual([], self.temporary_images())
        self.assertEqual(self.images, set(self.glance.images))
        self.attachments_are_right(uuid, row, host)
        self.bindings_are_right(uuid, host)
        self.assertEqual({HOSTS[host]}, self.rows(uuid))

    def guests(self, uuid: str) -> dict[str, int]:
        """The power states of a server's guests, by host."""
        return {
            host: compute.manager.driver.instances[uuid].state
            for host, compute in self.computes.items()
            if uuid in compute.manager.driver.instances
        }

    def rows(self, uuid: str) -> set[str]:
        """Names of the cells whose databases have the server."""
        found = set()
        for name in (OLD, NEW):
            cell = self.cell_mappings[name]
            with (
                context.target_cell(context.get_admin_context(), cell) as at,
                contextlib.suppress(exception.InstanceNotFound),
            ):
                objects.Instance.get_by_uuid(at, uuid)
                found.add(name)
        return found

    def room(self, consumer: str) -> dict[str, dict[str, int]]:
        """What Placement gives a server or a migration, by host."""
        found = self._get_allocations_by_server_uuid(consumer)
        return {
            self.providers[uuid]: row['resources']
            for uuid, row in found.items()
        }

    def size(self, row: dict[str, Any]) -> dict[str, int]:
        """What a server takes of Placement."""
        flavor = row['flavor']
        size = {'VCPU': flavor['vcpus'], 'MEMORY_MB': flavor['ram']}
        if row['image']:
            size['DISK_GB'] = flavor['disk']
        return size

    def room_is_right(self, uuid: str, row: dict[str, Any], host: str) -> None:
        """Only the server has room, only on its host, only of its size."""
        self.assertEqual({host: self.size(row)}, self.room(uuid))
        for migration in self.migrations(uuid):
            self.assertEqual({}, self.room(migration))

    def temporary_images(self) -> list[str]:
        return [
            image['name']
            for image in self.glance.images.values()
            if image['name'].endswith(TEMPORARY)
        ]

    def attachments_are_right(
        self, uuid: str, row: dict[str, Any], host: str
    ) -> None:
        """Each volume has one attachment, connected to the host."""
        found = sorted(
            (
                volume,
                attachment['connector'] and attachment['connector']['host'],
            )
            for volume, attachments in self.cinder.volume_to_attachment.items()
            for attachment in attachments.values()
            if attachment['instance_uuid'] == uuid
        )
        volumes = row[ATTACHED]
        self.assertEqual(sorted((v['id'], host) for v in volumes), found)

    def bindings_are_right(self, uuid: str, host: str) -> None:
        """Each port of the server has one binding, an active one."""
        for interface in self.get(f'/servers/{uuid}/os-interface')[
            'interfaceAttachments'
        ]:
            bindings = self.neutron._port_bindings[interface['port_id']]
            self.assertEqual(
                {host: 'ACTIVE'},
                {name: one['status'] for name, one in bindings.items()},
            )
