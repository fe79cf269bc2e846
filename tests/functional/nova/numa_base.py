# SPDX-License-Identifier: Apache-2.0
"""Random clouds that Nova's own ``numa_fit_instance_to_host`` fills."""

import logging
import random
from collections.abc import Iterator, Sequence

import fixtures
import nova.conf
from oslo_config import fixture
from oslotest import base

from kronos.engine.slots.numa_nodes import NodeLayout
from kronos.engine.types import Flavor
from tests.functional.nova.numa_cloud import NovaCloud


def flavor(cpus: int, memory_mb: int, nodes: int, pinned: bool) -> Flavor:
    """A flavor of dedicated CPUs, or of shared ones.

    :param nodes: 0: it has no NUMA topology
    """
    specs = {'hw:numa_nodes': f'{nodes}'} if nodes else {}
    if pinned:
        specs['hw:cpu_policy'] = 'dedicated'
    name = f'f{cpus}-{memory_mb}-{nodes}'
    return Flavor(name, name, cpus, memory_mb, extra_specs=specs)


class NumaTestCase(base.BaseTestCase):
    """Hosts, named by a letter each, have nodes of 12 CPUs and 20,000 MiB."""

    HOSTS = ''
    SEEDS = 0

    def setUp(self) -> None:
        super().setUp()
        self.useFixture(fixtures.FakeLogger('nova', level=logging.WARNING))
        self.nova = self.useFixture(fixture.Config(nova.conf.CONF))

    def filled(
        self, nodes: int, packing: bool, pinned: bool, mix: Sequence[Flavor]
    ) -> Iterator[NovaCloud]:
        """A cloud for each seed, filled with servers of some flavors."""
        self.nova.config(
            packing_host_numa_cells_allocation_strategy=packing,
            group='compute',
        )
        for seed in range(self.SEEDS):
            cloud = NovaCloud(
                NodeLayout(nodes, 12, 20_000, packing),
                self.HOSTS,
                pinned,
                1.0 if pinned else 1.5,
            )
            cloud.fill(mix, random.Random(seed))
            yield cloud
