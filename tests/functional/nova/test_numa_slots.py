# SPDX-License-Identifier: Apache-2.0
"""Are the slots of NUMA flavors those that Nova's own code gives?

Random clouds are filled by Nova's ``numa_fit_instance_to_host``; their slots
are counted, and then filled by Nova.
"""

from collections.abc import Iterator

from kronos.engine.settings import Settings
from kronos.engine.slots import counting, flavors, numa_facts
from kronos.engine.slots.numa_facts import NodeHosts
from kronos.engine.types import Flavor
from tests.functional.nova import numa_base
from tests.functional.nova.numa_base import flavor
from tests.functional.nova.numa_cloud import NovaCloud


def mix(pinned: bool) -> list[Flavor]:
    return [
        flavor(2, 2000, 1, pinned),
        flavor(4, 4000, 1, pinned),
        flavor(4, 9000, 1, pinned),
        flavor(8, 8000, 2, pinned),
    ]


def wanted(pinned: bool) -> list[Flavor]:
    return [
        flavor(6, 6000, 1, pinned),
        flavor(8, 8000, 1, pinned),
        flavor(12, 12000, 2, pinned),
    ]


class TestSlots(numa_base.NumaTestCase):
    HOSTS = 'abcdef'
    SEEDS = 6

    def clouds(self, pinned: bool, nodes: int) -> Iterator[NovaCloud]:
        for packing in (False, True):
            yield from self.filled(nodes, packing, pinned, mix(pinned))

    def test_counted(self) -> None:
        """Every slot that is counted stands, and no other one does."""
        total = 0
        for pinned in (True, False):
            for nodes in (2, 4):
                for cloud in self.clouds(pinned, nodes):
                    total += self.compare(cloud, pinned)
        self.assertGreater(total, 500)

    def compare(self, cloud: NovaCloud, pinned: bool) -> int:
        total = 0
        servers = {**cloud.servers}
        for each in wanted(pinned):
            snapshot = cloud.snapshot({})
            slots = counting.count(snapshot, flavors.of(each), Settings())
            self.assertEqual({}, slots.closed)
            self.assertEqual(slots.total, cloud.slots(each), each)
            total += slots.total
            for uuid in {*cloud.servers} - {*servers}:
                cloud.delete(uuid)
        return total

    def test_nodes(self) -> None:
        """The node of a further server is the one that Nova chooses."""
        for cloud in self.clouds(True, 4):
            snapshot = cloud.snapshot({})
            for host in self.HOSTS:
                facts = numa_facts.of(snapshot.beside.values())
                nodes = NodeHosts(snapshot, facts).used(host)
                for each in (*mix(True), *wanted(True)):
                    topology = cloud.fit(each, host)
                    demand = flavors.of(each).numa
                    assert demand is not None
                    chosen = topology and tuple(
                        cell.id for cell in topology.cells
                    )
                    self.assertEqual(chosen, nodes.choice(demand), each)
