# SPDX-License-Identifier: Apache-2.0
"""What a cell drain asks Nova for, at the wire."""

from typing import Any

from kronos.clients.nova.cell_listings import CellListings
from kronos.engine.types import Flavor
from tests.fakes.keystone import NOVA
from tests.unit.clients.nova.test_client import SERVERS, NovaTestCase, server
from tests.unit.clients.nova.test_live_migration import MIGRATIONS
from tests.unit.clients.nova.test_rows import LATER, migration

FLAVORS = f'{NOVA}/flavors/detail'
SHARES = f'{NOVA}/servers/vm/shares'


def flavor(name: str, **more: Any) -> dict[str, Any]:
    return {
        'id': f'id-{name}',
        'name': name,
        'vcpus': 2,
        'ram': 2048,
        'disk': 20,
        'OS-FLV-EXT-DATA:ephemeral': 0,
        'swap': 0,
        'extra_specs': {},
        **more,
    }


def cold(uuid: str, **more: Any) -> dict[str, Any]:
    return migration(uuid=uuid, migration_type='migration') | more


class TestListings(NovaTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.listings = CellListings(self.nova.api)

    def test_flavors(self) -> None:
        """Private ones too; older Novas write no swap as ''."""
        rows = [
            flavor('m1', swap=512, extra_specs={'hw:x': 'y'}),
            flavor('m2', **{'OS-FLV-EXT-DATA:ephemeral': 5, 'swap': ''}),
        ]
        self.wire.get(
            FLAVORS, [{'json': {'flavors': rows}}, {'json': {'flavors': []}}]
        )
        self.assertEqual(
            [
                Flavor('id-m1', 'm1', 2, 2048, 20, 0, 512, {'hw:x': 'y'}),
                Flavor('id-m2', 'm2', 2, 2048, 20, 5),
            ],
            self.listings.flavors(),
        )
        asked = self.keystone.requests('/flavors/detail')[0]
        self.assertEqual(['none'], asked.qs['is_public'])

    def test_one_flavor(self) -> None:
        url = f'{NOVA}/flavors/id-m1'
        self.wire.get(url, json={'flavor': flavor('m1')})
        self.assertEqual(
            Flavor('id-m1', 'm1', 2, 2048, 20), self.listings.flavor('id-m1')
        )
        self.wire.get(url, status_code=404)
        self.assertIsNone(self.listings.flavor('id-m1'))
        self.wire.get(url, status_code=403)
        self.fails(self.listings.flavor, 'id-m1')

    def test_quotas(self) -> None:
        """What is reserved is used; -1 is no limit."""
        self.wire.get(
            f'{NOVA}/os-quota-sets/p1/detail',
            json={
                'quota_set': {
                    'id': 'p1',
                    'cores': {'limit': 20, 'in_use': 12, 'reserved': 1},
                    'ram': {'limit': -1, 'in_use': 12, 'reserved': 0},
                    'instances': {'limit': 1, 'in_use': 1, 'reserved': 0},
                }
            },
        )
        self.assertEqual({'cores': 7}, self.listings.quota_left('p1'))

    def test_shares(self) -> None:
        for answer, expected in (
            ({'json': {'shares': [{'share_id': 's', 'status': 'active'}]}},
             True),
            ({'json': {'shares': []}}, False),
            ({'status_code': 404, 'json': {}}, False),
        ):  # fmt: skip
            self.wire.get(SHARES, **answer)
            self.assertIs(expected, self.listings.has_shares('vm'))

    def test_shares_are_not_known(self) -> None:
        self.wire.get(SHARES, status_code=403, json={})
        error = self.fails(self.listings.has_shares, 'vm')
        self.assertEqual(403, error.kwargs['status'])

    def test_keys(self) -> None:
        """The release that keeps them is known by its microversion."""
        self.assertFalse(self.listings.loses_keys())

    def test_offloaded(self) -> None:
        """Nova may ignore a filter that it does not know."""
        rows = [
            server('vm1', status='SHELVED_OFFLOADED'),
            server('vm2', status='ACTIVE'),
        ]
        self.wire.get(
            SERVERS, [{'json': {'servers': rows}}, {'json': {'servers': []}}]
        )
        self.assertEqual({'vm1': rows[0]['name']}, self.listings.offloaded())

    def migrations(self, *rows: Any) -> None:
        self.wire.get(
            MIGRATIONS,
            [{'json': {'migrations': [*rows]}}, {'json': {'migrations': []}}],
        )

    def test_cold_migrations(self) -> None:
        """Each once, though both cells have a row of it."""
        self.migrations(
            cold('m1', status='confirmed'),
            cold('m2', status='finished', created_at=LATER),
            cold('m1', status='confirmed'),
            cold('m3', migration_type='live-migration'),
        )
        result = self.listings.cold_migrations('vm')
        self.assertEqual(['m2', 'm1'], [one.uuid for one in result])
        asked = self.keystone.requests('/os-migrations')[0]
        self.assertEqual(['vm'], asked.qs['instance_uuid'])

    def test_unconfirmed(self) -> None:
        """Nova may ignore a filter that it does not know."""
        self.migrations(
            cold('m1', status='finished', migration_type='resize'),
            cold('m2', status='migrating'),
        )
        [one] = self.listings.unconfirmed()
        self.assertEqual(
            ('m1', 'vm', 'cmp1', 'cmp2'),
            (one.uuid, one.instance, one.source, one.destination),
        )
        asked = self.keystone.requests('/os-migrations')[0]
        self.assertEqual(['finished'], asked.qs['status'])


class TestKeysOfAnOlderNova(NovaTestCase):
    newest = '2.103'

    def test_lost(self) -> None:
        self.assertTrue(CellListings(self.nova.api).loses_keys())
