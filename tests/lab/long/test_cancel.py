# SPDX-License-Identifier: Apache-2.0
"""An action plan is cancelled while its moves are in the rarer states.

The table stands in :mod:`tests.lab.test_cancel`.
"""

from typing import Any

import testscenarios

from tests.lab import cancelled, moves
from tests.lab.cancelled import CANCELLED
from tests.lab.moves import DESTINATION, HELD, SOURCE


class TestUnderWay(testscenarios.TestWithScenarios, cancelled.CancelTestCase):
    scenarios = [  # noqa: RUF012
        (state, {'state': state, 'rule': rule, 'answer': answer})
        for state, rule, answer in (
            ('accepted', {'accepted_seconds': None, **HELD}, 400),
            ('queued', {'queued_seconds': None}, None),
            ('preparing', {'preparing_seconds': None, **HELD}, 202),
        )
    ]
    state: str
    rule: dict[str, Any]
    answer: int | None

    def test_cancelled(self):
        self.cancel_under_way(self.state, self.rule, self.answer)


class TestOtherwise(cancelled.CancelTestCase):
    def test_taking_over(self):
        """The guest has left, so there is nothing to be aborted."""
        self.boot_here('a', 'b')
        plan = self.planned()
        self.cloud.set_migrations({'default': {'post_seconds': None}})
        self.start(plan)
        name, other = self.first('running')
        self.wait_event(name, moves.TAKES_OVER)
        self.cancel(plan)
        self.wait(lambda: 202 in self.aborts(), 'the request to abort it')
        self.cloud.set_migrations({})
        rows = self.ended(plan, 'CANCELLED')
        self.assert_told(
            rows[name], 'SUCCEEDED', 'completed instead of cancelled'
        )
        self.assert_never_started(rows[other])
        self.assert_at_rest({name: DESTINATION, other: SOURCE})
        self.assertEqual(1, len(self.orders()))

    def test_waiting_for_its_time(self):
        """By its plan, and by what has started since."""
        self.boot_here('a', 'b')
        plan = self.planned(stagger_seconds=900)
        self.configure()
        self.start(plan)
        row = self.telling(plan, 'waits: not before')
        self.assertEqual('PENDING', row['state'])
        name = row['input_parameters']['resource_name']
        [first] = {'a', 'b'} - {name}
        self.wait(
            lambda: self.rows(plan)[first]['state'] == 'SUCCEEDED',
            f'{first} to arrive',
        )
        self.cancel(plan)
        rows = self.ended(plan, 'CANCELLED')
        self.assert_never_started(rows[name])
        self.assert_told(rows[first], 'SUCCEEDED')

        plan = self.planned(name)
        self.configure(stagger_seconds=900)
        self.start(plan)
        row = self.telling(plan, 'waits: the last one in alpha started')
        self.assert_told(row, 'PENDING', 'stagger_seconds is 900')
        self.cancel(plan)
        rows = self.ended(plan, 'CANCELLED')
        self.assert_never_started(rows[name])
        self.assert_at_rest({name: SOURCE, first: DESTINATION})
        self.assertEqual(1, len(self.orders()))

    def test_waiting_for_another_try(self):
        """Not even a wait that is long holds it up."""
        self.boot_here('a', 'b')
        plan = self.planned(retry_backoff=900)
        self.cloud.set_nova_api([{'method': 'POST', 'answer': 503}])
        self.start(plan)
        row = self.telling(plan, 'tries again in 15 min')
        self.assert_told(row, 'ONGOING', 'HTTP 503')
        name = row['input_parameters']['resource_name']
        [other] = {'a', 'b'} - {name}
        self.cancel(plan)
        rows = self.ended(plan, 'CANCELLED')
        self.assert_told(rows[name], 'FAILED', CANCELLED)
        self.assert_never_started(rows[other])
        self.assertEqual([], self.migrations())
        self.assert_at_rest({'a': SOURCE, 'b': SOURCE})
        self.assertEqual([], self.orders())
