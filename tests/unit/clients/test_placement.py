# SPDX-License-Identifier: Apache-2.0
"""The Placement client at the wire."""

from typing import Any

from oslotest import base

from kronos.clients import cloud, placement
from kronos.common import exceptions
from kronos.engine.types import Headroom
from tests.unit.clients import keystone
from tests.unit.clients.keystone import PLACEMENT

PROVIDERS = f'{PLACEMENT}/resource_providers'
CANDIDATES = f'{PLACEMENT}/allocation_candidates'


def provider(name: str, root: str = '') -> dict[str, Any]:
    uuid = f'uuid-{name}'
    return {
        'uuid': uuid,
        'name': name,
        'root_provider_uuid': f'uuid-{root or name}',
    }


def summary(**resources: tuple[int, int]) -> dict[str, Any]:
    return {
        'resources': {
            name: {'capacity': capacity, 'used': used}
            for name, (capacity, used) in resources.items()
        },
        'traits': ['HW_CPU_X86_AVX2', 'COMPUTE_NODE'],
    }


class TestHeadroom(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.keystone = self.useFixture(keystone.Keystone())
        self.wire = self.keystone.wire
        self.slept: list[float] = []
        self.client = placement.PlacementClient(
            cloud.connect(self.keystone.session, 'one').placement,
            sleep=self.slept.append,
        )

    def cloud(
        self,
        providers: list[dict[str, Any]],
        by_memory: dict[str, Any],
        by_vcpu: dict[str, Any],
    ) -> None:
        self.wire.get(PROVIDERS, json={'resource_providers': providers})
        for resource, summaries in (
            ('MEMORY_MB', by_memory),
            ('VCPU', by_vcpu),
        ):
            self.wire.get(
                f'{CANDIDATES}?resources={resource}:1',
                json={'provider_summaries': summaries},
            )

    def asked(self) -> list[Any]:
        return self.keystone.requests('/allocation_candidates')

    def test_all_have_room(self) -> None:
        self.cloud(
            [provider('cmp1'), provider('cmp2')],
            {
                'uuid-cmp1': summary(VCPU=(64, 10), MEMORY_MB=(1000, 100)),
                'uuid-cmp2': summary(VCPU=(32, 0), MEMORY_MB=(500, 0)),
            },
            {},
        )
        rooms = self.client.headroom()
        self.assertEqual({'cmp1', 'cmp2'}, set(rooms))
        headroom, traits = rooms['cmp1']
        self.assertEqual(
            {'VCPU': Headroom(64, 10), 'MEMORY_MB': Headroom(1000, 100)},
            headroom,
        )
        self.assertEqual(['COMPUTE_NODE', 'HW_CPU_X86_AVX2'], traits)
        (candidates,) = self.asked()
        (listing,) = self.keystone.requests('/resource_providers')
        self.assertEqual({'required': ['compute_node']}, listing.qs)
        for request in (candidates, listing):
            self.assertEqual(
                'placement 1.36', request.headers['OpenStack-API-Version']
            )

    def test_full_hosts(self) -> None:
        self.cloud(
            [provider('room'), provider('no-memory'), provider('nothing')],
            {'uuid-room': summary(VCPU=(64, 1), MEMORY_MB=(100, 1))},
            {
                'uuid-room': summary(VCPU=(64, 1), MEMORY_MB=(100, 1)),
                'uuid-no-memory': summary(VCPU=(64, 1), MEMORY_MB=(80, 80)),
            },
        )
        rooms = self.client.headroom()
        self.assertEqual(Headroom(80, 80), rooms['no-memory'][0]['MEMORY_MB'])
        self.assertEqual(
            {
                'VCPU': Headroom(0, 0),
                'MEMORY_MB': Headroom(0, 0),
                'DISK_GB': Headroom(0, 0),
            },
            rooms['nothing'][0],
        )
        self.assertEqual(2, len(self.asked()))

    def test_only_roots_of_computes(self) -> None:
        self.cloud(
            [provider('cmp1'), provider('cmp1_GPU', root='cmp1')],
            {
                'uuid-cmp1': summary(VCPU=(64, 10)),
                'uuid-cmp1_GPU': summary(VGPU=(8, 0)),
                'uuid-storage': summary(DISK_GB=(9000, 0)),
            },
            {},
        )
        rooms = self.client.headroom()
        self.assertEqual({'cmp1'}, set(rooms))
        self.assertEqual({'VCPU': Headroom(64, 10)}, rooms['cmp1'][0])

    def test_calls_do_not_grow_with_hosts(self) -> None:
        names = [f'cmp{number}' for number in range(2000)]
        self.cloud([provider(name) for name in names], {}, {})
        self.assertEqual(2000, len(self.client.headroom()))
        self.assertEqual(2, len(self.asked()))

    def test_it_comes_back(self) -> None:
        self.cloud([], {}, {})
        self.wire.get(
            PROVIDERS,
            [{'status_code': 503}, {'json': {'resource_providers': []}}],
        )
        self.assertEqual({}, self.client.headroom())
        self.assertEqual([1], self.slept)

    def test_an_error(self) -> None:
        self.wire.get(
            PROVIDERS,
            status_code=400,
            json={'errors': [{'detail': 'No such\ntrait', 'title': 'x'}]},
        )
        error = self.assertRaises(
            exceptions.PlacementClientError, self.client.headroom
        )
        self.assertEqual(
            'Placement: GET /resource_providers: HTTP 400: No such trait',
            str(error),
        )
