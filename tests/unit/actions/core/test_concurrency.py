# SPDX-License-Identifier: Apache-2.0
"""Is no limit on moves under way ever passed?"""

import logging
import math
import time

import fixtures

from kronos.actions.core import concurrency
from kronos.common import exceptions
from tests.fakes.small_cloud import cloud
from tests.unit.actions.live import base


class _Row(cloud.Migration):
    """A migration of another type."""

    kind = 'resize'

    def row(self):
        return {**super().row(), 'migration_type': self.kind}


class TrafficTestCase(base.MoveTestCase):
    """h1 and h2 are of the scope, h3 is in no aggregate."""

    def why(self, *others, clock=time.time):
        found = concurrency.Concurrency(
            self.client, self.task, self.settings.limits, clock
        )
        found.look()
        return found.why_wait(list(others))


class LimitTestCase(TrafficTestCase):
    def test_nothing_is_under_way(self):
        self.assertEqual('', self.why())

    def test_one_out_of_the_source(self):
        self.move_by_hand(self.add_server(2, 'h1'), 'h3')
        self.assertEqual('1 under way out of h1, of at most 1', self.why())

    def test_two_into_the_destination(self):
        self.move_by_hand(self.add_server(2, 'h3'), 'h2')
        self.assertEqual('', self.why())
        self.cloud.hosts.append('h4')
        self.move_by_hand(self.add_server(3, 'h4'), 'h2')
        self.assertEqual('2 under way into h2, of at most 2', self.why())

    def test_in_the_scope_at_either_end(self):
        self.settings.limits.in_scope = 1
        self.move_by_hand(self.add_server(2, 'h2'), 'h3')
        self.assertEqual('1 under way in alpha, of at most 1', self.why())

    def test_outside_of_the_scope(self):
        self.settings.limits.in_scope = 1
        self.cloud.hosts.append('h4')
        self.move_by_hand(self.add_server(2, 'h3'), 'h4')
        self.assertEqual('', self.why())

    def test_unassigned_are_the_hosts_of_no_aggregate(self):
        self.settings.limits.in_scope = 1
        self.task.aggregate = '_unassigned_'
        self.move_by_hand(self.add_server(2, 'h2'), 'h1')
        self.assertEqual('', self.why())
        self.move_by_hand(self.add_server(3, 'h3'), 'h1')
        self.assertIn('in _unassigned_', self.why())

    def test_its_own_migration_is_none_of_the_others(self):
        self.move_by_hand(self.instance, 'h2')
        late = time.time() + 2 * concurrency.LEFT_BEHIND_SECONDS
        self.assertEqual('', self.why(clock=lambda: late))

    def test_nova_away(self):
        self.cloud.down.add(('GET', '/nova/v2.1/os-migrations'))
        self.assertRaises(exceptions.NovaClientError, self.why)


class ClaimTestCase(TrafficTestCase):
    def test_out_of_the_source(self):
        self.assertIn('out of h1', self.why(self.slot(source='h1')))

    def test_into_the_destination(self):
        one = self.slot('one more', destination='h2')
        self.assertEqual('', self.why(one))
        two = self.slot('and one', destination='h2')
        self.assertIn('2 under way into h2', self.why(one, two))

    def test_of_the_scope_wherever_its_hosts_are_now(self):
        self.settings.limits.in_scope = 1
        self.assertIn('in alpha', self.why(self.slot(scope='alpha')))

    def test_of_another_scope_on_a_host_of_this_one(self):
        self.settings.limits.in_scope = 1
        self.assertIn('in alpha', self.why(self.slot(destination='h2')))

    def test_that_is_over(self):
        self.assertEqual('', self.why(self.slot(source='h1', is_held=False)))

    def test_the_same_instance_counts_once(self):
        """Its slot and its migration are the same move."""
        self.settings.limits.into_host = 2
        other = self.add_server(2, 'h3')
        self.move_by_hand(other, 'h2')
        slot = self.slot(other.uuid, 'h3', 'h2')
        self.assertEqual('', self.why(slot))
        self.assertIn('into h2', self.why(slot, self.slot('x', 'h9', 'h2')))

    def test_another_action_for_the_same_instance(self):
        """It holds its turn, and Nova has not been asked yet."""
        self.assertIn('out of h1', self.why(self.slot(base.UUID, 'h1', 'h2')))


