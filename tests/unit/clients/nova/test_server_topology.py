# SPDX-License-Identifier: Apache-2.0
"""Is the NUMA topology of a server read, where Nova shows all of it?"""

from typing import Any

from kronos.clients.nova.server_topology import ServerTopologies
from kronos.engine.slots.numa_facts import PlacedNode, ServerTopology
from tests.fakes.keystone import NOVA
from tests.unit.clients.nova.test_client import NovaTestCase

TOPOLOGY = f'{NOVA}/servers/vm/topology'


def node(number: int, **more: Any) -> dict[str, Any]:
    return {
        'vcpu_set': [2 * number, 2 * number + 1],
        'memory_mb': 512,
        'siblings': [],
        'host_node': number,
        'cpu_pinning': {},
        **more,
    }


class TestTopology(NovaTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.topologies = ServerTopologies(self.nova.api)

    def get(self, **answer: Any) -> ServerTopology | None:
        self.wire.get(TOPOLOGY, **answer)
        return self.topologies.get('vm')

    def test_nodes(self) -> None:
        nodes = [node(0), node(1, cpu_pinning={'2': 10, '3': 11})]
        self.assertEqual(
            ServerTopology([PlacedNode(0, 2, 512), PlacedNode(1, 2, 512, 2)]),
            self.get(json={'nodes': nodes, 'pagesize_kb': None}),
        )

    def test_pages(self) -> None:
        body = {'nodes': [node(0)], 'pagesize_kb': 2048}
        topology = self.get(json=body)
        assert topology is not None
        self.assertEqual(2048, topology.page_size_kb)

    def test_none(self) -> None:
        """A server without a topology has no nodes."""
        body = {'nodes': [], 'pagesize_kb': None}
        self.assertEqual(ServerTopology([]), self.get(json=body))

    def test_not_shown(self) -> None:
        """To a user who is no administrator, or after its deletion."""
        plain = node(0)
        del plain['host_node']
        self.assertIsNone(
            self.get(json={'nodes': [plain], 'pagesize_kb': None})
        )
        for status in (403, 404):
            self.assertIsNone(self.get(status_code=status))

    def test_away(self) -> None:
        self.wire.get(TOPOLOGY, status_code=503)
        self.fails(self.topologies.get, 'vm')
