# SPDX-License-Identifier: Apache-2.0
"""Does a real Nova show the NUMA nodes that it chose for a server?"""

from typing import Any

import fixtures
from nova import objects
from nova.virt import fake

from kronos.clients.nova.server_topology import ServerTopologies
from kronos.engine.slots.numa_facts import PlacedNode, ServerTopology
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

    def test_none(self) -> None:
        self.assertEqual(ServerTopology([]), self.topology())
