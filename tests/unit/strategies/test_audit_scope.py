# SPDX-License-Identifier: Apache-2.0
"""Is an audit's scope read as the operator meant it?"""

import types

from oslotest import base

from kronos.common import exceptions
from kronos.snapshots import collector
from kronos.snapshots.scopes import AggregateRef
from kronos.strategies import audit_scope, parameters


def conf(aggregates=(), pool=False):
    return types.SimpleNamespace(
        aggregates=list(aggregates), include_unassigned_hosts=pool
    )


def compute(*rules):
    return [{'compute': list(rules)}]


GOLD = {'host_aggregates': [{'name': 'gold'}, {'id': 7}]}
GOLDEN = [AggregateRef(name='gold'), AggregateRef(id='7')]
EXCLUDE = {'exclude': [{'compute_nodes': [{'name': 'h1'}]}]}


class RequestTestCase(base.BaseTestCase):
    def request(self, rules, kronos=None, **asked):
        return audit_scope.request(
            rules, parameters.Parameters(**asked), kronos or conf()
        )

    def test_nothing_at_all_is_left_to_the_collector(self):
        self.assertEqual(collector.ScopeRequest(), self.request([]))

    def test_configuration_serves_an_audit_that_names_none(self):
        found = self.request([], conf(['a', 'b'], pool=True))
        self.assertEqual(['a', 'b'], found.aggregates)
        self.assertTrue(found.include_unassigned)

    def test_parameter_replaces_the_configuration(self):
        found = self.request([], conf(['a'], pool=True), aggregates=['b'])
        self.assertEqual(['b'], found.aggregates)
        # The audit said which hosts it means; the pool is not among them.
        self.assertFalse(found.include_unassigned)

    def test_pool_beside_the_configured_aggregates(self):
        found = self.request([], conf(['a']), include_unassigned_hosts=True)
        self.assertEqual(['a'], found.aggregates)
        self.assertTrue(found.include_unassigned)

    def test_parameter_switches_the_configured_pool_off(self):
        found = self.request(
            [], conf(['a'], pool=True), include_unassigned_hosts=False
        )
        self.assertFalse(found.include_unassigned)

    def test_audit_scope_replaces_the_configuration(self):
        found = self.request(compute(GOLD), conf(['a'], pool=True))
        self.assertEqual(GOLDEN, found.aggregates)
        self.assertFalse(found.include_unassigned)

    def test_audit_scope_with_the_pool(self):
        found = self.request(compute(GOLD), include_unassigned_hosts=True)
        self.assertTrue(found.include_unassigned)

    def test_an_id_and_a_name_are_two_things(self):
        for item, ref in (
            ({'id': 5}, AggregateRef(id='5')),
            ({'name': '5'}, AggregateRef(name='5')),
        ):
            found = self.request(
                compute(
                    {'host_aggregates': [item]},
                    {'exclude': [{'host_aggregates': [item]}]},
                )
            )
            self.assertEqual([ref], found.aggregates)
            self.assertEqual([ref], found.excluded_aggregates)

    def test_all_aggregates(self):
        for item in ({'id': '*'}, {'name': '*'}):
            every = {'host_aggregates': [item]}
            self.assertEqual(['*'], self.request(compute(every)).aggregates)

    def test_an_empty_list_does_not_mean_the_configuration(self):
        """Watcher's schema lets it pass."""
        for key in ('host_aggregates', 'availability_zones'):
            for rules in (compute({key: []}), compute(GOLD, {key: []})):
                error = self.assertRaises(
                    exceptions.ScopeError,
                    self.request,
                    rules,
                    conf(['a'], pool=True),
                )
                self.assertIn(f'{key} without an item', str(error))

    def test_what_is_no_list_of_mappings(self):
        """Watcher checks a template's scope only when it is created."""
        for rules, where in (
            ({'host_aggregates': [{'name': 'a'}]}, 'scope'),
            (['gold'], 'scope'),
            ([{'compute': None}], 'compute'),
            (compute({'host_aggregates': None}), 'host_aggregates'),
            (compute({'host_aggregates': ['gold']}), 'host_aggregates'),
            (compute({'exclude': {'instances': []}}), 'exclude'),
            (
                compute({'exclude': [{'instance_metadata': ['x']}]}),
                'instance_metadata',
            ),
        ):
            error = self.assertRaises(
                exceptions.ScopeError, self.request, rules, conf(['a'])
            )
            self.assertIn(f'{where} is no list of mappings', str(error))

    def test_zone(self):
        zone = {'availability_zones': [{'name': 'az1'}]}
        found = self.request(compute(zone), conf(['a'], pool=True))
        self.assertEqual(['az1'], found.availability_zones)
        self.assertEqual([], found.aggregates)
        self.assertFalse(found.include_unassigned)

    def test_given_twice(self):
        error = self.assertRaises(
            exceptions.ScopeError,
            self.request,
            compute(GOLD),
            aggregates=['gold'],
        )
        self.assertIn('one of the two', str(error))

    def test_exclusions_alone_keep_the_configured_aggregates(self):
        found = self.request(compute(EXCLUDE), conf(['a']))
        self.assertEqual(['a'], found.aggregates)
        self.assertEqual(['h1'], found.excluded_hosts)

    def test_exclusions_go_with_the_parameter(self):
        found = self.request(compute(EXCLUDE), aggregates=['b'])
        self.assertEqual(['b'], found.aggregates)
        self.assertEqual(['h1'], found.excluded_hosts)

    def test_every_exclusion(self):
        found = self.request(
            compute(
                GOLD,
                {
                    'exclude': [
                        {'instances': [{'uuid': 'u1'}]},
                        {'compute_nodes': [{'name': 'h1'}, {'name': 'h2'}]},
                        {'host_aggregates': [{'name': 'x'}, {'id': 3}]},
                        {'projects': [{'uuid': 'p1'}]},
                        {
                            'instance_metadata': [
                                {'optimize': False, 'x': None}
                            ]
                        },
                    ]
                },
            )
        )
        self.assertEqual(
            collector.ScopeRequest(
                aggregates=GOLDEN,
                excluded_hosts=['h1', 'h2'],
                excluded_aggregates=[
                    AggregateRef(name='x'),
                    AggregateRef(id='3'),
                ],
                excluded_instances=['u1'],
                excluded_projects=['p1'],
                excluded_metadata=[{'optimize': 'False', 'x': ''}],
            ),
            found,
        )

    def test_unknown_rule(self):
        for rules, hint in (
            ([{'storage': []}], 'known: compute'),
            (
                compute({'hosts': []}),
                'known: host_aggregates, availability_zones, exclude',
            ),
            (
                compute({'host_aggregate': []}),
                'did you mean host_aggregates?',
            ),
            (
                compute({'exclude': [{'compute_node': []}]}),
                'did you mean compute_nodes?',
            ),
        ):
            error = self.assertRaises(
                exceptions.ScopeError, self.request, rules
            )
            self.assertIn(f'does not understand; {hint}', str(error))

    def test_items_without_a_name(self):
        """Watcher's schema lets them pass."""
        for rules, text in (
            ({'host_aggregates': [{}]}, 'host_aggregates without id'),
            ({'availability_zones': [{}]}, 'availability_zones without name'),
            ({'exclude': [{'instances': [{}]}]}, 'instances without uuid'),
            ({'exclude': [{'projects': [{}]}]}, 'projects without uuid'),
            (
                {'exclude': [{'compute_nodes': [{'name': ''}]}]},
                'compute_nodes without name',
            ),
        ):
            error = self.assertRaises(
                exceptions.ScopeError, self.request, compute(rules)
            )
            self.assertIn(text, str(error))
