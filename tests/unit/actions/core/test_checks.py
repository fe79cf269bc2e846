# SPDX-License-Identifier: Apache-2.0
"""Is a destination refused that has become wrong?"""

import dataclasses
from typing import ClassVar

from kronos.actions.core import checks, concurrency
from kronos.common import exceptions
from tests.unit.actions.live import base


class GroupTestCase(base.MoveTestCase):
    def group(self, policy, *others, most=None):
        rules = {} if most is None else {'max_server_per_host': most}
        self.cloud.groups = [
            {
                'id': 'g1',
                'name': 'db',
                'policy': policy,
                'rules': rules,
                'members': [base.UUID, *(one.uuid for one in others)],
                'metadata': {},
                'project_id': 'project',
                'user_id': 'user',
            }
        ]

    def check(self, *flights, bind=True):
        checks.check_groups(
            self.client,
            self.task,
            flights,
            lambda host: host in ('h1', 'h2'),
            bind,
        )

    def refused(self, words, *flights, bind=True):
        error = self.assertRaises(
            exceptions.PreFlightError, self.check, *flights, bind=bind
        )
        self.assertIn(words, str(error))

    @staticmethod
    def flight(server, destination):
        return concurrency.Flight(server.uuid, server.host, destination)


class ApartTestCase(GroupTestCase):
    def test_a_member_is_there(self):
        self.group('anti-affinity', self.add_server(2, 'h2'))
        self.refused('destination h2: anti-affinity group db has 1 of at most')

    def test_a_member_is_elsewhere(self):
        self.group('anti-affinity', self.add_server(2, 'h3'))
        self.check()

    def test_more_per_host(self):
        two = self.add_server(2, 'h2')
        self.group('anti-affinity', two, most=2)
        self.check()
        self.group('anti-affinity', two, self.add_server(3, 'h2'), most=2)
        self.refused('2 of at most 2')

    def test_a_member_is_on_its_way_there(self):
        other = self.add_server(2, 'h3')
        self.group('anti-affinity', other)
        self.refused('1 of at most 1', self.flight(other, 'h2'))

    def test_one_that_is_on_its_way_from_there_is_there_still(self):
        other = self.add_server(2, 'h2')
        self.group('anti-affinity', other)
        self.refused('1 of at most 1', self.flight(other, 'h3'))

    def test_one_that_arrives_and_is_listed_counts_once(self):
        other = self.add_server(2, 'h2')
        self.group('anti-affinity', other, most=2)
        self.check(self.flight(other, 'h2'))

    def test_soft_rules_bind(self):
        self.group('soft-anti-affinity', self.add_server(2, 'h2'))
        self.refused('soft-anti-affinity group db')

    def test_soft_rules_that_are_weighed_do_not(self):
        self.group('soft-anti-affinity', self.add_server(2, 'h2'))
        self.check(bind=False)

    def test_hard_rules_bind_in_any_case(self):
        self.group('anti-affinity', self.add_server(2, 'h2'))
        self.refused('anti-affinity group db', bind=False)

    def test_a_group_that_is_deleted_meanwhile(self):
        self.group('anti-affinity', self.add_server(2, 'h2'))
        self.cloud.answers['GET', f'{base.NOVA}/os-server-groups'] = [404]
        self.check()

    def test_nova_away(self):
        self.group('anti-affinity', self.add_server(2, 'h2'))
        self.cloud.down.add(('GET', f'{base.NOVA}/os-server-groups'))
        self.assertRaises(exceptions.NovaClientError, self.check)


class TogetherTestCase(GroupTestCase):
    def test_it_would_leave_the_others(self):
        self.group('affinity', self.add_server(2, 'h1'))
        self.refused('has 1 other members elsewhere')

    def test_it_joins_them(self):
        self.group('affinity', self.add_server(2, 'h2'))
        self.check()

    def test_they_are_split(self):
        self.group(
            'affinity', self.add_server(2, 'h1'), self.add_server(3, 'h2')
        )
        self.refused('has 1 other members elsewhere')

    def test_gathering_goes_one_by_one(self):
        """The others follow with the next moves."""
        self.task.phase = 'affinity'
        self.group(
            'affinity', self.add_server(2, 'h1'), self.add_server(3, 'h2')
        )
        self.check()

    def test_gathering_where_nobody_is(self):
        self.task.phase = 'affinity'
        self.group('affinity', self.add_server(2, 'h1'))
        self.refused('elsewhere')

    def test_one_that_is_on_its_way_is_not_there_for_nova(self):
        self.task.phase = 'affinity'
        other = self.add_server(2, 'h1')
        self.group('affinity', other)
        self.refused('elsewhere', self.flight(other, 'h2'))

    def test_one_that_is_about_to_leave(self):
        other = self.add_server(2, 'h2')
        self.group('affinity', other)
        self.refused('elsewhere', self.flight(other, 'h1'))

    def test_outside_of_the_scope(self):
        self.group(
            'affinity', self.add_server(2, 'h3'), self.add_server(3, 'h2')
        )
        self.check()

    def test_a_member_that_is_gone(self):
        other = self.add_server(2, 'h1')
        self.group('soft-affinity', other)
        del self.cloud.servers[other.uuid]
        self.check()

    def test_nova_moves_no_lone_member(self):
        self.group('affinity')
        self.refused('has no other member there, and Nova requires one')

    def test_a_lone_member_of_a_soft_group(self):
        self.group('soft-affinity')
        self.check()

    def test_soft_rules(self):
        self.group('soft-affinity', self.add_server(2, 'h1'))
        self.refused('elsewhere')
        self.check(bind=False)


