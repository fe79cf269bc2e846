# SPDX-License-Identifier: Apache-2.0
"""Is Nova asked exactly once, whatever becomes of its answer?"""

import contextlib

import testscenarios

from kronos.actions.core import own_requests
from kronos.actions.live import request
from kronos.common import exceptions
from tests.fakes.small_cloud import cloud
from tests.unit.actions.live import base

LONG = 200


class CallTestCase(base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.settings.timing.poll_interval = 5

    def refuses(self, status, text):
        real = self.cloud.answer

        def answer(method, path, query, body):
            found = real(method, path, query, body) if method != 'POST' else 0
            if method == 'POST':
                self.cloud.bodies.append(body)
                raise cloud.Answer(status, {'fault': {'message': text}})
            return found

        self.cloud.answer = answer

    def looks(self):
        """How often Nova was asked for the instance's requests."""
        path = f'{base.NOVA}/servers/{base.UUID}/os-instance-actions'
        return self.cloud.calls.count(('GET', path))


class LostTestCase(testscenarios.TestWithScenarios, CallTestCase):
    """The request arrived, its answer did not."""

    scenarios = [
        (str(fault), {'fault': fault})
        for fault in (500, 502, 503, 504, cloud.RESET, 200, 408)
    ]

    def test_the_migration_is_followed(self):
        self.cloud.lost[base.POST] = [self.fault]
        self.assertEqual('', self.run_move())
        self.assertEqual(1, self.requests)
        self.assertEqual('h2', self.instance.host)
        self.assertEqual(
            [('started', 0, None), ('completed', 0, None)], self.events()
        )

    def test_a_cancel_aborts_it(self):
        self.cloud.lost[base.POST] = [self.fault]
        self.instance.script = ('running',) * 50

        def cancel(look):
            self.cancelled = True

        self.cloud.on_look = cancel
        self.fails(exceptions.MigrationCancelled, 'its plan was cancelled')
        self.assertEqual(1, len(self.aborts))
        self.assertEqual(('h1', None), self.place())


class NotArrivedTestCase(testscenarios.TestWithScenarios, CallTestCase):
    """The request did not arrive, and nobody can know."""

    scenarios = [
        (str(fault), {'fault': fault})
        for fault in (500, 502, 503, 504, cloud.RESET, 200)
    ]

    def test_it_is_repeated_when_nova_knows_nothing(self):
        self.cloud.answers[base.POST] = [self.fault]
        looks = []
        real = self.cloud.answer

        def answer(method, path, query, body):
            if method == 'POST':
                looks.append(self.looks())
            return real(method, path, query, body)

        self.cloud.answer = answer
        self.assertEqual('tried 2 times', self.run_move())
        self.assertEqual(2, self.requests)
        # Twice before the first call, for requests and for aborts; once
        # before the second, and between the two besides.
        self.assertEqual(2, looks[0])
        self.assertGreaterEqual(
            looks[1] - looks[0], 1 + own_requests.QUIET_LOOKS
        )


class PatienceTestCase(CallTestCase):
    """For how long is Nova asked for a request whose answer was lost?"""

    def setUp(self):
        super().setUp()
        self.cloud.answers[base.POST] = [cloud.RESET]

    def looks_between(self, since=None):
        """How often it is asked between the request and its next try.

        Those apart that precede any try: of the approach, and right before.

        :param since: seconds from which on the server is busy
        """
        real, marks = self.cloud.answer, []

        def answer(method, path, query, body):
            if method == 'POST':
                marks.append(self.looks())
                if since == self.clock.now:
                    self.busy()
            return real(method, path, query, body)

        self.cloud.answer = answer
        if since is not None:
            self.clock.at(since, self.busy)
        self.run_move()
        before, after = marks[:2]
        return after - before - 2

    def test_quiet_looks(self):
        """As often as said."""
        self.assertEqual(own_requests.QUIET_LOOKS, self.looks_between())

    def test_a_busy_server_is_waited_for(self):
        """Something goes on, so the looks begin anew when it is over."""
        self.clock.at(1040, self.idle)
        # At 1005; six times while it is busy; then as often as said.
        self.assertEqual(
            1 + 6 + own_requests.QUIET_LOOKS, self.looks_between(since=1010)
        )

    def test_not_for_ever(self):
        """As long as Nova's queue may take; then it counts as lost."""
        self.settings.timing.queue_timeout = 100
        self.clock.at(1100, self.idle)
        self.assertEqual(100 / 5, self.looks_between(since=1000))

    def busy(self):
        self.instance.task_state = 'migrating'

    def idle(self):
        self.instance.task_state = None


class LateTestCase(CallTestCase):
    """The request arrives after Kronos has stopped asking for it."""

    def setUp(self):
        super().setUp()
        self.cloud.answers[base.POST] = [cloud.RESET]

    def arrive(self, host='h2'):
        self.live_migration.live_migrate(base.UUID, host)
        self.arrived = self.requests

    def test_while_it_is_asked_for(self):
        self.clock.at(1010, self.arrive)
        self.assertEqual('', self.run_move())
        self.assertEqual(self.arrived, self.requests)

    def test_in_the_backoff(self):
        self.instance.script = ('accepted', *['running'] * 9, 'completed')
        self.clock.at(1025, self.arrive)
        self.assertEqual('tried 2 times', self.run_move())
        self.assertEqual(self.arrived, self.requests)
        self.assertEqual('completed', self.events()[-1][0])

    def test_in_the_backoff_and_nova_has_no_migration_yet(self):
        """Its row names no destination until the conductor has looked."""
        self.instance.script = (*['accepted'] * 9, 'running', 'completed')
        real = cloud.Migration.row

        def row(migration):
            found = real(migration)
            if migration.status == 'accepted':
                found['dest_compute'] = None
            return found

        self.patch(cloud.Migration, 'row', row)
        self.clock.at(1025, self.arrive)
        self.assertEqual('tried 2 times', self.run_move())
        self.assertEqual(self.arrived, self.requests)

    def patch(self, target, name, value):
        self.addCleanup(setattr, target, name, getattr(target, name))
        setattr(target, name, value)

    def test_a_cancel_aborts_it(self):
        """It is ours."""
        self.instance.script = ('queued', *['running'] * 99)
        self.clock.at(1025, self.arrive)

        def cancel():
            self.cancelled = True

        self.clock.at(1070, cancel)
        self.fails(exceptions.MigrationCancelled, 'its plan was cancelled')
        self.assertEqual(1, len(self.aborts))
        self.assertEqual(('h1', None), self.place())

    def test_arrived_and_over_in_the_backoff(self):

        def move():
            self.arrive()
            self.end(self.cloud.migrations[-1])

        self.clock.at(1025, move)
        self.assertEqual('tried 2 times', self.run_move())
        self.assertEqual(self.arrived, self.requests)
        self.assertEqual(('completed', 1, None), self.events()[-1])

    def test_right_before_the_next_try(self):
        """Nova answers 409, and it is the request of the first try."""
        self.instance.script = ('queued', 'running', 'completed')
        real = self.cloud.answer
        self.posts = 0

        def answer(method, path, query, body):
            if method == 'POST':
                self.posts += 1
                if self.posts == 2:
                    self.cloud.answer = real
                    self.arrive()
            return real(method, path, query, body)

        self.cloud.answer = answer
        self.assertEqual('tried 2 times', self.run_move())
        self.assertEqual(1, len(self.cloud.migrations))

    def test_nova_away_while_it_is_asked(self):
        self.cloud.answers.clear()
        self.cloud.lost[base.POST] = [cloud.RESET]
        self.clock.at(1005, lambda: self.cloud.down.add(('GET', '/nova')))
        self.clock.at(1300, self.cloud.down.clear)
        self.assertEqual('', self.run_move())
        self.assertEqual(1, self.requests)
        self.assertGreater(self.clock.now, 1300)

    def test_cancelled_in_the_backoff(self):
        """It is not left to itself."""
        self.instance.script = ('queued', *['running'] * 99)
        self.clock.at(1025, self.arrive)

        def cancel():
            self.cancelled = True

        self.clock.at(1030, cancel)
        self.fails(exceptions.MigrationCancelled, 'its plan was cancelled')
        self.assertEqual(1, len(self.aborts))
        self.assertEqual(('h1', None), self.place())

    def test_cancelled_in_the_backoff_and_nothing_arrived(self):
        def cancel():
            self.cancelled = True

        self.clock.at(1030, cancel)
        self.fails(exceptions.MigrationCancelled, 'its plan was cancelled')
        self.assertEqual(1, self.requests)
        self.assertEqual([], self.cloud.migrations)

    def test_cancelled_in_the_backoff_while_nova_is_away(self):
        def cancel():
            self.cancelled = True
            self.cloud.down.add(('GET', '/nova'))

        self.clock.at(1030, cancel)
        self.fails(exceptions.MigrationCancelled, 'its plan was cancelled')
        self.assertEqual(('failed', 0, True), self.events()[-1])

    def test_somebody_else_is_faster(self):
        """A migration to another host is neither ours nor aborted."""
        self.clock.at(1010, lambda: self.arrive('h3'))
        self.instance.script = ('running',) * 50
        self.fails(
            exceptions.MigrationCancelled,
            'being moved to h3 by somebody else',
        )
        self.assertEqual([], self.aborts)
        self.assertEqual('migrating', self.instance.task_state)


class ForeignTestCase(CallTestCase):
    """Requests of others are not taken for ours."""

    def test_between_two_tries_that_surely_did_not_arrive(self):
        self.cloud.answers[base.POST] = [429]

        def refused():
            self.instance.script = ('accepted', 'error')
            self.instance.refusal = 'no room on h3'
            self.live_migration.live_migrate(base.UUID, 'h3')
            self.end(self.cloud.migrations[-1], 'error')
            self.instance.script = ('running', 'completed')
            self.instance.refusal = ''

        self.clock.at(1010, refused)
        self.assertEqual('tried 2 times', self.run_move())
        self.assertEqual('h2', self.instance.host)

    def test_a_move_elsewhere_right_before_ours(self):
        real = self.cloud.answer

        def answer(method, path, query, body):
            if method == 'POST':
                self.cloud.answer = real
                self.instance.script = ('running',) * 50
                self.live_migration.live_migrate(base.UUID, 'h3')
            return real(method, path, query, body)

        self.cloud.answer = answer
        self.fails(exceptions.MigrationCancelled, 'moved to h3')
        self.assertEqual([], self.aborts)


class OddAnswerTestCase(testscenarios.TestWithScenarios, CallTestCase):
    """The request arrived; its answer is an error of an unknown shape."""

    scenarios = [
        (str(body), {'body': body})
        for body in (
            {'errors': ['no healthy upstream']},
            {'errors': {'detail': 'no'}},
            {'error': {'message': None}},
            {'error': {'message': {'text': 'no'}}},
            ['no'],
            'no',
            None,
            7,
        )
    ]

    def test_the_migration_is_followed(self):
        real = self.cloud.answer

        def answer(method, path, query, body):
            if method != 'POST':
                return real(method, path, query, body)
            with contextlib.suppress(cloud.Answer):
                real(method, path, query, body)
            raise cloud.Answer(502, self.body)

        self.cloud.answer = answer
        self.assertEqual('', self.run_move())
        self.assertEqual(1, self.requests)
        self.assertEqual('h2', self.instance.host)


class TwiceTestCase(CallTestCase):
    """Something in between sends the request on twice."""

    def send_twice(self):
        real = self.cloud.answer

        def answer(method, path, query, body):
            if method == 'POST':
                self.cloud.answer = real
                with contextlib.suppress(cloud.Answer):
                    real(method, path, query, body)
            return real(method, path, query, body)

        self.cloud.answer = answer

    def test_the_first_is_followed(self):
        """Nova refuses the second: the server is migrating."""
        self.send_twice()
        self.assertEqual('', self.run_move())
        self.assertEqual(1, len(self.cloud.migrations))
        self.assertEqual('h2', self.instance.host)
        self.assertEqual('completed', self.events()[-1][0])

    def test_nova_writes_it_down_a_moment_later(self):
        self.send_twice()
        path = f'{base.NOVA}/servers/{base.UUID}/os-instance-actions'
        real, hidden = (
            self.live_migration.actions.live_migration_requests,
            [True, True],
        )

        def requests(uuid):
            found = real(uuid)
            return [] if found and hidden and hidden.pop() else found

        self.live_migration.actions.live_migration_requests = requests
        self.assertEqual('', self.run_move())
        self.assertEqual([], hidden)
        self.assertIn(('GET', path), self.cloud.calls)
        self.assertEqual(1, len(self.cloud.migrations))

    def test_nova_is_away_while_it_is_looked_for(self):
        self.send_twice()
        real, away = self.live_migration.actions.live_migration_requests, []

        def requests(uuid):
            if self.cloud.migrations and len(away) < 5:
                away.append(uuid)
                raise exceptions.NovaClientError(
                    reason='away', status=503, transient=True
                )
            return real(uuid)

        self.live_migration.actions.live_migration_requests = requests
        self.assertEqual('', self.run_move())
        self.assertEqual(5, len(away))
        self.assertEqual(1, len(self.cloud.migrations))

    def test_a_server_that_is_busy_otherwise_is_refused_at_once(self):
        real = self.cloud.answer

        def answer(method, path, query, body):
            if method == 'POST':
                self.instance.task_state = 'resize_prep'
            return real(method, path, query, body)

        self.cloud.answer = answer
        before = self.clock.now
        self.fails(exceptions.PreFlightError, 'rejected by Nova', '409')
        self.assertEqual(before, self.clock.now)


class RefusalTestCase(CallTestCase):
    def test_nova_s_own_words(self):
        text = 'No valid host was found. Not enough hosts available.'
        self.refuses(400, text)
        error = self.fails(exceptions.PreFlightError)
        self.assertEqual(f'destination refused: {text}', str(error))
        self.assertEqual(1, self.requests)

    def test_rights_say_nothing_of_the_instance(self):
        """It is the user of Kronos that must not."""
        self.refuses(403, 'Policy does not allow this')
        self.fails(exceptions.NovaClientError, '403', 'Policy does not')
        self.assertEqual(1, self.requests)

    def test_gone(self):
        self.refuses(404, 'no such server')
        self.fails(exceptions.PreFlightError, 'rejected by Nova')


class PassingTestCase(testscenarios.TestWithScenarios, CallTestCase):
    scenarios = [
        (str(fault), {'fault': fault})
        for fault in (500, 503, 429, cloud.RESET)
    ]

    def test_once(self):
        self.cloud.answers[base.POST] = [self.fault]
        self.assertEqual('tried 2 times', self.run_move())
        self.assertEqual(
            [
                ('failed', 0, False),
                ('started', 1, None),
                ('completed', 1, None),
            ],
            self.events(),
        )

    def test_for_good(self):
        self.cloud.answers[base.POST] = [self.fault] * 9
        self.fails(exceptions.NovaClientError, 'tried 4 times')
        self.assertEqual(
            [
                ('failed', 0, False),
                ('failed', 1, False),
                ('failed', 2, False),
                ('failed', 3, True),
            ],
            self.events(),
        )
        self.assertEqual(4, 9 - len(self.cloud.answers[base.POST]))
        self.assertFalse(self.slots.held)


class RefusedConnectionTestCase(CallTestCase):
    def test_it_surely_did_not_arrive(self):
        """The client itself repeats it a few times."""
        self.cloud.answers[base.POST] = [cloud.REFUSED] * 6
        self.assertEqual('tried 2 times', self.run_move())


class StatusTestCase(testscenarios.TestWithScenarios, CallTestCase):
    """Each status that there is."""

    scenarios = [
        ('3xx', {'statuses': range(300, 400)}),
        ('4xx', {'statuses': range(400, 500)}),
        ('5xx', {'statuses': range(500, 600)}),
    ]

    def begin(self):
        self.instance.host, self.instance.task_state = 'h1', None
        self.instance.script = ('running',) * LONG
        self.cloud.bodies.clear()
        self.cloud.migrations.clear()
        self.request = request.MigrationRequest(
            self.settings, self.run_of()._context
        )

    def test_a_request_that_came_to_nothing(self):
        """It is refused at once, or may be sent again, and never is here."""
        for status in self.statuses:
            self.begin()
            self.cloud.answers[base.POST] = [status]
            before = self.clock.now
            error = self.assertRaises(
                exceptions.KronosException, self.request.send
            )
            self.assertIn('away for now' if status >= 400 else '', str(error))
            self.assertEqual(1, self.requests, status)
            self.assertEqual([], self.cloud.migrations)
            if 400 <= status < 500 and status != 408:
                self.assertEqual(before, self.clock.now, status)

    def test_an_answer_that_was_lost(self):
        """Nova has begun the migration: that one is followed."""
        for status in self.statuses:
            if 400 <= status < 500 and status not in (408, 409):
                # Nova itself answers so, and then it has begun nothing.
                continue
            self.begin()
            self.cloud.lost[base.POST] = [status]
            sent = self.request.send()
            (migration,) = self.cloud.migrations
            self.assertEqual(migration.request, sent.request_id, status)
            self.assertEqual(1, self.requests, status)
