# SPDX-License-Identifier: Apache-2.0
"""Does kronos-test-config compare numa_cells with the cloud?"""

import re
from typing import Any

from kronos.extensions.room.commands import node_checks
from tests.fakes.keystone import NOVA, PLACEMENT
from tests.unit.clients.nova.test_client import aggregate
from tests.unit.cmd.checking import CheckTestCase

CELLS = 'a: nodes=2, cpus=8, memory_mb=8192'
DEDICATED = {'hw:cpu_policy': 'dedicated'}


class NodeChecksTestCase(CheckTestCase):
    """Three hosts with dedicated CPUs, with a server of 4 CPUs on each."""

    def setUp(self) -> None:
        self.topology: dict[str, Any] = {'nodes': [], 'pagesize_kb': None}
        super().setUp()
        self.nodes(0, 4)

    def server(self, host: str, **more: Any) -> dict[str, Any]:
        row = super().server(host, **more)
        flavor = {**row['flavor'], 'vcpus': 4, 'extra_specs': DEDICATED}
        return {**row, 'flavor': flavor}

    def nodes(self, number: int, cpus: int) -> None:
        """The topology of each server."""
        node = {
            'vcpu_set': [*range(cpus)],
            'memory_mb': 512,
            'host_node': number,
            'cpu_pinning': {str(cpu): cpu for cpu in range(cpus)},
        }
        body = {'nodes': [node], 'pagesize_kb': None}
        self.wire.get(re.compile(f'{NOVA}/servers/.*/topology'), json=body)

    def sizes(self, **vcpus: int) -> None:
        super().sizes(**vcpus)
        self.resources(**dict.fromkeys(vcpus, 16))
        self.totals(PCPU=16)

    def resources(
        self, name: str = 'PCPU', used: int = 4, **cpus: int
    ) -> None:
        summaries = {
            host: {
                'resources': {
                    name: {'capacity': number, 'used': used},
                    'MEMORY_MB': {'capacity': 16384, 'used': 512},
                },
                'traits': ['COMPUTE_NODE'],
            }
            for host, number in cpus.items()
        }
        self.wire.get(
            f'{PLACEMENT}/allocation_candidates',
            json={'provider_summaries': summaries},
        )

    def totals(self, ratio: float = 1.0, **amounts: int) -> None:
        rows = {
            name: {'total': number, 'reserved': 0, 'allocation_ratio': ratio}
            for name, number in {'MEMORY_MB': 16384, **amounts}.items()
        }
        self.wire.get(
            re.compile(f'{PLACEMENT}/resource_providers/.*/inventories'),
            json={'inventories': rows},
        )

    def report(self, *more: str, cells: str = CELLS) -> dict[str, Any]:
        lines = [f'numa_cells = {line}' for line in more]
        conf = self.conf(numa_cells='\n'.join([cells, *lines]))
        return self.check('--config-file', conf)

    def of_nodes(
        self, *more: str, cells: str = CELLS
    ) -> list[tuple[str, str]]:
        """Text and remedy of the findings."""
        return [
            (row['text'], row['mend'])
            for row in self.all_findings(self.report(*more, cells=cells))
            if row['code'].startswith('numa')
        ]


class TestGood(NodeChecksTestCase):
    def test_all_is_well(self) -> None:
        report = self.report()
        self.assertEqual(
            [
                {
                    'aggregate': 'a',
                    'hosts': 3,
                    'hosts_read': 3,
                    'hosts_at_fault': 0,
                }
            ],
            report['numa_cells'],
        )
        self.assertFalse([c for c in self.codes(report) if 'numa' in c])

    def test_table(self) -> None:
        _, out, _ = self.run_it('--config-file', self.conf(numa_cells=CELLS))
        self.assertIn('Hosts with numa_cells', out)

    def test_not_configured(self) -> None:
        self.assertNotIn('numa_cells', self.check())

    def test_many_servers(self) -> None:
        """Hosts are read whole, as long as there are few requests."""
        self.patch(node_checks, 'SERVERS', 2)
        self.nodes(5, 4)
        [row] = self.report()['numa_cells']
        self.assertEqual((2, 2), (row['hosts_read'], row['hosts_at_fault']))


class TestNames(NodeChecksTestCase):
    def test_no_such_aggregate(self) -> None:
        report = self.report(cells=CELLS.replace('a', 'b', 1))
        finding = self.finding(report, 'numa-cells')
        self.assertEqual('error', finding['level'])
        self.assertEqual(
            '[kronos] numa_cells: there is no aggregate b; known: a',
            finding['text'],
        )

    def test_two_cells(self) -> None:
        self.aggregates(aggregate(1, 'a', 'a1'), aggregate(2, 'b', 'a1'))
        [(text, _)] = self.of_nodes('b: nodes=4, cpus=4, memory_mb=9')
        self.assertIn('host a1 is in a and in b, which have different', text)


class TestHosts(NodeChecksTestCase):
    def test_cpus(self) -> None:
        """Hosts with the same fault are in one sentence."""
        self.resources(a1=20, a2=20, a3=16)
        [(text, remedy)] = self.of_nodes()
        self.assertEqual(
            '[kronos] numa_cells of aggregate a: a1, a2: numa_cells has 2 '
            'nodes of 8 CPUs, and Placement has 20 PCPU',
            text,
        )
        self.assertIn('cpu_dedicated_set', remedy)

    def test_nodes_of_a_server(self) -> None:
        self.nodes(3, 4)
        texts = self.of_nodes()
        self.assertEqual(3, len(texts))
        self.assertIn(
            'server u-a1 is on node 3, and numa_cells has 2', texts[0][0]
        )
        self.assertIn('move the server to a host of another', texts[0][1])

    def test_hidden(self) -> None:
        topology = re.compile(f'{NOVA}/servers/.*/topology')
        self.wire.get(topology, status_code=403)
        for text, remedy in self.of_nodes():
            self.assertIn('Nova does not show the NUMA topology', text)
            self.assertIn('compute:server:topology:host:index', remedy)

    def test_away(self) -> None:
        topology = re.compile(f'{NOVA}/servers/.*/topology')
        self.wire.get(topology, status_code=503)
        [(text, _)] = self.of_nodes()
        self.assertIn('numa_cells cannot be compared with the cloud', text)


class TestInventories(NodeChecksTestCase):
    def test_memory(self) -> None:
        self.totals(PCPU=16, MEMORY_MB=16000)
        [(text, remedy)] = self.of_nodes()
        self.assertEqual(
            '[kronos] numa_cells of aggregate a: a1, a2, a3: 2 nodes of 8192 '
            'MiB, and Placement has 16000 MEMORY_MB',
            text,
        )
        self.assertIn('memory_mb is the memory of one node', remedy)

    def test_shared_cpus(self) -> None:
        self.servers()
        self.resources('VCPU', 0, a1=64, a2=64, a3=64)
        self.totals(VCPU=16)
        self.assertEqual([], self.of_nodes())
        self.totals(VCPU=32)
        [(text, _)] = self.of_nodes()
        self.assertIn('2 nodes of 8 CPUs, and Placement has 32 VCPU', text)

    def test_ratio(self) -> None:
        self.totals(PCPU=16, ratio=0.5)
        [(text, _)] = self.of_nodes()
        self.assertIn('the allocation ratio of MEMORY_MB is 0.5', text)

    def test_requests(self) -> None:
        """One host of each capacity is enough."""
        self.resources(a1=16, a2=20, a3=16)
        self.report()
        paths = [
            request.path
            for request in self.wire.request_history
            if request.path.endswith('/inventories')
        ]
        self.assertEqual(2, len(paths))