class RoomTestCase(base.MoveTestCase):
    def check(self, *, resources=('VCPU', 'MEMORY_MB'), required=True):
        settings = dataclasses.replace(
            self.settings, resources=resources, require_headroom=required
        )
        checks.check_room(settings, self.run_of()._context)

    def refused(self, words, **options):
        error = self.assertRaises(
            exceptions.PreFlightError, self.check, **options
        )
        self.assertIn(words, str(error))

    def test_full(self):
        self.cloud.capacities['h2'] = (16, 1023)
        self.refused(
            'destination h2 has no room: it needs 1024 MEMORY_MB, '
            '1023 are free'
        )

    def test_fits_exactly(self):
        self.cloud.capacities['h2'] = (1, 1024)
        self.check()

    def test_what_others_take(self):
        self.cloud.capacities['h2'] = (2, 32768)
        self.add_server(2, 'h2', vcpus=2)
        self.refused('it needs 1 VCPU, 0 are free')

    def test_one_that_is_on_its_way_there_takes_room(self):
        self.cloud.capacities['h2'] = (1, 32768)
        self.move_by_hand(self.add_server(2, 'h3'), 'h2')
        self.refused('VCPU, 0 are free')

    def test_overfull(self):
        self.cloud.capacities['h2'] = (1, 32768)
        self.add_server(2, 'h2', vcpus=4)
        self.refused('VCPU, 0 are free')

    def test_a_class_that_does_not_count(self):
        self.cloud.capacities['h2'] = (0, 1024)
        self.check(resources=['MEMORY_MB'])

    def test_a_class_that_the_host_has_not(self):
        """Nova's scheduler knows where else it may be, say shared."""
        self.with_local_disk(20)
        self.check(resources=['VCPU', 'MEMORY_MB', 'DISK_GB'])

    def with_local_disk(self, size):
        real = self.cloud.server_row

        def row(one):
            found = real(one)
            return {**found, 'flavor': {**found['flavor'], 'ephemeral': size}}

        self.cloud.server_row = row

    def with_disk(self, size):
        real = self.cloud.capacity_of
        self.cloud.capacity_of = lambda host: {**real(host), 'DISK_GB': size}

    def test_check_disk(self):
        self.with_local_disk(20)
        self.with_disk(19)
        self.check()
        self.refused(
            'it needs 20 DISK_GB, 19 are free',
            resources=['VCPU', 'MEMORY_MB', 'DISK_GB'],
        )

    def test_a_host_that_placement_does_not_know(self):
        self.reply(
            'GET',
            '/placement/resource_providers',
            lambda query: {'resource_providers': []},
        )
        self.refused('Placement shows no inventory of h2')
        self.check(required=False)

    def test_placement_away(self):
        self.cloud.down.add(('GET', '/placement'))
        error = self.assertRaises(exceptions.PlacementClientError, self.check)
        self.assertTrue(error.kwargs['transient'])

    def test_gone_meanwhile(self):
        del self.cloud.servers[base.UUID]
        self.fails(
            exceptions.StaleTask, 'the instance is gone', run=self.check
        )


class AllocationsTestCase(base.MoveTestCase):
    """What was left wrong is not moved on."""

    SIZE: ClassVar = {'VCPU': 1, 'MEMORY_MB': 1024}

    def check(self):
        checks.check_allocations(self.run_of()._context, self.task)

    def test_on_the_source(self):
        self.check()

    def test_shared_disks_are_no_host(self):
        self.cloud.leftovers[base.UUID] = {'h3': {'DISK_GB': 10}}
        self.check()

    def test_on_two_hosts(self):
        self.cloud.leftovers[base.UUID] = {'h3': self.SIZE}
        self.fails(
            exceptions.PreFlightError,
            'Placement has its allocations on h1.example.org and '
            'h3.example.org instead of h1.example.org',
            'heal_allocations',
            run=self.check,
        )

    def test_on_another_host(self):
        """A nova-compute that was killed has left them swapped."""
        self.cloud.swapped = {base.UUID: {'h2': self.SIZE}}
        self.fails(exceptions.PreFlightError, 'on h2.ex', run=self.check)

    def test_nowhere(self):
        self.cloud.swapped = {base.UUID: {}}
        self.fails(exceptions.PreFlightError, 'on no host', run=self.check)

    def test_is_asked_before_a_move(self):
        self.cloud.leftovers[base.UUID] = {'h3': self.SIZE}
        self.fails(exceptions.PreFlightError, 'h1.example.org and h3')
        self.assertEqual((0, 0), (self.requests, self.slots.held))


class ExclusionTestCase(base.MoveTestCase):
    """Of the hosts that are at fault only the destination matters."""

    def check(self, **values):
        self.given = None

        def exclusions(hosts):
            self.given = sorted(hosts)
            return values

        self.ask(exclusions)

    def ask(self, exclusions):
        context = dataclasses.replace(
            self.run_of()._context, exclusions=exclusions
        )
        checks.check_exclusion(context, self.task)

    def test_at_fault(self):
        for value, told in ((2.0, '2'), (float('nan'), 'nan')):
            error = self.assertRaises(
                exceptions.PreFlightError, self.check, h2=value
            )
            self.assertEqual(
                'destination h2 takes nothing: exclude_hosts_query gives '
                f'{told} for it',
                str(error),
            )
            self.assertEqual(
                'destination_excluded', error.kwargs['fault'].value
            )

    def test_others_are(self):
        """What leaves a host that is at fault may be what helps it."""
        self.check(h1=1.0, h3=1.0)
        self.assertEqual(['h1', 'h2', 'h3'], self.given)

    def test_there_is_no_query(self):
        calls = len(self.cloud.calls)
        self.ask(None)
        self.assertEqual(calls, len(self.cloud.calls))
