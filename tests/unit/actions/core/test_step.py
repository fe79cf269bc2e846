# SPDX-License-Identifier: Apache-2.0
"""Is a step sent, followed and repeated as Nova's answers say?"""

import http

from oslotest import base

from kronos.actions.core.context import Patience
from kronos.actions.core.step import Step, StepEnd, StepLimits, StepRun
from kronos.clients import rest
from kronos.common import exceptions
from tests.unit.actions.live.base import Clock

OFF, BUSY, ON, LOST = 'off', 'busy', 'on', 'lost'
POLL, IDLE, DOUBT = 5.0, 30.0, 15.0
STATUSES = range(300, 600)


def failed(status=None, **more):
    """An error as the wire has it."""
    phrases = {one.value: one.phrase for one in http.HTTPStatus}
    words = f'{phrases.get(status, "odd")} {status}' if status else 'broken'
    facts = rest.facts(
        **{
            'status': status,
            # A request with a token that was refused gets a new one.
            'transient': status in rest.TRANSIENT or status in (401, None),
            **more,
        }
    )
    return exceptions.NovaClientError(
        reason=f'POST /x: HTTP {status}: {words}', **facts
    )


class StepTestCase(base.BaseTestCase):
    """A switch that Nova turns on, one poll after it was asked."""

    def setUp(self):
        super().setUp()
        self.clock = Clock()
        self.began = self.clock()
        self.state = OFF
        self.answers = []
        """Of the next requests: an error, whether it is done all the same;
        ``'202'``: it is taken and not carried out."""
        self.sent = []
        """When each request was."""
        self.listed = ['req-before']
        self.ids, self.words = [], []
        self.away_until = 0.0
        self.gives_up = ''
        self.limits = {}

    def ask(self):
        self.sent.append(self.clock())
        error, is_done = self.answers.pop(0) if self.answers else (None, True)
        if is_done and self.state != OFF:
            raise failed(409)
        request = f'req-{len(self.sent)}'
        if is_done or error == '202':
            self.listed.insert(0, request)
        if is_done:
            self.state = BUSY
            self.clock.at(self.clock() + POLL, self.arrive)
        if isinstance(error, Exception):
            raise error
        return '' if error == '' else request

    def arrive(self):
        self.state = ON

    def look(self):
        if self.clock() < self.away_until:
            raise failed(503)
        return self.state

    def run_step(self, **limits):
        step = Step(
            participle='on',
            ask=lambda: self.ask(),
            look=self.look,
            is_reached=lambda state: state == ON,
            may_ask=lambda state: state == OFF,
            requests=lambda: self.listed,
            why_given_up=lambda state, request: (
                'lost' if state == LOST else request and self.gives_up
            ),
            on_request=self.ids.append,
            on_trouble=self.words.append,
        )
        patience = Patience(
            is_cancelled=lambda: False,
            tell=lambda text: None,
            clock=self.clock,
            sleep=self.clock.sleep,
        )
        shared = {
            'timeout': 300.0, 'poll_interval': POLL, 'idle': IDLE, **limits,
        }  # fmt: skip
        return StepRun(step, patience, StepLimits(**shared)).carry_out()

    @property
    def passed(self):
        return self.clock() - self.began


class TestOnce(StepTestCase):
    def test_all_is_well(self):
        found = self.run_step()
        self.assertEqual((StepEnd.REACHED, ON, 'req-1', ''), (
            found.end, found.seen, found.request, found.words,
        ))  # fmt: skip
        self.assertEqual((['req-1'], [], POLL), (
            self.ids, self.words, self.passed,
        ))  # fmt: skip

    def test_nothing_is_to_do(self):
        self.state = ON
        self.assertIs(StepEnd.REACHED, self.run_step().end)
        self.assertEqual([], self.sent)

    def test_busy_with_something_else(self):
        self.state = BUSY
        self.clock.at(self.began + 50, lambda: setattr(self, 'state', OFF))
        self.assertIs(StepEnd.REACHED, self.run_step().end)
        self.assertEqual([self.began + 50], self.sent)

    def test_given_up(self):
        self.gives_up = 'No valid host'
        found = self.run_step()
        self.assertEqual(
            (StepEnd.GIVEN_UP, 'No valid host'), (found.end, found.words)
        )

    def test_a_number_of_requests(self):
        self.answers = [(failed(503), False)] * 9
        found = self.run_step(requests=2)
        self.assertIs(StepEnd.LATE, found.end)
        self.assertEqual(2, len(self.sent))

    def test_late(self):
        self.answers = [('202', False)] * 99
        found = self.run_step(timeout=100.0)
        self.assertEqual((StepEnd.LATE, 100.0), (found.end, self.passed))


