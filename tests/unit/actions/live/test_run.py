# SPDX-License-Identifier: Apache-2.0
"""What is tried again, how often, and how is it told?"""

import testscenarios

from kronos.actions.core import slots
from kronos.common import exceptions
from tests.fakes.small_cloud import cloud
from tests.unit.actions.live import base


class BackoffTestCase(base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.settings.timing.poll_interval = 5

    def waits(self):
        """Seconds between giving a turn back and having it again."""
        times = [at for _what, at in self.slots.log]
        return [
            int(later - sooner)
            for sooner, later in zip(times[1::2], times[2::2], strict=False)
        ]

    def fail(self, *faults):
        self.cloud.answers[base.POST] = list(faults)

    def test_doubles(self):
        self.fail(429, 429, 429)
        self.assertEqual('tried 4 times', self.run_move())
        self.assertEqual([30, 60, 120], self.waits())

    def test_the_turn_is_given_back_meanwhile(self):
        """Others may go."""
        self.fail(429)
        self.run_move()
        self.assertEqual(
            ['taken', 'released', 'taken'],
            [what for what, _at in self.slots.log],
        )

    def test_another_is_faster_in_the_backoff(self):
        self.fail(429)

        def start():
            self.other = self.move_by_hand(self.add_server(2, 'h1'), 'h3')

        self.clock.at(1010, start)
        self.clock.at(1500, lambda: self.end(self.other))
        self.assertEqual('tried 2 times', self.run_move())
        self.assertGreaterEqual(self.slots.log[-1][1], 1500)

    def test_nova_asks_for_more(self):
        self.fail((429, {'Retry-After': '100'}))
        self.run_move()
        self.assertEqual([100], self.waits())

    def test_nova_asks_for_less(self):
        self.fail((429, {'Retry-After': '1'}))
        self.run_move()
        self.assertEqual([30], self.waits())

    def test_nova_asks_for_too_much(self):
        self.fail((429, {'Retry-After': '1801'}))
        error = self.fails(
            exceptions.NovaClientError, 'requires a wait of 30 min 1 s'
        )
        self.assertEqual(1, str(error).count('429'))
        self.assertEqual([('failed', 0, True)], self.events())
        self.assertEqual(1000.0, self.clock.now)

    def test_no_backoff_is_longer_than_the_patience(self):
        """Its own doubling is no reason to give up."""
        self.settings.retry_backoff = 1000
        self.fail(429, 429, 429)
        self.assertEqual('tried 4 times', self.run_move())
        self.assertEqual([1000, 1800, 1800], self.waits())

    def test_no_further_tries(self):
        self.settings.max_retries = 0
        self.fail(429)
        error = self.fails(exceptions.NovaClientError, '429')
        self.assertNotIn('tried', str(error))
        self.assertEqual([('failed', 0, True)], self.events())

    def test_is_told_while_it_waits(self):
        self.fail(429)
        self.run_move()
        self.assertIn('tries again in 30 s: Nova: POST', self.told[1])
        self.assertEqual('', self.told[-1])

    def test_cancelled_meanwhile(self):
        self.fail(429, 429)

        def cancel():
            self.cancelled = True

        self.clock.at(1010, cancel)
        self.fails(exceptions.MigrationCancelled, 'its plan was cancelled')
        self.assertEqual(1010.0, self.clock.now)
        self.assertEqual(
            [('failed', 0, False), ('failed', 0, True)], self.events()
        )
        self.assertEqual([429], self.cloud.answers[base.POST])
        self.assertFalse(self.slots.held)


class BetweenTestCase(base.MoveTestCase):
    """Something happens between two tries."""

    def setUp(self):
        super().setUp()
        self.settings.timing.poll_interval = 5
        self.cloud.answers[base.POST] = [429]

    def change(self, **change):
        self.clock.at(1010, lambda: vars(self.instance).update(change))

    def test_locked(self):
        """What it died of comes first, and says nothing of the instance."""
        self.change(locked=True)
        error = self.fails(
            exceptions.NovaClientError,
            'not tried again: the instance cannot move: it is locked',
        )
        self.assertIn('429', str(error).partition('not tried again')[0])
        self.assertEqual(
            [('failed', 0, False), ('failed', 0, True)], self.events()
        )

    def test_elsewhere(self):
        self.change(host='h3')
        self.fails(exceptions.NovaClientError, 'not tried again', 'left h1')

    def test_arrived(self):
        """Whoever hears of it hears of its end, too."""
        self.change(host='h2')
        self.assertEqual('the instance was on h2 already', self.run_move())
        self.assertEqual(
            [('failed', 0, False), ('completed', 0, None)], self.events()
        )

    def test_a_host_that_is_not_ready_is_waited_for(self):
        service = self.cloud.services['h1']
        self.clock.at(1010, lambda: service.update(state='down'))
        self.clock.at(1100, lambda: service.update(state='up'))
        self.assertEqual('tried 2 times', self.run_move())

    def test_a_host_that_stays_down(self):
        self.clock.at(
            1010, lambda: self.cloud.services['h1'].update(state='down')
        )
        self.fails(
            exceptions.NovaClientError,
            'not tried again: nova-compute on source h1 is down',
        )

    def test_no_turn_any_more(self):
        self.settings.timing.queue_timeout = 100
        self.clock.at(
            1010,
            lambda: self.slots.others.append(self.slot(source='h1')),
        )
        self.fails(
            exceptions.NovaClientError, 'not tried again: no turn within'
        )
        self.assertFalse(self.slots.held)


class StoppedComputeTestCase(base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.settings.timing.poll_interval = 5

    def test_while_queued_is_tried_again(self):
        """Nobody has asked for it."""
        self.instance.script = ('queued', 'queued', 'cancelled')

        def recover(look):
            self.instance.script = ('running', 'completed')

        self.cloud.on_look = recover
        self.assertEqual('tried 2 times', self.run_move())
        self.assertEqual(2, self.requests)
        self.assertEqual(
            [
                ('started', 0, None),
                ('failed', 0, False),
                ('started', 1, None),
                ('completed', 1, None),
            ],
            self.events(),
        )

    def test_for_good(self):
        self.instance.script = ('queued', 'queued', 'cancelled')
        self.fails(
            exceptions.MigrationCancelled,
            'cancelled by Nova: nova-compute was stopped',
            'tried 4 times',
        )
        self.assertEqual(4, self.requests)

    def test_an_operator_s_abort_is_not_answered_by_another_try(self):
        self.instance.script = ('queued', 'queued', 'cancelled')
        self.cloud.on_look = lambda look: self.cloud.note_abort(base.UUID)
        self.fails(exceptions.MigrationCancelled, 'by somebody else')
        self.assertEqual(1, self.requests)
        self.assertEqual(
            [('started', 0, None), ('failed', 0, True)], self.events()
        )


class DroppedTestCase(testscenarios.TestWithScenarios, base.MoveTestCase):
    """A nova-compute that is started again forgets what it had begun."""

    scenarios = [
        (status, {'status': status}) for status in ('queued', 'preparing')
    ]

    def setUp(self):
        super().setUp()
        self.settings.timing.poll_interval = 5
        self.instance.script = (self.status,) * 99

    def forget(self, host=None):
        def forget(look):
            self.instance.task_state = None
            self.instance.host = host or self.instance.host
            look.script = [look.status] * 99
            self.instance.script = ('running', 'completed')

        self.cloud.on_look = forget

    def test_is_tried_again(self):
        self.forget()
        forget = self.cloud.on_look

        def once(look):
            forget(look)
            self.cloud.on_look = lambda look: None

        self.cloud.on_look = once
        self.assertIn('tried 2 times', self.run_move())
        self.assertEqual('h2', self.instance.host)

    def test_but_it_has_arrived(self):
        self.forget('h2')
        self.assertIn(
            f'Nova left its migration {self.status}', self.run_move()
        )
        self.assertEqual(1, self.requests)


class DroppedWhileRunningTestCase(base.MoveTestCase):
    def test_is_inconsistent(self):
        self.instance.script = ('running',) * 99

        def forget(look):
            self.instance.task_state = None

        self.cloud.on_look = forget
        self.fails(
            exceptions.MigrationFailed,
            'inconsistent: Nova calls the migration running',
        )
        self.assertEqual(1, self.requests)


class FailureTestCase(testscenarios.TestWithScenarios, base.MoveTestCase):
    """What says something of the instance is tried once."""

    scenarios = [
        ('refused', {'script': ('accepted', 'error'), 'refusal': 'no'}),
        ('failed', {'script': ('running', 'failed'), 'refusal': ''}),
        ('error', {'script': ('preparing', 'error'), 'refusal': ''}),
    ]

    def test_once(self):
        self.instance.script = self.script
        self.instance.refusal = self.refusal
        error = self.assertRaises(exceptions.MigrationError, self.run_move)
        self.assertIn(
            type(error),
            (exceptions.PreFlightError, exceptions.MigrationFailed),
        )
        self.assertEqual(1, self.requests)
        self.assertEqual(
            [('started', 0, None), ('failed', 0, True)], self.events()
        )
        self.assertEqual(('h1', None), self.place())
        self.assertFalse(self.slots.held)


class ResetTestCase(base.MoveTestCase):
    def test_each_try_is_told_apart(self):
        self.cloud.answers[base.POST] = [cloud.RESET, 503]
        self.assertEqual('tried 3 times', self.run_move())
        self.assertEqual(
            [0, 1, 2, 2],
            [more['retry_count'] for _event, more in self.notices.told],
        )
        request = self.notices.told[-1][1]['record'].request_id
        self.assertEqual(self.cloud.migrations[0].request, request)


class DeliveredTwiceTestCase(base.MoveTestCase):
    """Another delivery of the plan carries the same move out."""

    def test_it_is_waited_for(self):
        """Whatever Nova tells meanwhile: a move that begins looks busy."""
        self.slots.entries = [slots.DeliveryState.TAKEN] * 100 + [
            slots.DeliveryState.OVER
        ]
        self.instance.task_state = 'migrating'
        self.assertEqual('', self.run_move())
        self.assertEqual(1000.0 + 100 * 50, self.clock.now)
        self.assertEqual([], self.cloud.calls)
        self.assertEqual(([], []), (self.told, self.events()))

    def test_it_is_not_heard_of_any_more(self):
        self.slots.entries = [slots.DeliveryState.TAKEN]
        self.run_move()
        self.assertEqual(('h2', None), self.place())

    def test_cancelled_meanwhile(self):
        self.slots.entries = [slots.DeliveryState.TAKEN] * 100
        self.clock.at(1300, lambda: setattr(self, 'cancelled', True))
        self.fails(exceptions.MigrationCancelled, 'its plan was cancelled')
        self.assertEqual(1300.0, self.clock.now)

    def test_the_database_is_away(self):
        self.slots.entries = [exceptions.TurnUnknown('away', transient=True)]
        self.run_move()
        self.assertEqual(('h2', None), self.place())

    def test_the_database_stays_away(self):
        self.slots.entries = [
            exceptions.TurnUnknown('away', transient=True)
        ] * 9
        self.fails(exceptions.TurnUnknown, 'away')
        self.assertEqual([], self.cloud.calls)
