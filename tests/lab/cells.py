# SPDX-License-Identifier: Apache-2.0
"""What do the scenarios with two cells share? A cell that is to be emptied.

It has the hosts old1 and old2; cmp1 and cmp2 of the other cell take what
leaves. Every server has a port, so that its address can be compared.
"""

import collections
import pathlib
from collections.abc import Iterable
from typing import Any, ClassVar

from tests.lab import base

from labkit.cells import choice, network  # isort: skip

OLD, NEW = choice.SECOND, choice.FIRST
OLD_HOSTS = list(choice.OLD_HOSTS)
NEW_HOSTS = ['cmp1', 'cmp2']
MOVE, CONFIRM, REVERT = ('migrate', 'resize'), 'confirmResize', 'revertResize'
ASKED = f'source_cell={OLD} target_cells={NEW}'
COMPUTE = '2.104'
DOMAIN = 'max by (domain) (libvirt_domain_memory_stats_rss_bytes)'
UUID = (
    'max by (uuid) (libvirt_domain_memory_stats_rss_bytes * on (domain, '
    'instance) group_left (uuid) libvirt_domain_info_meta)'
)


class CellsTestCase(base.LabTestCase):
    """Two cells; the policy is open; nothing goes wrong."""

    cells: ClassVar = choice.Choice(hosts=len(NEW_HOSTS))
    options: ClassVar[dict[str, Any]] = {'migration_poll_interval': 1}
    uuids: dict[str, str]

    def setUp(self) -> None:
        super().setUp()
        self.uuids = {}
        # What is held ends, before the next scenario begins.
        self.addCleanup(self.cloud.set_migrations, {})

    def sample(self, name: str) -> pathlib.Path:
        """The sample's policies, by uuid: domains of two cells share names."""
        copy = super().sample(name)
        text = copy.read_text()
        self.assertIn(DOMAIN, text)
        text = text.replace(DOMAIN, UUID)
        text = text.replace(
            'vm_profile_label: domain', 'vm_profile_label: uuid'
        )
        text = text.replace('nova_internal_name', 'nova_instance_uuid')
        copy.write_text(text)
        return copy

    # The old cell

    def boot_here(self, placed: dict[str, str], **more: Any) -> None:
        """Boot servers without a look at their metrics.

        :param placed: server name to host
        """
        made = self.cloud.boot_all(self.wanted(placed, **more))
        self.uuids |= {server['name']: server['id'] for server in made}

    def boot_seen(self, wanted: Iterable[base.Wanted]) -> None:
        """Boot servers that an audit is to move."""
        self.uuids |= self.boot(wanted)

    def wanted(self, placed: dict[str, str], **more: Any) -> list[base.Wanted]:
        return [self.one(name, host, **more) for name, host in placed.items()]

    @staticmethod
    def one(name: str, host: str, **more: Any) -> base.Wanted:
        """A small server with a port, not pinned to a zone."""
        given = {
            'cpu': 0.2,
            'memory_mb': 500,
            'flavor': 'lab.small',
            'zone': '',
            'network': network.NETWORK,
        }
        return base.Wanted(name, host, **{**given, **more})

    def flavor(self, name: str, **size: int) -> None:
        """Make a flavor; it is dropped at the end."""
        made = self.cloud.compute.create_flavor(name=name, **size)
        self.addCleanup(self.cloud.compute.delete_flavor, made)

    def stop_servers(self, *names: str) -> None:
        for name in names:
            self.act(name, {'os-stop': None})
        self.wait(
            lambda: (
                {self.server(name)['status'] for name in names} == {'SHUTOFF'}
            ),
            'servers to be stopped',
        )

    # A server

    def act(self, name: str, body: dict[str, Any], status: int = 202) -> Any:
        """Ask Nova for something as an operator does.

        :param status: that it should answer
        """
        answer = self.cloud.compute.post(
            f'/servers/{self.uuids[name]}/action',
            json=body,
            microversion=COMPUTE,
        )
        self.assertEqual(status, answer.status_code, answer.text)
        return answer

    def server(self, name: str) -> dict[str, Any]:
        answer = self.cloud.compute.get(
            f'/servers/{self.uuids[name]}', microversion=COMPUTE
        )
        self.assertEqual(200, answer.status_code, answer.text)
        return dict(answer.json()['server'])

    def state(self, name: str) -> tuple[str, str | None, int, str]:
        """Status, task, power and host of a server."""
        found = self.server(name)
        return (
            found['status'],
            found['OS-EXT-STS:task_state'],
            found['OS-EXT-STS:power_state'],
            found['OS-EXT-SRV-ATTR:host'],
        )

    def migration(self, name: str) -> dict[str, Any]:
        """Nova's newest migration of a server; {}: it has none."""
        rows = self.migrations(instance_uuid=self.uuids[name])
        return rows[0] if rows else {}

    def wait_server(self, name: str, status: str, task: str | None) -> None:
        self.wait(
            lambda: self.state(name)[:2] == (status, task),
            f'{name} to be {status}, {task}',
        )

    def wait_migration(self, name: str, *wanted: str) -> None:
        self.wait(
            lambda: self.migration(name).get('status') in wanted,
            f'the migration of {name} to be {wanted}',
        )

    def ports_of(self, name: str) -> dict[str, tuple[str, str, set[str]]]:
        """By port: address, MAC, and the hosts it is bound to."""
        neutron = self.lab.connection().network
        params = {'device_id': self.uuids[name]}
        found = {}
        for port in neutron.get('/ports', params=params).json()['ports']:
            url = f'/ports/{port["id"]}/bindings'
            bindings = neutron.get(url).json()['bindings']
            found[port['id']] = (
                port['fixed_ips'][0]['ip_address'],
                port['mac_address'],
                {one['host'] for one in bindings},
            )
        return found

    def copies(self) -> list[str]:
        """Snapshots by which servers went; none is to be left."""
        images = self.lab.connection().image.images()
        return [one.name for one in images if 'resize-temp' in one.name]

    def kept(self, name: str) -> dict[str, Any]:
        """All of a server that a move must keep."""
        found = self.server(name)
        keys = ('id', 'name', 'created', 'metadata', 'image', 'key_name')
        keys += ('addresses', 'security_groups', 'tags', 'locked', 'flavor')
        ports = {key: value[:2] for key, value in self.ports_of(name).items()}
        return {**{key: found[key] for key in keys}, 'ports': ports}

    # What Kronos does

    def drained(
        self, parameters: str = '', more: str = ''
    ) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
        """An audit that empties the cell, its plan and all its actions."""
        return self.audited(
            f'{ASKED} {parameters}'.strip(), more, 'kronos_cell_drain'
        )

    def moves(self, plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """The plan's actions that move a server, by its name."""
        return {
            row['input_parameters']['resource_name']: row
            for row in self.actions(plan)
            if row['action_type'] == 'kronos_cross_cell_migrate'
        }

    def cancel(self, plan: dict[str, Any]) -> None:
        self.openstack(f'optimize actionplan cancel {plan["uuid"]}')

    def requests(self, *actions: str) -> dict[str, int]:
        """How often Nova got one of these requests of Watcher, by server."""
        names = {uuid: name for name, uuid in self.uuids.items()}
        return dict(
            collections.Counter(
                names[one['path'].split('/')[-2]]
                for one in self.cloud.api_requests()
                if one['action'] in actions and one['forwarded']
            )
        )

    def most_at_a_time(self, names: Iterable[str]) -> int:
        """How many of these servers were on their way at once.

        From the request to move one until that to confirm it.
        """
        uuids = {self.uuids[name] for name in names}
        now, most = 0, 0
        for one in self.cloud.api_requests():
            if one['forwarded'] and one['path'].split('/')[-2] in uuids:
                now += one['action'] in MOVE
                now -= one['action'] in (CONFIRM, REVERT)
                most = max(most, now)
        return most

    def assert_once(self, *names: str) -> None:
        """Each of these was asked for once, and no other server was."""
        self.assertEqual(dict.fromkeys(names, 1), self.requests(*MOVE))

    def assert_here(self, placed: dict[str, str], *stopped: str) -> None:
        """All servers are where they should be, idle, and accounted once.

        :param placed: server name to host
        """
        for name, host in placed.items():
            wanted = ('SHUTOFF', None, 4, host)
            if name not in stopped:
                wanted = ('ACTIVE', None, 1, host)
            self.assertEqual(wanted, self.state(name), name)
            uuid = self.uuids[name]
            self.assertEqual({host}, set(self.allocations(uuid)), name)
            for row in self.migrations(instance_uuid=uuid):
                self.assertEqual({}, self.allocations(row['uuid']), name)
            bound = [hosts for _, _, hosts in self.ports_of(name).values()]
            self.assertEqual([{host}], bound, name)
        self.assertEqual([], self.copies())
