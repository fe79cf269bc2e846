# SPDX-License-Identifier: Apache-2.0
"""The Placement client at the wire."""

from typing import Any

from oslotest import base

from kronos.clients import connection, placement
from kronos.common import exceptions
from kronos.engine.types import Headroom
from tests.fakes import keystone
from tests.fakes.keystone import PLACEMENT

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


class PlacementTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.keystone = self.useFixture(keystone.Keystone())
        self.wire = self.keystone.wire
        self.slept: list[float] = []
        self.client = placement.PlacementClient(
            connection.connect(self.keystone.session, 'one').placement,
            sleep=self.slept.append,
        )


class TestHeadroom(PlacementTestCase):
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


class TestRoom(PlacementTestCase):
    """One host, right before a move to it."""

    def room(
        self,
        inventories: dict[str, Any],
        usages: dict[str, int],
        row: dict[str, Any] | None = None,
    ) -> Any:
        row = row or provider('cmp1')
        self.wire.get(
            f'{PROVIDERS}?name=cmp1', json={'resource_providers': [row]}
        )
        path = f'{PROVIDERS}/uuid-cmp1'
        self.wire.get(f'{path}/inventories', json={'inventories': inventories})
        self.wire.get(f'{path}/usages', json={'usages': usages})
        return self.client.room_on('cmp1')

    def inventory(
        self, total: int, reserved: int = 0, ratio: float = 1.0
    ) -> dict[str, Any]:
        return {
            'total': total,
            'reserved': reserved,
            'allocation_ratio': ratio,
        }

    def test_capacity_and_usage(self) -> None:
        room = self.room(
            {
                'VCPU': self.inventory(8, 0, 16.0),
                'MEMORY_MB': self.inventory(16384, 512, 1.5),
                # Cut off, as Placement itself does: 2.7 are two.
                'DISK_GB': self.inventory(4, 1, 0.9),
                'VGPU': self.inventory(2),
            },
            {'VCPU': 10, 'MEMORY_MB': 1024, 'DISK_GB': 1},
        )
        self.assertEqual(
            {
                'VCPU': Headroom(128, 10),
                'MEMORY_MB': Headroom(23808, 1024),
                'DISK_GB': Headroom(2, 1),
                'VGPU': Headroom(2, 0),
            },
            room,
        )
        self.assertEqual(3, len(self.keystone.requests()) - 1)

    def test_totals(self) -> None:
        """Whatever is reserved, and before the ratio."""
        self.room({'MEMORY_MB': self.inventory(16384, 512, 1.5)}, {})
        self.assertEqual(
            {'MEMORY_MB': (16384, 1.5)}, self.client.inventories.totals('cmp1')
        )

    def test_no_such_provider(self) -> None:
        self.wire.get(PROVIDERS, json={'resource_providers': []})
        self.assertIsNone(self.client.room_on('cmp1'))
        self.assertEqual({}, self.client.inventories.totals('cmp1'))

    def test_a_nested_provider_is_no_host(self) -> None:
        nested = provider('cmp1', root='chassis')
        self.assertIsNone(self.room({}, {}, row=nested))

    def test_it_is_deleted_meanwhile(self) -> None:
        self.room({}, {})
        self.wire.get(f'{PROVIDERS}/uuid-cmp1/usages', status_code=404)
        self.assertIsNone(self.client.room_on('cmp1'))

    def test_placement_says_no(self) -> None:
        self.room({}, {})
        self.wire.get(f'{PROVIDERS}/uuid-cmp1/usages', status_code=403)
        error = self.assertRaises(
            exceptions.PlacementClientError, self.client.room_on, 'cmp1'
        )
        self.assertEqual(403, error.kwargs['status'])


class TestAllocations(PlacementTestCase):
    """What a server or a migration holds, and where."""

    def takes(self, **by_provider: dict[str, int]) -> Any:
        self.wire.get(
            f'{PLACEMENT}/allocations/vm',
            json={
                'allocations': {
                    f'uuid-{name}': {'generation': 1, 'resources': resources}
                    for name, resources in by_provider.items()
                }
            },
        )
        return self.client.allocations_of('vm')

    def tree(self, *rows: dict[str, Any]) -> None:
        for row in rows:
            self.wire.get(
                f'{PROVIDERS}?in_tree={row["uuid"]}',
                json={'resource_providers': list(rows)},
            )

    def test_none(self) -> None:
        self.assertEqual({}, self.takes())

    def test_on_two_hosts(self) -> None:
        self.tree(provider('cmp1'))
        self.tree(provider('cmp2'))
        taken = {'VCPU': 2, 'MEMORY_MB': 512}
        self.assertEqual(
            {'cmp1': taken, 'cmp2': taken}, self.takes(cmp1=taken, cmp2=taken)
        )

    def test_nested_providers(self) -> None:
        """One call per host, whichever of its providers is named first."""
        self.tree(
            provider('numa0', root='cmp1'),
            provider('cmp1'),
            provider('numa1', root='cmp1'),
        )
        result = self.takes(
            numa1={'PCPU': 2}, cmp1={'MEMORY_MB': 512}, numa0={'PCPU': 1}
        )
        self.assertEqual({'cmp1': {'PCPU': 3, 'MEMORY_MB': 512}}, result)
        self.assertEqual(1, len(self.keystone.requests('/resource_providers')))

    def test_a_provider_that_is_deleted_meanwhile(self) -> None:
        """Only one without allocations can be."""
        self.wire.get(PROVIDERS, json={'resource_providers': []})
        self.assertEqual({}, self.takes(gone={'VCPU': 2}))


class TestNames(base.BaseTestCase):
    def test_the_node_that_a_service_host_means(self) -> None:
        for expected, host, nodes in (
            ('cmp1', 'cmp1', ['cmp1', 'cmp1.example.org']),
            ('cmp1.example.org', 'cmp1', ['cmp1.example.org', 'cmp10']),
            ('cmp1', 'cmp1.example.org', ['cmp1', 'cmp2']),
            ('', 'cmp1', ['cmp1.one.org', 'cmp1.two.org']),
            ('', 'cmp1.one.org', ['cmp1.two.org']),
            ('CMP1', 'cmp1', ['CMP1', 'cmp2']),
            ('CMP1.Example.org', 'cmp1', ['CMP1.Example.org']),
            ('Cmp1', 'CMP1.example.org', ['Cmp1']),
            ('', 'cmp1', ['cmp2']),
            ('', 'cmp1', []),
        ):
            with self.subTest(host=host, nodes=nodes):
                self.assertEqual(expected, placement.like(host, nodes))
