# SPDX-License-Identifier: Apache-2.0
"""Is a scope what was named, and nothing that merely looks like it?"""

from kronos.engine.types import Instance
from kronos.snapshots import scopes
from kronos.snapshots.scopes import AggregateRef
from tests.unit.clients.nova.test_client import SERVICE, SERVICES, aggregate
from tests.unit.snapshots.test_collector import HOSTS, CollectTestCase


class TestExactly(CollectTestCase):
    """One aggregate's name looks like another one's id."""

    def setUp(self) -> None:
        super().setUp()
        self.aggregates(
            aggregate(5, 'gold', 'a1'),
            aggregate(9, '5', 'b1'),
            aggregate(3, 'both', 'a1', 'b1', 'b2'),
        )

    def test_an_id_is_no_name(self) -> None:
        found = self.scopes(aggregates=[AggregateRef(id='5')])
        self.assertEqual({'gold': ['a1']}, found)

    def test_a_name_is_no_id(self) -> None:
        found = self.scopes(aggregates=[AggregateRef(name='5')])
        self.assertEqual({'5': ['b1']}, found)
        self.assertIn(
            'no aggregate named "9"; known: 5, both, gold',
            self.refused(aggregates=[AggregateRef(name='9')]),
        )

    def test_a_misspelt_name(self) -> None:
        for request in (
            {'aggregates': ['GOLT']},
            {'aggregates': [AggregateRef(name='Gold')]},
            {'aggregates': ['5'], 'excluded_aggregates': ['glod']},
        ):
            text = self.refused(**request)
            self.assertTrue(text.endswith('did you mean gold?'), text)
        text = self.refused(aggregates=['gold'], excluded_hosts=['a11'])
        self.assertTrue(text.endswith('did you mean a1?'), text)

    def test_an_unknown_id(self) -> None:
        """The ids are told, for that is what must be put right."""
        self.assertIn(
            'no aggregate with the id "7"; known: 3 (both), 5 (gold), 9 (5)',
            self.refused(aggregates=[AggregateRef(id='7')]),
        )
        # A uuid is neither id nor name.
        self.refused(aggregates=[AggregateRef(id='uuid-5')])
        self.refused(aggregates=[AggregateRef(name='uuid-5')])

    def test_either_way_where_nothing_tells_them_apart(self) -> None:
        """The parameter takes both; a name goes before an id."""
        found = self.scopes(aggregates=['5', '3'])
        self.assertEqual(['5', 'both'], list(found))

    def test_excluded(self) -> None:
        for ref, left in (
            (AggregateRef(id='5'), ['b1', 'b2']),
            (AggregateRef(name='5'), ['a1', 'b2']),
        ):
            found = self.scopes(aggregates=['both'], excluded_aggregates=[ref])
            self.assertEqual({'both': left}, found)
        self.assertIn(
            'no aggregate named "9"',
            self.refused(
                aggregates=['both'],
                excluded_aggregates=[AggregateRef(name='9')],
            ),
        )

    def test_names_of_hosts_do_not_differ_by_case(self) -> None:
        """Nova takes those of an aggregate, and an operator writes others."""
        self.aggregates(aggregate(1, 'both', 'A1', 'a1', 'B1', 'b2'))
        found = self.scopes(aggregates=['both'], excluded_hosts=['B2'])
        self.assertEqual({'both': ['a1', 'b1']}, found)

    def test_all_excluded(self) -> None:
        found = self.scopes(include_unassigned=True, excluded_aggregates=['*'])
        self.assertEqual(1, len(found))
        self.assertIn(
            '"gold" has no host that may be planned (a1: excluded)',
            self.refused(aggregates=['gold'], excluded_aggregates=['*']),
        )


class TestZones(CollectTestCase):
    """A zone that exists is not called unknown."""

    def setUp(self) -> None:
        super().setUp()
        self.aggregates(
            aggregate(1, 'west', 'a1') | {'availability_zone': 'az1'},
            aggregate(2, 'fast', 'a1', 'b1'),
            aggregate(3, 'spare') | {'availability_zone': 'az1'},
            aggregate(4, 'later') | {'availability_zone': 'az2'},
        )
        zones = {'a1': 'az1'}
        self.wire.get(
            SERVICES,
            json={
                'services': [
                    SERVICE | {'host': host, 'zone': zones.get(host, 'nova')}
                    for host in HOSTS
                ]
            },
        )

    def test_the_default_zone(self) -> None:
        text = self.refused(availability_zones=['nova'])
        self.assertIn('no host aggregate makes the availability zone', text)
        self.assertIn('"nova"', text)
        for remedy in ('host_aggregates', 'include_unassigned_hosts'):
            self.assertIn(remedy, text)
        self.assertNotIn('there is no availability zone', text)

    def test_a_zone_of_nothing(self) -> None:
        self.assertIn(
            'there is no availability zone "east"; known: az1, az2',
            self.refused(availability_zones=['east']),
        )

    def test_an_aggregate_without_a_host(self) -> None:
        """Nobody named it: the others of the zone are planned."""
        for zone in ('az1', '*'):
            found = self.scopes(availability_zones=[zone])
            self.assertEqual({'west': ['a1']}, found)
        self.assertIn(
            'aggregate "later" has no host that may be planned',
            self.refused(availability_zones=['az2']),
        )

    def test_hosts_of_another_type(self) -> None:
        """Why there is nothing to plan, though there are hosts."""
        self.aggregates(aggregate(4, 'metals', 'metal'))
        self.assertIn(
            'no aggregate has a host that may be planned; 1 host is of '
            'a type that is not in hypervisor_types of [kronos]: ironic',
            self.refused(aggregates=[scopes.ALL]),
        )

    def test_the_services_are_not_known(self) -> None:
        """What the zones are then is what the aggregates tell."""
        self.wire.get(SERVICES, status_code=403, json={})
        self.assertIn(
            'there is no availability zone "nova"; known: az1, az2',
            self.refused(availability_zones=['nova']),
        )
        found = self.scopes(availability_zones=['az1'])
        self.assertEqual({'west': ['a1']}, found)


class TestExclusions(CollectTestCase):
    def test_metadata_without_a_value(self) -> None:
        """Only an instance that has the key meets it."""
        request = scopes.ScopeRequest(excluded_metadata=[{'x': ''}])
        for metadata, excluded in (
            ({}, False),
            ({'y': ''}, False),
            ({'x': 'z'}, False),
            ({'x': ''}, True),
        ):
            one = Instance('u', 'a1', metadata=metadata)
            self.assertEqual(
                excluded, bool(scopes.exclusion_of(one, request)), metadata
            )
