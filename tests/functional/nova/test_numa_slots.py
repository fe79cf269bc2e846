# SPDX-License-Identifier: Apache-2.0
"""Are the slots of NUMA flavors those that Nova's own code gives?

Random clouds are filled by Nova's ``numa_fit_instance_to_host``; their slots
are counted, and then filled by Nova.
"""

import logging
import random
from collections.abc import Iterator

import fixtures
import nova.conf
from oslo_config import fixture
from oslotest import base

from kronos.engine.settings import Settings
from kronos.engine.slots import counting, flavors, numa_facts
from kronos.engine.slots.numa_facts import NodeHosts
from kronos.engine.slots.numa_nodes import NodeLayout
from kronos.engine.types import Flavor
from tests.functional.nova.numa_cloud import NovaCloud

SEEDS = range(6)
HOSTS = 'abcdef'


def flavor(cpus: int, memory_mb: int, nodes: int, pinned: bool) -> Flavor:
    specs = {'hw:numa_nodes': f'{nodes}'}
    if pinned:
        specs['hw:cpu_policy'] = 'dedicated'
    name = f'f{cpus}-{memory_mb}-{nodes}'
    return Flavor(name, name, cpus, memory_mb, extra_specs=specs)


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


class TestSlots(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.useFixture(fixtures.FakeLogger('nova', level=logging.WARNING))
        self.nova = self.useFixture(fixture.Config(nova.conf.CONF))

    def clouds(self, pinned: bool, nodes: int) -> Iterator[NovaCloud]:
        for packing in (False, True):
            self.nova.config(
                packing_host_numa_cells_allocation_strategy=packing,
                group='compute',
            )
            for seed in SEEDS:
                cloud = NovaCloud(
                    NodeLayout(nodes, 12, 20_000, packing),
                    HOSTS,
                    pinned,
                    1.0 if pinned else 1.5,
                )
                cloud.fill(mix(pinned), random.Random(seed))
                yield cloud

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
            for host in HOSTS:
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