class OwnPlanTestCase(TrafficTestCase):
    """Moves of the same plan."""

    def setUp(self):
        super().setUp()
        self.now = time.time()
        self.found = concurrency.Concurrency(
            self.client,
            self.task,
            self.settings.limits,
            lambda: self.now,
        )
        self.found.look()

    def own(self, instance='first', *ends, **more):
        fields = {'scope': 'alpha', 'is_own_plan': True, **more}
        return self.slot(instance, *ends, **fields)

    def ahead(self, instance='first', *ends, **more):
        fields = {
            'is_ahead': True,
            'is_held': False,
            'since': math.inf,
            **more,
        }
        return self.own(instance, *ends, **fields)

    def test_it_knows_that_it_waits_for_its_plan(self):
        for other, is_own in (
            (self.own(source='h1'), True),
            (self.slot(source='h1'), False),
        ):
            self.assertIn('out of h1', self.found.why_wait([other]))
            self.assertEqual(is_own, self.found.is_behind)
        self.assertEqual('', self.found.why_wait([]))
        self.assertFalse(self.found.is_behind)

    def test_that_is_known_without_nova(self):
        self.cloud.down.add(('GET', '/nova/v2.1'))
        why = self.found.why_behind
        self.assertIn('out of h1', why([self.own(source='h1')]))
        self.settings.limits.in_scope = 1
        self.assertIn('in alpha', why([self.own('x', 'h7', 'h8')]))
        for other in (
            self.slot(source='h1'),
            self.own(source='h1', is_held=False),
            self.own(source='h1', scope='beta'),
            self.ahead('first', 'h1', 'h3'),
        ):
            self.assertEqual('', why([other]))

    def test_the_first_of_the_plan_that_can_begin_goes_first(self):
        """For as long as it may take to find out that it can."""
        other = self.ahead('first', 'h1', 'h3')
        why = 'the move of first in its plan goes first'
        self.assertEqual(why, self.found.why_wait([other]))
        self.assertTrue(self.found.is_behind)
        self.now += 9
        self.assertEqual(why, self.found.why_wait([other]))
        self.now += 1
        self.assertEqual('', self.found.why_wait([other]))
        self.assertFalse(self.found.is_behind)

    def test_its_patience_begins_anew(self):
        """When there was nothing to begin meanwhile."""
        other = self.ahead('first', 'h1', 'h3')
        self.found.why_wait([other])
        self.now += 9
        self.assertIn('out of', self.found.why_wait([self.own(source='h1')]))
        self.now += 9
        self.assertIn('goes first', self.found.why_wait([other]))

    def test_one_that_cannot_begin_is_not_waited_for(self):
        busy = self.own('busy', 'h9', 'h3')
        self.settings.limits.into_host = 1
        self.settings.limits.in_scope = 9
        first = self.ahead('first', 'h1', 'h3')
        self.assertEqual('', self.found.why_wait([busy, first]))

    def test_one_that_takes_nothing_away_is_not_waited_for(self):
        first = self.ahead('first', 'h7', 'h8')
        self.assertEqual('', self.found.why_wait([first]))
        self.settings.limits.in_scope = 1
        self.assertIn('goes first', self.found.why_wait([first]))

    def test_several_take_what_is_left(self):
        self.settings.limits.in_scope = 9
        one, two = (self.ahead(n, n, 'h2') for n in ('h7', 'h8'))
        self.assertEqual('', self.found.why_wait([one]))
        self.assertIn('of h8 in its', self.found.why_wait([one, two]))

    def test_those_of_another_scope_do_not_count(self):
        first = self.ahead('first', 'h1', 'h3', scope='beta')
        self.assertEqual('', self.found.why_wait([first]))

    def test_it_is_no_start(self):
        self.settings.limits.stagger_seconds = 60
        first = self.ahead('first', 'h7', 'h8')
        self.assertEqual('', self.found.why_wait([first]))


