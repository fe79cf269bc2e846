# SPDX-License-Identifier: Apache-2.0
"""Are NUMA topologies read of the right servers, and bad cells refused?"""

from typing import Any
from unittest import mock

from oslotest import base

from kronos.clients.nova import node_reader
from kronos.clients.nova.node_reader import ServerTopologies
from kronos.clients.nova.rows import HostAggregate
from kronos.common.exceptions import ConfigurationError
from kronos.engine.slots.numa_facts import PlacedNode, ServerTopology
from kronos.engine.slots.numa_nodes import NodeLayout
from kronos.options.numa_cells import NumaCells
from tests.builders import numa, policies
from tests.fakes.keystone import NOVA
from tests.unit.clients.nova.test_client import NovaTestCase

CELLS = {'pinned': NumaCells(2, 8, 8000)}
TOPOLOGY = f'{NOVA}/servers/vm/topology'


class TestLayouts(base.BaseTestCase):
    AGGREGATES = (
        HostAggregate(1, 'pinned', hosts=['a', 'elsewhere']),
        HostAggregate(2, 'other', hosts=['a', 'b']),
    )

    def layouts(self, cells: dict[str, NumaCells]) -> dict[str, NodeLayout]:
        return node_reader.layouts(self.AGGREGATES, cells, ['a', 'b'])

    def test_hosts(self) -> None:
        layout = NodeLayout(2, 8, 8000)
        self.assertEqual({'a': layout}, self.layouts(CELLS))
        both = {**CELLS, 'other': CELLS['pinned']}
        self.assertEqual({'a': layout, 'b': layout}, self.layouts(both))
        self.assertEqual({}, self.layouts({}))

    def test_bad(self) -> None:
        for cells, text in (
            ({'pined': CELLS['pinned']}, 'no aggregate pined; did you mean'),
            (
                {**CELLS, 'other': NumaCells(4, 4, 4000)},
                'host a is in pinned and in other, which have different',
            ),
        ):
            error = self.assertRaises(ConfigurationError, self.layouts, cells)
            self.assertIn('[kronos] numa_cells: ', str(error))
            self.assertIn(text, str(error))


class TestFacts(base.BaseTestCase):
    def test_read(self) -> None:
        """One request for each server that matters, and no more."""
        requested: list[str] = []

        def get(uuid: str) -> Any:
            requested.append(uuid)
            return None if uuid == 'hidden' else numa.topology([(0, 4)])

        servers = [
            policies.instance(uuid, host, extra_specs=dict(specs))
            for uuid, host, specs in (
                ('shown', 'a', numa.PINNED),
                ('hidden', 'a', numa.PINNED),
                ('plain', 'a', {}),
                ('without-cells', 'b', numa.PINNED),
            )
        ]
        unused: Any = None
        with mock.patch.object(
            node_reader, 'ServerTopologies', return_value=mock.Mock(get=get)
        ):
            facts = node_reader.facts(unused, {'a': numa.LAYOUT}, servers)
        self.assertEqual({'a': numa.LAYOUT}, facts.layouts)
        self.assertEqual(['shown', 'hidden'], requested)
        self.assertEqual({'shown'}, {*facts.topologies})
        self.assertEqual('a', facts.topologies['shown'].host)


class TestConfigured(base.BaseTestCase):
    def test_lines(self) -> None:
        line = 'pinned: nodes=2, cpus=8, memory_mb=8000'
        self.assertEqual(CELLS, node_reader.configured([line]))
        error = self.assertRaises(
            ConfigurationError, node_reader.configured, [line, line]
        )
        self.assertIn('numa_cells: aggregate', str(error))


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
