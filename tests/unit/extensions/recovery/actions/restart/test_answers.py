# SPDX-License-Identifier: Apache-2.0
"""Does a restart come to its end, whatever Nova answers to its requests?

Each request of a restart gets each kind of answer, before it is done and
after it.
"""

from keystoneauth1 import noauth

from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.extensions.recovery.actions.restart import run
from tests.fakes.small_cloud import cloud
from tests.unit.actions.live import base
from tests.unit.extensions.recovery.actions.restart import test_run

WORDS = 'Nova says why not'
POLL = 5.0
STEPS = {
    'os-stop': 'stop',
    'migrate': 'migrate',
    'confirmResize': 'confirm',
    'os-start': 'start',
}
WHOLE = list(STEPS.values())
STATUSES = (
    302, 400, 401, 403, 404, 408, 409, 429, 500, 502, 503, 504, 599,
    cloud.RESET, cloud.REFUSED,
)  # fmt: skip
"""Of each kind; the tests of the step have all."""
PASSING = (401, 408, 409, 429, cloud.RESET, cloud.REFUSED)
"""Answers after which Nova may take the same request, besides of 5xx."""


class Auth(noauth.NoAuth):
    """Kronos has a user of its own, as Keystone gives it."""

    def get_user_id(self, session, **more):
        return 'watcher'


class AnswersTestCase(test_run.RestartTestCase):
    def begin(self):
        """One that its guest's failure has paused, and that is to leave."""
        self.cloud.servers[base.UUID] = self.instance = cloud.Server(
            base.UUID, 'h1', 'one', guest='paused'
        )
        self.elsewhere()
        self.acts, self.moves, self.told = [], [], []
        self.posts = []
        """(step, when) of each request."""
        self.answers = {}
        self.seen = []
        """(when, status, host) at each look."""
        self.clock.now = self.began = 1000.0

    def setUp(self):
        super().setUp()
        self.real = self.cloud.answer
        self.cloud.answer = self.answer
        self.begin()

    def make_client(self, service, kind):
        client = super().make_client(service, kind)
        wire = getattr(client, 'api', client)
        adapter = getattr(wire, 'wire', None) or wire._wire
        adapter.adapter.session.auth = Auth()
        return client

    def answer(self, method, path, query, body):
        if method == 'GET' and path.endswith(base.UUID):
            found = self.real(method, path, query, body)
            one = self.instance
            self.seen.append((self.clock(), one.status, one.host))
            return found
        [word] = body if method == 'POST' and 'action' in path else ['']
        if word not in STEPS:
            return self.real(method, path, query, body)
        self.posts.append((STEPS[word], self.clock()))
        faults = self.answers.get(STEPS[word])
        status, is_done = faults.pop(0) if faults else (None, True)
        if is_done and status is None:
            return self.real(method, path, query, body)
        if is_done:
            try:
                self.real(method, path, query, body)
            except cloud.Answer as answer:
                if answer.status >= 300:
                    raise
        return self.fail(status)

    def fail(self, status):
        if status in (cloud.RESET, cloud.REFUSED):
            raise cloud.Broken(status)
        if status == '202':
            raise cloud.Answer(202, None, {'x-compute-request-id': 'req-lost'})
        if status is not None:
            raise cloud.Answer(status, {'error': {'message': WORDS}})
        return {}

    def restart(self):
        restart = super().restart()
        restart._context.moves = self.moves.append
        restart._context.tell = self.told.append
        return restart

    def outcome(self):
        """What it says; or the error that it ends with."""
        try:
            return self.restart().carry_out()
        except exceptions.KronosException as error:
            return error

    def each(self, is_done=False):
        for step in WHOLE:
            for status in STATUSES:
                self.begin()
                self.answers = {step: [(status, is_done)]}
                yield step, status, self.outcome()

    def runs(self, host, *context):
        one = self.instance
        self.assertEqual(
            ('ACTIVE', 'running', host), (one.status, one.guest, one.host),
            context,
        )  # fmt: skip

    def one_at_a_time(self, *context):
        """Nova got nothing twice that it had taken."""
        steps = self.instance.steps
        self.assertEqual(len(set(steps)), len(steps), context)

    @property
    def off(self):
        """Seconds for which it was SHUTOFF, and at rest, or so it seemed."""
        moments = [at for at, status, _ in self.seen if status != 'ACTIVE']
        return max(moments, default=0) - min(moments, default=0)


class TestEachAnswer(AnswersTestCase):
    def test_not_done(self):
        for context in self.each():
            step, status, told = context
            self.one_at_a_time(*context)
            self.shows_words(status, context)
            is_error = isinstance(told, Exception)
            passes = status in PASSING or (
                isinstance(status, int) and status >= 500
            )
            if passes or step in ('confirm', 'start'):
                self.assertFalse(is_error, context)
                self.runs('h2', *context)
            else:
                # Nothing was done yet; or what was stopped is started.
                self.assertTrue(is_error, context)
                self.assertIs(
                    Fault.RESTART_FAILED, faults.of_error(told), context
                )
                self.assertIn(WORDS, str(told), context)
                self.assertIn(f'HTTP {status}', str(told), context)
            if step == 'migrate':
                self.runs('h2' if passes else 'h1', *context)
            # Three quiet looks at most, where one would not do.
            self.assertLessEqual(self.off, 4 * POLL, context)

    def shows_words(self, status, context):
        """Nova's, at once."""
        if isinstance(status, int):
            shown = [one for one in self.told if WORDS in one]
            self.assertIn(f'HTTP {status}: {WORDS}', shown[0], context)

    def test_stopped_for_one_poll_more(self):
        """Once Nova answers, what it did not get is asked for at once."""
        for step in ('migrate', 'confirm', 'start'):
            for status in (408, 500, 502, 503, 504, 599, cloud.RESET):
                self.begin()
                self.answers = {step: [(status, False)]}
                self.outcome()
                first, second = [at for name, at in self.posts if name == step]
                self.assertEqual(POLL, second - first, (step, status))

    def test_done_and_lost(self):
        """It is found, and not asked for again."""
        for context in self.each(is_done=True):
            self.assertEqual('', context[-1], context)
            self.runs('h2', *context)
            self.assertEqual(WHOLE, self.instance.steps, context)
            self.assertEqual(
                ['', '?', self.instance.stops[0][0]], self.acts, context
            )

    def test_for_ever(self):
        """It ends, and says why in Nova's words."""
        for step in WHOLE:
            for status in (302, 400, 403, 409):
                self.begin()
                self.answers = {step: [(status, False)] * 99}
                told = self.outcome()
                context = step, status, told
                self.assertIn(f'HTTP {status}: {WORDS}', str(told), context)
                limit = 60 if status == 409 else 2 * POLL
                self.assertLessEqual(
                    self.clock() - self.began, limit + 6 * POLL, context
                )