class LeftBehindTestCase(TrafficTestCase):
    """A killed nova-compute leaves rows that nobody ends."""

    def leave(self, task_state=None):
        other = self.add_server(2, 'h1')
        self.move_by_hand(other, 'h3')
        other.task_state = task_state
        return other

    def why_later(self, seconds):
        return self.why(clock=lambda: time.time() + seconds)

    def test_does_not_count(self):
        self.leave()
        self.assertEqual('', self.why_later(120))

    def test_counts_for_a_while(self):
        """Nova may be about to say how it ended."""
        self.leave()
        self.assertIn('out of h1', self.why_later(30))

    def test_counts_while_the_server_is_busy(self):
        self.leave('migrating')
        self.assertIn('out of h1', self.why_later(7200))

    def test_is_stuck(self):
        """For a day it holds the scope, then its hosts alone."""
        self.leave('migrating')
        day = self.settings.limits.stuck_seconds
        self.assertIn('out of h1', self.why_later(day + 120))
        self.settings.limits.out_of_host = 2
        self.settings.limits.in_scope = 1
        self.assertIn('in alpha', self.why_later(day - 120))
        log = self.useFixture(fixtures.FakeLogger(level=logging.WARNING))
        self.assertEqual('', self.why_later(day + 120))
        self.assertIn('from h1 to h3 is stuck', log.output)

    def test_of_a_server_that_is_gone(self):
        other = self.leave('migrating')
        row = self.cloud.migrations[-1].row()
        self.reply(
            'GET',
            f'{base.NOVA}/os-migrations',
            lambda query: {'migrations': [row]},
        )
        del self.cloud.servers[other.uuid]
        self.assertEqual('', self.why_later(120))


class OtherTypesTestCase(TrafficTestCase):
    def start(self, kind, status, task):
        other = self.add_server(2, 'h1', task_state=task)
        row = _Row(
            id=7,
            uuid='b0000000-0000-0000-0000-000000000007',
            request='',
            server=other,
            source='h1',
            destination='h3',
            script=[status],
            began=time.time() - 3600,
            updated=time.time() - 3600,
        )
        row.kind = kind
        self.cloud.migrations.append(row)

    def test_a_resize_counts(self):
        self.start('resize', 'migrating', 'resize_migrating')
        self.assertIn('out of h1', self.why())

    def test_a_resize_does_not_count_in_the_scope(self):
        """Tenants resize all the time: nobody else would have a turn."""
        self.settings.limits.in_scope, self.settings.limits.out_of_host = 1, 2
        self.start('resize', 'migrating', 'resize_migrating')
        self.assertEqual('', self.why())

    def test_a_cold_migration_counts_there(self):
        self.settings.limits.in_scope, self.settings.limits.out_of_host = 1, 2
        self.start('migration', 'migrating', 'resize_migrating')
        self.assertIn('in alpha', self.why())

    def test_a_cold_migration_counts(self):
        self.start('migration', 'pre-migrating', 'resize_prep')
        self.assertIn('out of h1', self.why())

    def test_an_evacuation_counts(self):
        self.start('evacuation', 'accepted', 'rebuilding')
        self.assertIn('out of h1', self.why())

    def test_a_resize_that_waits_for_its_confirmation_does_not(self):
        self.start('resize', 'finished', None)
        self.assertEqual('', self.why())


class StaggerTestCase(TrafficTestCase):
    def setUp(self):
        super().setUp()
        self.settings.limits.stagger_seconds = 60
        self.settings.limits.in_scope = 9

    def why(self, *others):
        return super().why(*others, clock=lambda: 1000.0)

    def test_nobody_has_started(self):
        self.assertEqual('', self.why())

    def test_too_soon(self):
        self.assertEqual(
            'the last one in alpha started 59 s ago, and stagger_seconds is '
            '60',
            self.why(self.slot(scope='alpha', since=941.0)),
        )

    def test_soon_enough(self):
        self.assertEqual('', self.why(self.slot(scope='alpha', since=940.0)))

    def test_the_start_of_one_that_is_over_counts(self):
        one = self.slot(scope='alpha', since=990.0, is_held=False)
        self.assertIn('started 10 s ago', self.why(one))

    def test_the_latest_start_counts(self):
        others = [
            self.slot(str(at), scope='alpha', since=at, is_held=False)
            for at in (980.0, 990.0, 930.0)
        ]
        self.assertIn('started 10 s ago', self.why(*others))

    def test_a_clock_that_is_ahead(self):
        """No later than the slot was first seen, whatever it says."""
        ahead = self.slot(scope='alpha', since=4600.0)
        now = [1000.0]
        found = concurrency.Concurrency(
            self.client, self.task, self.settings.limits, lambda: now[0]
        )
        found.look()
        self.assertIn('started 0 s ago', found.why_wait([ahead]))
        now[0] = 1059.0
        self.assertIn('started 59 s ago', found.why_wait([ahead]))
        now[0] = 1060.0
        self.assertEqual('', found.why_wait([ahead]))

    def test_a_clock_that_is_ahead_without_a_stagger(self):
        self.settings.limits.stagger_seconds = 0
        self.assertEqual('', self.why(self.slot(scope='alpha', since=4600.0)))

    def test_another_scope_does_not(self):
        self.assertEqual('', self.why(self.slot(since=999.0)))
