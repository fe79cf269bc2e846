# SPDX-License-Identifier: Apache-2.0
"""What do the scenarios of room share? Hosts that no large server fits on."""

from typing import Any, ClassVar

from tests.lab import base
from tests.lab.base import Wanted

from labkit import topology  # isort: skip

LARGE = 'f16'
VCPUS = 16
"""Of a large one: a host has 64, and a server may have as many as its cores.
"""
FILLING = 3
"""Large ones on each host at first."""
CORES, MEMORY_MB = 0.2, 500
"""In use by each server."""


class RoomTestCase(base.LabTestCase):
    """A scope in which only some hosts are open, and no other host is."""

    options: ClassVar[dict[str, Any]] = {'report_html': True}
    aggregate: ClassVar[str] = 'alpha'
    scope_hosts: ClassVar[tuple[str, ...]] = ('cmp1', 'cmp2', 'cmp3', 'cmp5')
    large: ClassVar[str] = LARGE
    image: ClassVar[str] = topology.IMAGE

    def setUp(self) -> None:
        super().setUp()
        for row in self.cloud.services():
            host = row['host']
            if row['binary'] != 'nova-compute' or host in self.scope_hosts:
                continue
            self.cloud.set_host(host, False, 'it is not of the scenario')
            self.addCleanup(self.cloud.set_host, host, True)

    def add_flavor(
        self, name: str, vcpus: int, memory_mb: int, disk_gb: int = 0
    ) -> None:
        compute = self.cloud.compute
        # One of a scenario that was killed may have another size.
        if uuid := self.cloud.flavors().get(name):
            compute.delete_flavor(uuid)
        flavor = compute.create_flavor(
            name=name, vcpus=vcpus, ram=memory_mb, disk=disk_gb
        )
        self.addCleanup(compute.delete_flavor, flavor)

    def fill_hosts(self) -> dict[str, str]:
        """Fill the hosts: each lacks the 2 vCPUs of its small server."""
        self.add_flavor(self.large, VCPUS, 4096, disk_gb=1)
        servers = {
            f'{host}-{self.large}-{number}': (host, self.large)
            for host in self.scope_hosts
            for number in range(FILLING)
        }
        servers |= {
            f'{host}-small': (host, 'lab.medium') for host in self.scope_hosts
        }
        return self.boot(
            Wanted(name, host, CORES, MEMORY_MB, flavor=flavor)
            for name, (host, flavor) in servers.items()
        )

    def slots(self) -> int:
        """What the client counts in the scope."""
        [row] = self.openstack(
            f'optimize kronos slots --flavor {self.large} '
            f'--aggregate {self.aggregate} '
            '--hypervisor-type fake QEMU -f json'
        )
        return int(row['Slots'])

    def create(self, name: str) -> tuple[str, str]:
        """Have Nova place a large server; its status, and why it failed."""
        done = self.run_client(
            f'server create --flavor {self.large} --image {self.image} '
            f'--nic none --property lab:cpu={CORES} '
            f'--property lab:memory_mb={MEMORY_MB} --wait {name}'
        )
        servers = {row['name']: row for row in self.cloud.servers().values()}
        self.assertIn(name, servers, done.stderr)
        server = servers[name]
        fault = server.get('fault', {}).get('message', '')
        return str(server['status']), str(fault)

    def assert_refused(self) -> None:
        """Nova has no host for a large one, and the client no slot."""
        status, fault = self.create('refused')
        self.assertEqual('ERROR', status)
        self.assertIn('No valid host was found', fault)
        self.openstack('server delete --wait refused')
        self.assertEqual(0, self.slots())

    def make_room(
        self, number: int
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The plan of an audit that makes room, and its actions."""
        audit, plan, actions = self.audited(
            f'aggregates={self.aggregate} flavors={self.large}={number}',
            '',
            'kronos_make_room',
        )
        self.assertIn(
            f'slots of {self.large}: 0 -> {number}, {number} wanted',
            audit['Status Message'],
        )
        self.assertIn('no plan requires fewer', audit['Status Message'])
        outcome = self.report(audit)['room']
        self.assertEqual({self.large: 0}, outcome['before'])
        self.assertEqual({self.large: number}, outcome['after'])
        self.assertEqual(len(actions), outcome['moves'])
        self.assertIn(f'Slots of <bdi>{self.large}</bdi>', self.page(audit))
        return plan, actions

    def page(self, audit: dict[str, Any]) -> str:
        """The newest page of an audit."""
        newest = max(self.reports.glob(f'*-{audit["UUID"]}.html'))
        return newest.read_text()

    def assert_taken(self, number: int) -> None:
        """So many large ones are created, and then the room is used up."""
        self.assertEqual(number, self.slots())
        for name in [f'new-{at}' for at in range(number)]:
            self.assertEqual(('ACTIVE', ''), self.create(name), name)
        self.assertEqual(0, self.slots())
