# SPDX-License-Identifier: Apache-2.0
"""Is every host in the cell that the operator told, or in none?"""

import fixtures
from oslotest import base

from kronos.clients.nova.rows import HostAggregate
from kronos.engine.types import ComputeService, Host
from kronos.snapshots import cells
from kronos.snapshots.cells import CellSource
from tests.unit.clients.nova.test_client import (
    AGGREGATES,
    SERVICE,
    SERVICES,
    NovaTestCase,
    aggregate,
)
from tests.unit.snapshots.test_collector import CollectTestCase


def marked(number: int, name: str, cell: str, *hosts: str) -> HostAggregate:
    metadata = {'kronos:cell': cell} if cell else {'ssd': 'true'}
    return HostAggregate(number, name, hosts=list(hosts), metadata=metadata)


def zones(**of: str) -> dict[str, ComputeService]:
    return {host: ComputeService(host, zone=zone) for host, zone in of.items()}


class TestFillIn(base.BaseTestCase):
    def fill_in(
        self,
        *aggregates: HostAggregate,
        source: CellSource = CellSource.METADATA,
        services: dict[str, ComputeService] | None = None,
    ) -> dict[str, tuple[str, str]]:
        """By host its cell and why it is frozen."""
        hosts = [Host('a'), Host('b'), Host('c')]
        claims = cells.claims(source, aggregates, services)
        cells.fill_in(source, hosts, claims)
        return {one.name: (one.cell, one.frozen) for one in hosts}

    def test_nobody_told(self) -> None:
        """One cell, as in most clouds."""
        found = self.fill_in(
            marked(1, 'fast', '', 'a'), services=zones(a='az1', b='az2')
        )
        self.assertEqual(dict.fromkeys('abc', ('', '')), found)

    def test_metadata(self) -> None:
        found = self.fill_in(
            marked(1, 'x', 'one', 'a', 'b'),
            marked(2, 'y', 'two', 'c'),
            marked(3, 'z', 'one', 'b'),
            marked(4, 'fast', '', 'a', 'c'),
        )
        self.assertEqual(
            {'a': ('one', ''), 'b': ('one', ''), 'c': ('two', '')}, found
        )

    def test_unmapped(self) -> None:
        """Also where the mapped host is in no scope of this audit."""
        found = self.fill_in(marked(1, 'x', 'one', 'far-away'))
        self.assertEqual({''}, {cell for cell, _ in found.values()})
        for _, frozen in found.values():
            self.assertIn('no known cell', frozen)
            self.assertIn('kronos:cell', frozen)

    def test_a_cell_without_a_host_maps_nothing(self) -> None:
        found = self.fill_in(marked(1, 'x', 'one'))
        self.assertEqual(dict.fromkeys('abc', ('', '')), found)

    def test_two_cells(self) -> None:
        found = self.fill_in(
            marked(1, 'x', 'one', 'a', 'b'), marked(2, 'y', 'two', 'b', 'c')
        )
        self.assertEqual(('one', ''), found['a'])
        self.assertEqual(('two', ''), found['c'])
        self.assertEqual(
            (
                '',
                'it is in more than one cell: one by aggregate x, two by '
                'aggregate y',
            ),
            found['b'],
        )

    def test_zones(self) -> None:
        found = self.fill_in(
            marked(1, 'x', 'one', 'a'),
            source=CellSource.AZ,
            services=zones(a='az1', b='az2', c=''),
        )
        self.assertEqual(('az1', ''), found['a'])
        self.assertEqual(('az2', ''), found['b'])
        self.assertIn('cell_source is az', found['c'][1])

    def test_zones_are_not_known(self) -> None:
        """Nothing moves then in any case."""
        found = self.fill_in(source=CellSource.AZ)
        self.assertEqual(dict.fromkeys('abc', ('', '')), found)


class TestByHost(NovaTestCase):
    def test_metadata(self) -> None:
        """Who is in two cells, or in none, is left out."""
        told = [aggregate(1, 'x', 'a', 'b'), aggregate(2, 'y', 'b', 'c')]
        for one in told:
            one['metadata'] = {'kronos:cell': f'cell {one["name"]}'}
        told.append(aggregate(3, 'z', 'd'))
        self.wire.get(AGGREGATES, json={'aggregates': told})
        self.assertEqual(
            {'a': 'cell x', 'c': 'cell y'},
            cells.by_host(self.nova, CellSource.METADATA),
        )
        self.assertEqual([], self.keystone.requests('/os-services'))

    def test_zones(self) -> None:
        rows = [{**SERVICE, 'host': 'a'}, {**SERVICE, 'host': 'b', 'zone': ''}]
        self.wire.get(SERVICES, json={'services': rows})
        self.assertEqual({'a': 'az1'}, cells.by_host(self.nova, CellSource.AZ))


class TestCollected(CollectTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())

    def test_cells_of_a_scope(self) -> None:
        """What another aggregate of the cloud says counts too."""
        self.aggregates(
            aggregate(1, 'a', 'a1', 'a2', 'ab'),
            aggregate(2, 'b', 'ab', 'b1') | {'metadata': {'kronos:cell': '1'}},
        )
        [snapshot] = self.collect(aggregates=['a'])
        self.assertEqual('1', snapshot.hosts['ab'].cell)
        self.assertEqual('', snapshot.hosts['ab'].frozen)
        self.assertIn('no known cell', snapshot.hosts['a1'].frozen)

    def test_zone_by_wildcard(self) -> None:
        zone = {'availability_zone': 'az1'}
        self.aggregates(
            aggregate(1, 'a', 'a1'),
            aggregate(2, 'b', 'b1') | zone,
            aggregate(3, 'c', 'b2') | zone | {'availability_zone': 'az2'},
        )
        found = self.scopes(availability_zones=['*'])
        self.assertEqual({'b': ['b1'], 'c': ['b2']}, found)
        self.aggregates(aggregate(1, 'a', 'a1'))
        self.assertIn(
            'no availability zone "*"; known: none',
            self.refused(availability_zones=['*']),
        )

    def test_exclusions_of_what_is_gone(self) -> None:
        """They stop no audit, but the log tells of them."""
        [snapshot] = self.collect(
            aggregates=['a'],
            excluded_instances=['vm-a1', 'deleted'],
            excluded_projects=['closed'],
        )
        self.assertIn('excluded', snapshot.instances['vm-a1'].unmovable)
        self.assertEqual('', snapshot.instances['vm-ab'].unmovable)
        self.assertIn('no server: deleted', self.log.output)
        self.assertIn('no server: closed', self.log.output)
        self.assertNotIn('vm-a1', self.log.output)
