# SPDX-License-Identifier: Apache-2.0
"""Does a move wait as it should, and is it right when it begins?"""

import logging

import fixtures

from kronos.actions.core import slots
from kronos.common import exceptions
from tests.unit.actions.live import base


class AdmissionTestCase(base.MoveTestCase):
    def begin(self):
        self.run_of().begin()

    def refused(self, error, *words):
        return self.fails(error, *words, run=self.begin)

    def block(self, until=None):
        """Somebody moves a server out of the source, until a moment."""
        other = self.add_server(2, 'h1')
        migration = self.move_by_hand(other, 'h3')
        self.before = self.requests
        if until is not None:
            self.clock.at(until, lambda: self.end(migration))
        return migration

    def asked(self):
        """What was asked of Nova and Placement."""
        return len(self.cloud.calls)


class TurnTestCase(AdmissionTestCase):
    def test_at_once(self):
        self.begin()
        self.assertTrue(self.slots.held)
        self.assertEqual(1000.0, self.clock.now)
        self.assertEqual([''], self.told)

    def test_waits_for_the_limits(self):
        self.block(until=1500)
        self.begin()
        self.assertEqual([('taken', 1500.0)], self.slots.log)

    def test_tells_while_it_waits(self):
        self.block(until=1200)
        self.begin()
        self.assertEqual(
            'waits: 1 under way out of h1, of at most 1', self.told[0]
        )
        self.assertEqual('', self.told[-1])

    def test_logs_each_reason_once(self):
        """However often it is asked again."""
        log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        self.settings.limits.stagger_seconds = 400
        self.slots.others = [
            self.slot(scope='alpha', since=950.0, is_held=False)
        ]
        self.block(until=1200)
        self.begin()
        waits = [one for one in log.output.splitlines() if ' waits: ' in one]
        self.assertEqual(len(set(waits)), len(waits))
        self.assertEqual(
            1, sum('1 under way out of h1' in one for one in waits)
        )
        self.assertGreater(len(self.told), 3)

    def test_no_turn_in_time(self):
        self.block()
        self.refused(
            exceptions.StaleTask,
            'no turn within 30 min: 1 under way out of h1, of at most 1',
        )
        self.assertEqual(2800.0, self.clock.now)
        self.assertFalse(self.slots.held)
        self.assertEqual(self.before, self.requests)

    def test_other_actions(self):
        """Across plans and appliers."""
        slot = self.slot(source='h1')
        self.slots.others = [slot]
        self.clock.at(1300, self.slots.others.clear)
        self.begin()
        self.assertEqual([('taken', 1300.0)], self.slots.log)

    def test_its_own_plan_takes_its_time(self):
        """Nova is not asked meanwhile, and no time runs out."""
        own = self.slot(source='h1', scope='alpha', is_own_plan=True)
        self.slots.others = [own]
        self.clock.at(9000, lambda: self.slots.others.clear())
        self.clock.at(8950, lambda: self.assertEqual([], self.cloud.calls))
        self.begin()
        self.assertEqual([('taken', 9000.0)], self.slots.log)

    def test_stagger(self):
        self.settings.limits.stagger_seconds = 200
        self.slots.others = [
            self.slot(scope='alpha', since=950.0, is_held=False)
        ]
        self.begin()
        self.assertEqual([('taken', 1150.0)], self.slots.log)

    def test_nova_is_not_asked_for_a_move_while_it_waits(self):
        self.block(until=1500)
        self.begin()
        self.assertEqual(self.before, self.requests)