class TestNotCarriedOut(AnswersTestCase):
    def test_each(self):
        """Nova takes it, and nothing comes of it."""
        for step in WHOLE:
            self.begin()
            self.answers = {step: [('202', False)]}
            self.assertEqual('', self.outcome(), step)
            self.runs('h2', step)
            first, second = [at for name, at in self.posts if name == step]
            self.assertEqual(run.IDLE_SECONDS, second - first, step)

    def test_nova_gives_the_migration_up(self):
        """It is started where it was, by the same action."""
        self.instance.refuses = {'migrate': 'No valid host was found.'}
        error = self.outcome()
        self.assertIs(Fault.RESTART_FAILED, faults.of_error(error), error)
        self.assertIn('No valid host was found.', str(error))
        self.assertIn('it was started on h1 again', str(error))
        self.runs('h1')
        self.assertLessEqual(self.off, 3 * POLL)

    def test_nor_can_it_be_started(self):
        self.instance.refuses = {'migrate': 'No host.', 'start': 'no libvirt'}
        error = self.outcome()
        self.assertIn('No host.', str(error))
        self.assertIn('no libvirt', str(error))


class TestOutage(AnswersTestCase):
    """Nova answers nothing at all for ten minutes."""

    def test_after_each_step(self):
        for step in ('', *WHOLE):
            self.begin()
            self.cloud.on_step = lambda one, name, at=step: (
                self.away() if name == at else None
            )
            told = self.outcome()
            self.cloud.on_step = lambda one, name: None
            self.runs('h2', step, told)

    def away(self):
        self.cloud.down.add(('GET', '/nova'))
        self.cloud.down.add(('POST', '/nova'))
        self.clock.at(self.clock() + 600, self.cloud.down.clear)

    def test_while_the_database_is_away(self):
        """What was stopped is started, and the row told later."""
        missing = [1, 2, 3]

        def acts(request):
            if request.startswith('req-') and missing:
                missing.pop()
                raise exceptions.TurnUnknown('away')
            self.acts.append(request)

        restart = self.restart()
        restart._context.acts = acts
        self.assertEqual('', restart.carry_out())
        self.runs('h2')
        self.assertEqual(['', '?', self.instance.stops[0][0]], self.acts)


class TestUsers(AnswersTestCase):
    """What a user asks for meanwhile is left to them."""

    def test_a_user_stops_it_first(self):
        real = self.answer

        def answer(method, path, query, body):
            if body and 'os-stop' in body:
                self.instance.stops.insert(0, ('req-joe', 'joe'))
                self.instance.status = 'SHUTOFF'
                self.instance.guest = 'shutdown'
            return real(method, path, query, body)

        self.cloud.answer = answer
        told = self.outcome()
        self.assertIs(Fault.INSTANCE_STOPPED, faults.of_error(told), told)
        self.assertEqual(([], 'SHUTOFF'), (
            self.instance.steps, self.instance.status,
        ))  # fmt: skip

    def test_a_user_resizes_it_instead(self):
        """Ours was reverted, and another one waits."""

        def resize(one, name):
            if name == 'migrate':
                one.asked.insert(0, ('resize', 'req-joe'))

        self.cloud.on_step = resize
        told = self.outcome()
        self.assertIn('in VERIFY_RESIZE by somebody else', str(told))
        self.assertEqual(['stop', 'migrate'], self.instance.steps)

    def test_a_confirmation_that_takes_long(self):
        """Nova is at it, though the server shows no task."""
        row = {
            'id': 900,
            'uuid': 'b9000000-0000-0000-0000-000000000000',
            'instance_uuid': base.UUID,
            'status': 'finished',
            'migration_type': 'migration',
            'source_compute': 'h1',
            'dest_compute': 'h2',
            'created_at': '2026-01-01T00:00:00.000000',
            'updated_at': '2026-01-01T00:00:00.000000',
        }
        self.cloud.cold_migrations.append(row)
        self.answers = {'confirm': [('202', False)]}
        real = self.fail

        def fail(status):
            if status == '202':
                row['status'] = 'confirming'
                self.clock.at(self.clock() + 200, confirmed)
            return real(status)

        def confirmed():
            self.instance.status = 'SHUTOFF'
            row['status'] = 'confirmed'

        self.fail = fail
        self.settings = test_run.dataclasses.replace(
            self.settings, timeout=300.0
        )
        self.assertEqual('', self.outcome())
        names = [name for name, _ in self.posts]
        self.assertEqual(1, names.count('confirm'))
        self.cloud.cold_migrations.clear()