class TestStatuses(StepTestCase):
    """Each status that an answer may have, lost before or after it."""

    def of_each(self, is_done, **limits):
        for status in STATUSES:
            self.setUp_again()
            self.answers = [(failed(status), is_done)]
            yield status, self.run_step(**limits)

    def setUp_again(self):
        self.clock.now = self.began = 1000.0
        self.state, self.listed = OFF, ['req-before']
        self.sent, self.ids, self.words = [], [], []

    def test_a_server_that_needs_it(self):
        """It is asked for again at the next poll, whatever the answer."""
        for status, found in self.of_each(
            False, conflict=60.0, refusals=3, outage=3600.0
        ):
            self.assertIs(StepEnd.REACHED, found.end, status)
            self.assertEqual([0, POLL], [
                one - self.began for one in self.sent
            ], status)  # fmt: skip
            self.assertEqual(2 * POLL, self.passed, status)
            self.assertIn(f'HTTP {status}: ', self.words[0])

    def test_one_that_does_not(self):
        """It is left at once, with Nova's words, if Nova refuses."""
        passing = {401, 408, 429, *range(500, 600)}
        for status, found in self.of_each(False, doubt=DOUBT):
            if status in passing:
                self.assertIs(StepEnd.REACHED, found.end, status)
                continue
            self.assertIs(StepEnd.REFUSED, found.end, status)
            self.assertIn(f'HTTP {status}: ', found.words)
            self.assertEqual((1, 0), (len(self.sent), self.passed), status)

    def test_quiet_comes_first(self):
        for status, _found in self.of_each(False, doubt=DOUBT):
            if status == 408 or status >= 500:
                first, second = self.sent
                self.assertEqual(DOUBT, second - first, status)

    def test_lost_after_it_was_done(self):
        """It is found, and not asked for again."""
        for status, found in self.of_each(True, conflict=60.0, refusals=3):
            self.assertIs(StepEnd.REACHED, found.end, status)
            self.assertEqual(1, len(self.sent), status)
            if status == 408 or status >= 500:
                self.assertEqual(['req-1'], self.ids, status)

    def test_for_ever(self):
        for status in STATUSES:
            self.setUp_again()
            self.answers = [(failed(status), False)] * 99
            found = self.run_step(conflict=60.0, refusals=3)
            self.assertIn(f'HTTP {status}: ', found.words)
            passes = status in (401, 408, 429) or status >= 500
            self.assertIs(
                StepEnd.LATE if passes else StepEnd.REFUSED, found.end, status
            )
            limit = 300 if passes else 60 if status == 409 else 2 * POLL
            self.assertEqual(limit, self.passed, status)


class TestAnswers(StepTestCase):
    def test_broken_connections(self):
        for sent, is_done, times in (
            (None, False, 2), (False, False, 2), (None, True, 1),
        ):  # fmt: skip
            self.state, self.sent = OFF, []
            self.answers = [(failed(sent=sent), is_done)]
            self.assertIs(StepEnd.REACHED, self.run_step().end)
            self.assertEqual(times, len(self.sent), (sent, is_done))

    def test_an_answer_without_an_id(self):
        for is_done in (False, True):
            self.state, self.sent, self.ids = OFF, [], []
            self.answers = [('', is_done)]
            self.assertIs(StepEnd.REACHED, self.run_step().end)
            self.assertEqual(1 if is_done else 2, len(self.sent))
            self.assertEqual([self.listed[0]], self.ids)

    def test_retry_after(self):
        for status in (409, 413, 429, 503):
            self.state, self.sent = OFF, []
            self.answers = [(failed(status, retry_after=42.0), False)]
            found = self.run_step(conflict=60.0, refusals=3)
            self.assertIs(StepEnd.REACHED, found.end)
            first, second = self.sent
            self.assertEqual(45, second - first)

    def test_a_202_that_is_not_carried_out(self):
        self.answers = [('202', False)]
        self.assertIs(StepEnd.REACHED, self.run_step().end)
        self.assertEqual([0, IDLE], [one - self.began for one in self.sent])
        self.assertEqual(['req-1', 'req-2'], self.ids)

    def test_it_arrives_late(self):
        """While it is looked for."""
        self.answers = [(failed(504), False)]

        def late():
            self.listed.insert(0, 'req-late')
            self.state = BUSY
            self.clock.at(self.clock() + 60, self.arrive)

        self.clock.at(self.began + 10, late)
        self.assertIs(StepEnd.REACHED, self.run_step(doubt=DOUBT).end)
        self.assertEqual((1, ['req-late']), (len(self.sent), self.ids))

    def test_refused_since_it_is_busy(self):
        """It is asked for when that is over."""
        real = self.ask

        def ask():
            self.ask = real
            self.sent.append(self.clock())
            self.state = BUSY
            self.clock.at(self.began + 100, lambda: setattr(
                self, 'state', OFF
            ))  # fmt: skip
            raise failed(409)

        self.ask = ask
        self.assertIs(StepEnd.REACHED, self.run_step().end)
        self.assertEqual([0, 100], [one - self.began for one in self.sent])

    def test_an_interval_after_refusals(self):
        self.answers = [(failed(409), False), (failed(403), False)]
        self.run_step(
            conflict=900.0, refusals=9, retry_interval=120.0, timeout=600.0
        )
        self.assertEqual(
            [0, 120, 240], [one - self.began for one in self.sent]
        )


class TestOutage(StepTestCase):
    def test_it_does_not_count(self):
        """Nova is away for longer than the step may take."""
        self.away_until = self.began + 500
        self.assertIs(StepEnd.REACHED, self.run_step(outage=3600.0).end)
        self.assertEqual([self.began + 500], self.sent)

    def test_not_for_ever(self):
        self.away_until = float('inf')
        self.assertIs(StepEnd.LATE, self.run_step(outage=600.0).end)
        self.assertEqual((900, []), (self.passed, self.sent))

    def test_where_it_counts(self):
        self.away_until = float('inf')
        self.assertIs(StepEnd.LATE, self.run_step().end)
        self.assertEqual(300, self.passed)

    def test_no_list_no_request(self):
        """What was there before has to be known first."""
        real = self.listed

        class Away:
            def __iter__(self):
                raise failed(503)

        self.listed = Away()
        self.clock.at(self.began + 20, lambda: setattr(self, 'listed', real))
        self.assertIs(StepEnd.REACHED, self.run_step().end)
        self.assertEqual([self.began + 20], self.sent)
