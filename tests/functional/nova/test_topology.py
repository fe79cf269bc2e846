# SPDX-License-Identifier: Apache-2.0
"""Does a real Nova show the NUMA nodes that it chose, and fill all slots?"""

from typing import Any

import fixtures
from nova import objects
from nova.virt import fake

from kronos.clients.nova.node_reader import ServerTopologies
from kronos.engine.slots.numa_facts import PlacedNode, ServerTopology
from kronos.options.numa_cells import NumaCells
from kronos.osc import slot_rows
from tests.functional.nova import base


def _nodes() -> str:
    """Two nodes of 8 CPUs, as a driver reports them."""
    cells = [
        objects.NUMACell(
            id=number,
            cpuset={*range(8 * number, 8 * number + 8)},
            pcpuset=set(),
            memory=4096,
            cpu_usage=0,
            memory_usage=0,
            pinned_cpus=set(),
            siblings=[],
            mempages=[
                objects.NUMAPagesTopology(
                    size_kb=4, total=4096 * 256, used=0, reserved=0
                )
            ],
            socket=0,
        )
        for number in (0, 1)
    ]
    return str(objects.NUMATopology(cells=cells)._to_json())


class TestTopology(base.NovaTestCase):
    def setUp(self) -> None:
        plain = fake.FakeDriver.get_available_resource

        def with_nodes(driver: Any, node: str) -> Any:
            return {**plain(driver, node), 'numa_topology': _nodes()}

        self.useFixture(
            fixtures.MonkeyPatch(
                'nova.virt.fake.FakeDriver.get_available_resource', with_nodes
            )
        )
        super().setUp()
        self.topologies = ServerTopologies(self.nova.api)

    def topology(self, **specs: str) -> ServerTopology | None:
        server = self.boot('host1', flavor_id=self.flavor(**specs))
        return self.topologies.get(server['id'])

    def test_shown(self) -> None:
        """The second server of one node gets the other node."""
        two = self.topology(**{'hw:numa_nodes': '2'})
        self.assertEqual(
            ServerTopology([PlacedNode(0, 1, 256), PlacedNode(1, 1, 256)]), two
        )
        chosen = []
        for _ in range(2):
            topology = self.topology(**{'hw:numa_nodes': '1'})
            assert topology is not None
            chosen += [node.host_node for node in topology.nodes]
        self.assertEqual([0, 1], sorted(chosen))

    def test_client(self) -> None:
        """As many servers as the client counts get nodes, and no more."""
        big = self._create_flavor(
            name='big',
            vcpu=1,
            memory_mb=2500,
            extra_spec={'hw:numa_nodes': '1'},
        )
        aggregate = self.admin_api.post_aggregate(
            {'aggregate': {'name': 'nodes'}}
        )
        self.admin_api.add_host_to_aggregate(aggregate['id'], 'host1')
        self.topology(**{'hw:numa_nodes': '2'})
        question = slot_rows.Question(
            ['big'],
            ['nodes'],
            hypervisor_types=['fake'],
            cells={'nodes': NumaCells(2, 8, 4096)},
        )

        def slots() -> int:
            read = slot_rows.read(self.nova, self.placement_client, question)
            return read.slots[0].total

        number = slots()
        self.assertGreater(number, 1)
        for _ in range(number):
            self.boot('host1', flavor_id=big)
        self.assertEqual(0, slots())
        self._create_server(
            flavor_id=big,
            host='host1',
            networks='none',
            expected_state='ERROR',
        )

    def test_none(self) -> None:
        self.assertEqual(ServerTopology([]), self.topology())