class CancelTestCase(AdmissionTestCase):
    def cancel_at(self, moment):
        def cancel():
            self.cancelled = True
            self.count = self.asked()

        self.clock.at(moment, cancel)

    def stops(self, moment):
        self.cancel_at(moment)
        self.refused(exceptions.MigrationCancelled, 'its plan was cancelled')
        self.assertEqual(moment, self.clock.now)
        self.assertEqual(self.count, self.asked())
        self.assertFalse(self.slots.held)

    def test_before_it_begins(self):
        self.cancelled = True
        self.refused(exceptions.MigrationCancelled)
        self.assertEqual([], self.cloud.calls)

    def test_before_its_time(self):
        self.settings.not_before = 5000.0
        self.stops(1300)
        self.assertEqual([], self.cloud.calls)

    def test_in_the_stagger(self):
        self.settings.limits.stagger_seconds = 900
        self.slots.others = [self.slot(scope='alpha', since=1000.0)]
        self.stops(1300)

    def test_before_its_turn(self):
        self.block()
        self.stops(1300)

    def test_in_a_backoff(self):
        self.settings.retry_backoff = 400
        self.cloud.down.add(('GET', '/placement'))
        self.cancel_at(1200)
        self.refused(exceptions.MigrationCancelled, 'its plan was cancelled')
        self.assertLess(self.clock.now, 1300)
        self.assertEqual(0, self.requests)
        self.assertFalse(self.slots.held)

    def test_after_its_turn_came(self):
        """Nova is not asked for what would be aborted at once."""
        move = self.run_of()
        move.begin()
        self.cancelled = True
        self.assertRaises(exceptions.MigrationCancelled, move.carry_out)
        self.assertEqual(0, self.requests)

    def test_given_up_by_watcher(self):
        self.slots.errors = [exceptions.MigrationCancelled('is CANCELLED')]
        self.refused(exceptions.MigrationCancelled, 'is CANCELLED')


class NotBeforeTestCase(AdmissionTestCase):
    def test_in_the_past(self):
        self.settings.not_before = 999.0
        self.begin()
        self.assertEqual(1000.0, self.clock.now)

    def test_in_the_future(self):
        self.settings.not_before = 1200.0
        self.begin()
        self.assertEqual(1200.0, self.clock.now)
        self.assertEqual(
            'waits: not before 1970-01-01T00:20:00Z', self.told[0]
        )
        self.assertEqual('', self.told[-1])

    def test_nobody_is_asked_before_its_time(self):
        self.settings.not_before = 1200.0
        self.clock.at(1150, lambda: self.assertEqual([], self.cloud.calls))
        self.begin()

    def test_patience_begins_when_its_time_has_come(self):
        self.settings.not_before = 5000.0
        self.block()
        self.refused(exceptions.StaleTask, 'no turn within 30 min')
        self.assertEqual(6800.0, self.clock.now)


class MeanwhileTestCase(AdmissionTestCase):
    """It becomes something else while it waits."""

    def setUp(self):
        super().setUp()
        self.block(until=1500)

    def test_pointless(self):
        def leave():
            self.instance.host = 'h3'

        self.clock.at(1200, leave)
        self.refused(exceptions.StaleTask, 'has left h1; it is on h3 now')
        self.assertEqual(1200.0, self.clock.now)

    def test_gone(self):
        self.clock.at(1200, lambda: self.cloud.servers.pop(base.UUID))
        self.refused(exceptions.StaleTask, 'the instance is gone')

    def test_wrong(self):
        def lock():
            self.instance.locked = True

        self.clock.at(1200, lock)
        self.refused(
            exceptions.PreFlightError, 'the instance cannot move: it is locked'
        )

    def test_a_host_leaves_the_aggregate(self):
        self.clock.at(
            1200, lambda: self.cloud.aggregates['alpha'].remove('h2')
        )
        self.refused(exceptions.PreFlightError, 'h2 is not in alpha any more')
        self.assertEqual(0, self.slots.held)

    def test_destination_closed(self):
        self.clock.at(
            1200, lambda: self.cloud.services['h2'].update(status='disabled')
        )
        self.refused(exceptions.PreFlightError, 'destination h2 is disabled')

    def test_destination_full(self):
        self.cloud.capacities['h2'] = (0, 32768)
        self.refused(exceptions.PreFlightError, 'VCPU, 0 are free')
        self.assertEqual(
            [('taken', 1500.0), ('released', 1500.0)], self.slots.log
        )

    def test_arrived(self):
        """Nothing is asked of Nova, and no turn is needed."""

        def arrive():
            self.instance.host = 'h2'

        self.clock.at(1200, arrive)
        self.assertEqual('the instance was on h2 already', self.run_move())
        self.assertEqual(self.before, self.requests)
        self.assertEqual([], self.slots.log)
        self.assertEqual([], self.notices.told)


