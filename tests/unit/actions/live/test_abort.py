# SPDX-License-Identifier: Apache-2.0
"""Is an abort asked for until the migration is over, whatever Nova answers?"""

import testscenarios

from kronos.actions.live import abort
from kronos.clients.nova import rows
from kronos.common import exceptions
from kronos.engine import faults
from tests.fakes.small_cloud import cloud
from tests.unit.actions.live import base

LONG = 1000
SERVER = f'{base.NOVA}/servers/{base.UUID}'


class AbortTestCase(base.MoveTestCase):
    """The plan is cancelled while its migration runs."""

    def setUp(self):
        super().setUp()
        self.settings.timing.poll_interval = 5
        self.asked_at = []
        self.answers = []
        """Statuses of the next requests to abort, which come to nothing."""
        self.lost = []
        """The same, of requests that Nova carries out."""
        real = self.cloud.answer

        def answer(method, path, query, body):
            if method != 'DELETE':
                return real(method, path, query, body)
            self.asked_at.append(self.clock.now)
            if self.answers:
                self.cloud.calls.append((method, path))
                raise cloud.Answer(*self.answers.pop(0))
            try:
                return real(method, path, query, body)
            finally:
                if self.lost:
                    raise cloud.Answer(*self.lost.pop(0))

        self.cloud.answer = answer
        self.begin('running')

    def begin(self, status):
        """A server on its source, whose migrations stay in one status."""
        self.cancelled = False
        self.instance.host = 'h1'
        self.instance.script = (status,) * LONG
        self.asked_at.clear()
        self.cloud.bodies.clear()
        self.at_look(3, lambda: setattr(self, 'cancelled', True))

    def at_look(self, number, do):
        looks = iter(range(1, 100_000))
        self.cloud.on_look = lambda one: do() if next(looks) == number else 0

    def ended(self):
        error = self.assertRaises(exceptions.KronosException, self.run_move)
        return f'[{faults.of_error(error)}] {error}'

    def check_ended(self):
        text = self.ended()
        self.assertEqual('[plan_cancelled] its plan was cancelled', text)
        self.assertEqual(('h1', None), self.place())
        self.assertEqual(1, self.requests)


class TakenTestCase(AbortTestCase):
    def test_once(self):
        self.check_ended()
        self.assertEqual(1, len(self.asked_at))

    def test_nova_compute_never_got_it(self):
        """The API answers 202 all the same."""
        self.answers = [(202,)] * 3
        self.check_ended()
        first, *others = self.asked_at
        self.assertEqual(
            [first + n * abort.AGAIN_SECONDS for n in (1, 2, 3)], others
        )

    def test_in_whatever_state_it_is(self):
        for status in ('queued', 'preparing', 'running'):
            self.begin(status)
            self.answers = [(202,)]
            self.check_ended()
            self.assertEqual(2, len(self.asked_at), status)

    def test_it_was_too_late(self):
        """It arrives, and nothing is asked for any more."""
        self.answers = [(202,)] * 9
        self.clock.at(
            self.clock.now + 60,
            lambda: self.end(self.cloud.migrations[0]),
        )
        self.assertEqual('completed instead of cancelled', self.run_move())
        self.assertEqual(2, len(self.asked_at))


class RefusedTestCase(AbortTestCase):
    def refusal(self, status, text):
        return status, {'x': {'message': text}}

    def test_the_words_are_shown_at_once(self):
        """Who looks at the action sees why it does not end."""
        self.answers = [self.refusal(403, 'Policy forbids it')] * LONG
        text = self.ended()
        self.assertIn('not over in Nova yet: running', text)
        self.assertIn('HTTP 403: Policy forbids it', text)
        (told,) = {one for one in self.told if one}
        self.assertIn('HTTP 403: Policy forbids it', told)
        self.assertLess(len(self.asked_at), 600 / abort.AGAIN_SECONDS + 2)

    def test_as_soon_as_the_state_allows_it(self):
        self.instance.script = ('accepted',) * LONG
        self.at_look(2, lambda: setattr(self, 'cancelled', True))
        self.clock.at(
            self.clock.now + 20,
            lambda: setattr(
                self.cloud.migrations[0], 'script', ['queued'] * LONG
            ),
        )
        self.check_ended()
        self.assertEqual(2, len(self.asked_at))
        self.assertLess(self.clock.now, 1000 + 40)

    def test_nova_asks_to_wait(self):
        self.answers = [(503, None, {'Retry-After': '17'})]
        self.check_ended()
        first, second = self.asked_at
        self.assertEqual(20, second - first)

    def test_nonsense(self):
        real, errors = self.live_migration.abort_migration, [TypeError('x')]

        def abort(*args):
            if errors:
                raise errors.pop()
            return real(*args)

        self.live_migration.abort_migration = abort
        self.check_ended()


class WholeTestCase(testscenarios.TestWithScenarios, AbortTestCase):
    scenarios = [
        (str(status), {'status': status})
        for status in (302, 400, 401, 403, 404, 408, 409, 429, 500, 504)
    ]

    def test_it_came_to_nothing(self):
        self.answers = [(self.status,)]
        self.check_ended()
        self.assertEqual(2, len(self.asked_at))

    def test_the_answer_was_lost(self):
        self.lost = [(self.status,)]
        self.check_ended()
        self.assertEqual(1, len(self.asked_at))


class StatusTestCase(AbortTestCase):
    """Each status that there is."""

    def test_it_is_asked_for_again(self):
        """At the next look, or a little later; never twice at once."""
        self.live_migration.live_migrate(base.UUID, 'h2')
        seen = rows.MigrationStatus(base.UUID, 'running', 'm1', 1)
        for status in range(300, 600):
            request = abort.Abort(self.run_of()._context, self.task)
            self.answers = [(status, {'x': {'message': 'Words'}})]
            self.asked_at.clear()
            request.ask(seen)
            self.assertIn('Words' if status >= 400 else '', request.refusal)
            self.clock.sleep(5)
            request.ask(seen)
            is_passing = status in (401, 429) or not 400 <= status < 500
            number = 2 if is_passing else 1
            self.assertEqual(number, len(self.asked_at), status)
            self.clock.sleep(abort.AGAIN_SECONDS)
            self.end_abort()
            request.ask(seen)
            self.assertLessEqual(len(self.asked_at), 3)
            self.assertGreaterEqual(len(self.asked_at), 2)
            self.assertEqual('', request.refusal, status)

    def end_abort(self):
        """The server is migrating still, and may be aborted again."""
        self.cloud.migrations[0].script[:] = ['running']
