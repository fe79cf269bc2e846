# SPDX-License-Identifier: Apache-2.0
"""Which requests may have arrived, and how long is that looked for?"""

from kronos.actions.migration import lost_answers
from kronos.actions.migration.context import Patience
from kronos.common import exceptions
from tests.unit.actions.migration import base


def failed(status, sent=None, reason='POST /x: HTTP 409: it is busy'):
    return exceptions.NovaClientError(reason=reason, status=status, sent=sent)


class TestMayHaveArrived(base.MoveTestCase):
    def test_of_each_kind(self):
        for status, sent, expected in (
            (None, None, True),
            (None, False, False),
            (408, None, True),
            (401, None, False),
            (429, None, False),
            (502, None, True),
            (503, False, False),
        ):
            error = failed(status, sent)
            told = lost_answers.may_have_arrived(error)
            self.assertEqual(expected, told, (status, sent))

    def test_words(self):
        self.assertEqual('it is busy', lost_answers.words_of(failed(409)))


class TestAwaitRequest(base.MoveTestCase):
    def wait(self, find):
        patience = Patience(
            is_cancelled=lambda: False,
            tell=self.told.append,
            clock=self.clock,
            sleep=self.clock.sleep,
        )
        return lost_answers.await_request(
            self.settings, patience, self.client, find
        )

    def test_it_comes_late(self):
        answers = ['', 'req-1']
        self.assertEqual('req-1', self.wait(lambda: answers.pop(0)))
        self.assertEqual(1100.0, self.clock.now)

    def test_nova_knows_of_none(self):
        self.assertEqual('', self.wait(lambda: ''))
        self.assertEqual(1000 + 50 * 3, self.clock.now)

    def test_a_busy_server_is_looked_at_for_longer(self):
        self.instance.task_state = 'resize_prep'
        self.clock.at(1500, lambda: setattr(self.instance, 'task_state', None))
        self.assertEqual('', self.wait(lambda: ''))
        self.assertEqual(1600.0, self.clock.now)

    def test_nova_is_away_for_ever(self):
        def away():
            raise failed(503)

        self.assertEqual('', self.wait(away))
        self.assertEqual(2800.0, self.clock.now)