class AgainTestCase(AdmissionTestCase):
    """The same action twice."""

    def test_waits_for_the_first_and_succeeds(self):
        migration = self.move_by_hand(self.instance, 'h2')
        self.clock.at(1300, lambda: self.end(migration))
        self.assertEqual('the instance was on h2 already', self.run_move())
        self.assertEqual(1300.0, self.clock.now)
        self.assertEqual(
            'waits: it is already being migrated to h2', self.told[0]
        )
        self.assertEqual(1, self.requests)
        self.assertEqual([], self.aborts)

    def test_the_first_fails(self):
        migration = self.move_by_hand(self.instance, 'h2')
        self.clock.at(1300, lambda: self.end(migration, 'failed'))
        self.clock.at(1300, self.recover)
        self.assertEqual('', self.run_move())
        self.assertEqual(2, self.requests)

    def recover(self):
        self.instance.script = ('running', 'completed')

    def test_the_first_holds_its_turn(self):
        self.slots.others = [self.slot(base.UUID, 'h1', 'h2')]

        def start():
            self.move_by_hand(self.instance, 'h2')

        self.clock.at(1100, start)
        self.clock.at(1300, lambda: self.end(self.cloud.migrations[0]))
        self.assertEqual('the instance was on h2 already', self.run_move())
        self.assertEqual(1, self.requests)

    def test_a_cancelled_second_leaves_the_first_alone(self):
        migration = self.move_by_hand(self.instance, 'h2')

        def cancel():
            self.cancelled = True

        self.clock.at(1300, cancel)
        self.refused(exceptions.MigrationCancelled)
        self.assertEqual([], self.aborts)
        self.assertEqual('running', migration.status)


