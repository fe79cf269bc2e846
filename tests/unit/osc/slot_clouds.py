# SPDX-License-Identifier: Apache-2.0
"""A cloud whose slots are counted: three hosts, two in an aggregate."""

from typing import Any

from tests.fakes.keystone import NOVA, PLACEMENT
from tests.unit.clients.nova import test_client
from tests.unit.osc import clouds

FREE = {'c1': (40, 65536), 'c2': (9, 65536), 'c3': (17, 65536)}
"""VCPUs and MiB that are free, by host."""
SIZES = {'f16': (16, 32768), 'f4': (4, 8192), 'numa': (4, 8192)}


class SlotTestCase(clouds.ClientTestCase):
    """Hosts c1 and c2 are in the aggregate a, c3 in none."""

    def setUp(self) -> None:
        super().setUp()
        self.wire = self.keystone.wire
        self.services = {name: 'enabled' for name in FREE}
        for url, answer in (
            (test_client.HYPERVISORS, {'hypervisors': self._hypervisors()}),
            (
                test_client.AGGREGATES,
                {'aggregates': [test_client.aggregate(1, 'a', 'c1', 'c2')]},
            ),
            (f'{NOVA}/flavors/detail', {'flavors': self._flavors()}),
            (f'{PLACEMENT}/resource_providers', self._providers()),
            (f'{PLACEMENT}/allocation_candidates', self._candidates()),
        ):
            self.wire.get(url, json=answer)
        self.wire.get(test_client.SERVICES, json=self._services)

    def _hypervisors(self) -> list[Any]:
        return [test_client.hypervisor(name) for name in FREE]

    def _services(self, request: Any, context: Any) -> Any:
        rows = [
            test_client.SERVICE | {'host': name, 'status': status}
            for name, status in self.services.items()
        ]
        return {'services': rows}

    def _flavors(self) -> list[Any]:
        return [
            {
                'id': name,
                'name': name,
                'vcpus': vcpus,
                'ram': memory,
                'disk': 10,
                'OS-FLV-EXT-DATA:ephemeral': 0,
                'swap': 0,
                'extra_specs': {'hw:numa_nodes': '1'} if 'n' in name else {},
            }
            for name, (vcpus, memory) in SIZES.items()
        ]

    def _providers(self) -> Any:
        rows = [
            {
                'uuid': name,
                'root_provider_uuid': name,
                'name': f'{name}.example.org',
            }
            for name in FREE
        ]
        return {'resource_providers': rows}

    def _candidates(self) -> Any:
        summaries = {
            name: {
                'resources': {
                    'VCPU': {'capacity': vcpus + 24, 'used': 24},
                    'MEMORY_MB': {'capacity': memory, 'used': 0},
                    'DISK_GB': {'capacity': 15, 'used': 0},
                },
                'traits': ['COMPUTE_NODE'],
            }
            for name, (vcpus, memory) in FREE.items()
        }
        return {'provider_summaries': summaries}
