# SPDX-License-Identifier: Apache-2.0
"""An audit that makes room on a NUMA node: its plan, and what fits then."""

from tests.fakes.small_cloud import cloud, nova
from tests.functional.watcher import base, room_made

CPUS = 8
"""Of a node; each host has two."""
LARGE = 'f8'
SPECS = {'hw:numa_nodes': '1'}
CELLS = f'alpha: nodes=2, cpus={CPUS}, memory_mb=16384'


class NodeCloud(cloud.Cloud):
    """A server goes to the node with the most free CPUs."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.nodes = {}
        for server in self.servers.values():
            self.choose(server)
        self.requested = []

    def used(self, host):
        cpus = [0, 0]
        for server in self.servers.values():
            if server.host == host and server.uuid in self.nodes:
                cpus[self.nodes[server.uuid]] += server.vcpus
        return cpus

    def choose(self, server):
        self.nodes.pop(server.uuid, None)
        used = self.used(server.host)
        self.nodes[server.uuid] = used.index(min(used))

    def _reach(self, migration):
        host = migration.server.host
        super()._reach(migration)
        if migration.server.host != host:
            self.choose(migration.server)

    def server_row(self, server):
        row = super().server_row(server)
        return row | {'flavor': row['flavor'] | {'extra_specs': SPECS}}

    def flavor_list(self, q, body):
        rows = super().flavor_list(q, body)['flavors']
        return {'flavors': [row | {'extra_specs': SPECS} for row in rows]}

    def topology(self, uuid, q, body):
        server = self.find(uuid)
        self.requested.append(uuid)
        node = {
            'vcpu_set': [*range(server.vcpus)],
            'memory_mb': server.ram,
            'siblings': [],
            'host_node': self.nodes[uuid],
            'cpu_pinning': {},
        }
        return {'nodes': [node], 'pagesize_kb': None}

    def route(self, routes, *args):
        own = [
            ('GET', f'{nova._SERVER}/topology', NodeCloud.topology),
            ('GET', f'{nova._NOVA}/flavors/detail', NodeCloud.flavor_list),
        ]
        return super().route([*own, *routes], *args)


class RoomOnNodesTestCase(room_made.RoomTestCase):
    """Two hosts; each node has servers of 2, 2 CPUs, and none 8 free."""

    LARGE = LARGE

    @staticmethod
    def CLOUD():  # noqa: N802
        servers = [
            server
            for number, host in enumerate(('h1', 'h2'))
            for server in base.servers(
                host, 10 * number + 1, 4, vcpus=2, ram=1024
            )
        ]
        nodes = NodeCloud(
            ['h1', 'h2'],
            {'alpha': ['h1', 'h2']},
            servers,
            capacity=(2 * CPUS, 32768),
        )
        nodes.flavors[LARGE] = (CPUS, 4096)
        return nodes

    def setUp(self):
        super().setUp()
        self.set('kronos', allowed_extra_specs=['hw:numa_nodes'])

    def fitting(self):
        return sum(
            (CPUS - used) // 8
            for host in self.cloud.hosts
            for used in self.cloud.used(host)
        )

    def test_planned_and_carried_out(self):
        """Two servers leave a node, one after the other."""
        self.set('kronos', numa_cells=[CELLS])
        plan = self.planned('only if Nova chooses NUMA nodes')
        self.assertEqual(sorted(self.cloud.servers), self.cloud.requested)
        first, second = self.actions(plan)
        self.assertEqual([], first.parents)
        self.assertEqual([first.uuid], second.parents)
        self.carry_out(plan)

    def test_not_configured(self):
        audit = self.make_room(flavors={LARGE: 1})
        self.assertEqual('FAILED', audit['state'])
        self.assertIn('gives servers a NUMA topology', self.message(audit))
        self.assertEqual([], self.cloud.requested)

    def test_badly_configured(self):
        self.set('kronos', numa_cells=['beta: nodes=2, cpus=8, memory_mb=9'])
        audit = self.make_room(flavors={LARGE: 1})
        self.assertEqual('FAILED', audit['state'])
        self.assertIn('numa_cells: there is no', self.message(audit))