class RetryTestCase(AdmissionTestCase):
    def test_nova_away_for_a_while(self):
        self.cloud.down.add(('GET', base.NOVA))
        self.clock.at(1060, self.cloud.down.clear)
        self.begin()
        self.assertTrue(self.slots.held)

    def test_placement_away_for_a_while(self):
        self.cloud.down.add(('GET', '/placement'))
        self.clock.at(1060, self.cloud.down.clear)
        self.begin()
        self.assertEqual(
            ['taken', 'released', 'taken'],
            [what for what, _at in self.slots.log][-3:],
        )

    def test_placement_away_for_good(self):
        self.cloud.down.add(('GET', '/placement'))
        self.refused(exceptions.PlacementClientError, '503')
        self.assertFalse(self.slots.held)
        # 30 + 60 + 120 s, and what the client itself waits.
        self.assertGreaterEqual(self.clock.now, 1000 + 210)
        self.assertLess(self.clock.now, 1000 + 250)

    def test_the_database_away_for_a_while(self):
        error = exceptions.TurnUnknown(reason='away', transient=True)
        self.slots.errors = [error]
        self.begin()
        self.assertEqual('tries again in 30 s: away', self.told[0])
        self.assertEqual('', self.told[-1])

    def test_the_database_away_for_good(self):
        self.slots.errors = [
            exceptions.TurnUnknown(reason='away', transient=True)
            for _ in range(9)
        ]
        self.refused(exceptions.TurnUnknown, 'away')
        self.assertEqual(5, len(self.slots.errors))

    def test_no_row_in_the_database(self):
        self.slots.errors = [exceptions.TurnUnknown(reason='no row')]
        self.refused(exceptions.TurnUnknown, 'no row')
        self.assertEqual(1000.0, self.clock.now)

    def test_a_host_that_is_not_ready_is_waited_for(self):
        """So long, and no longer."""
        for host, where in (('h1', 'source'), ('h2', 'destination')):
            began = self.clock.now
            self.cloud.services[host].update(state='down')
            self.refused(exceptions.PreFlightError, f'{where} {host} is down')
            self.assertEqual(began + 100, self.clock.now)
            self.cloud.services[host].update(state='up')

    def test_a_host_that_comes_back_in_time(self):
        for host in ('h1', 'h2'):
            self.cloud.services[host].update(state='down')
            self.clock.at(
                self.clock.now + 50,
                lambda host=host: self.cloud.services[host].update(state='up'),
            )
            self.begin()
            self.assertIn('waits: nova-compute on', self.told[0])
            self.assertEqual('', self.told[-1])

    def test_a_server_that_is_busy_for_a_moment(self):
        """A snapshot, a reboot, or a move that Nova has not written down."""
        for state in ('image_snapshot', 'migrating'):
            self.instance.task_state = state
            self.clock.at(
                self.clock.now + 50,
                lambda: setattr(self.instance, 'task_state', None),
            )
            self.begin()
            self.assertIn(f'task state {state}', self.told[0])
            self.told.clear()

    def test_a_server_that_stays_busy(self):
        self.instance.task_state = 'image_snapshot'
        error = self.refused(exceptions.PreFlightError, 'image_snapshot')
        self.assertEqual('instance_busy', error.kwargs['fault'])

    def test_a_destination_that_is_disabled_is_not_waited_for(self):
        self.cloud.services['h2'].update(status='disabled')
        error = self.refused(exceptions.PreFlightError, 'h2 is disabled')
        self.assertEqual('destination_disabled', error.kwargs['fault'])
        self.assertEqual(1000.0, self.clock.now)

    def excludes(self, *answers):
        """What the query gives, look after look; the last one again."""
        left = list(answers)

        def exclusions(hosts):
            found = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(found, Exception):
                raise found
            return found

        return self.run_of(exclusions=exclusions)

    def test_a_destination_at_fault_is_not_waited_for(self):
        move = self.excludes({'h2': 1.0})
        error = self.fails(
            exceptions.PreFlightError, 'gives 1 for it', run=move.begin
        )
        self.assertEqual('destination_excluded', error.kwargs['fault'])
        self.assertEqual(1000.0, self.clock.now)
        self.assertFalse(self.slots.held)
        self.assertEqual(0, self.requests)

    def test_nobody_knows_for_a_moment(self):
        """Others may have the turn meanwhile."""
        away = exceptions.PrometheusError('away', transient=True)
        self.excludes(away, away, {}).begin()
        self.assertEqual('tries again in 30 s: away', self.told[0])
        self.assertEqual(1000.0 + 30 + 60, self.clock.now)
        self.assertEqual(
            ['taken', 'released', 'taken', 'released', 'taken'],
            [what for what, _ in self.slots.log],
        )

    def test_nobody_knows_for_long(self):
        for transient, seconds in ((True, 30 + 60 + 120), (False, 0)):
            before = self.clock.now
            away = exceptions.PrometheusError('away', transient=transient)
            move = self.excludes(away)
            self.fails(exceptions.PrometheusError, 'away', run=move.begin)
            self.assertEqual(before + seconds, self.clock.now)
            self.assertFalse(self.slots.held)
            self.assertEqual(0, self.requests)

    def test_a_dead_delivery_that_was_replaced(self):
        """It waits for the other one, and then for its turn if that dies."""
        self.slots.replaced = [slots.Replaced(reason='by another')]
        self.slots.entries = [
            slots.DeliveryState.FREE,
            slots.DeliveryState.TAKEN,
            slots.DeliveryState.OVER,
        ]
        move = self.run_of()
        move.begin()
        self.assertEqual('', move.carry_out())
        self.assertEqual(0, self.requests)

    def test_who_asks_for_too_much_patience(self):
        self.cloud.answers['GET', f'{base.NOVA}/servers'] = [
            (503, {'Retry-After': '7200'})
        ]
        self.refused(exceptions.NovaClientError, '503', 'wait of 2 h')
        self.assertEqual(1000.0, self.clock.now)
