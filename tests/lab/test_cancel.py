# SPDX-License-Identifier: Apache-2.0
"""An action plan is cancelled: what becomes of its moves, in each state?

======================  ==============  =======================================
The move                Its action      Its server
======================  ==============  =======================================
waits for its turn      CANCELLED       on its source, Nova was not asked
waits for its time      CANCELLED       on its source, Nova was not asked
waits for another try   FAILED, told    on its source, Nova did not get it
accepted                FAILED, told    on its source, aborted when it can be
queued                  FAILED, told    on its source, aborted
preparing               FAILED, told    on its source, aborted
running                 FAILED, told    on its source, aborted
taking over             SUCCEEDED       on its destination, which is told
======================  ==============  =======================================

The other actions are CANCELLED and never start. A plan that has no other is
FAILED: Watcher calls one CANCELLED only if something was left to be started.
"""

from typing import Any

import testscenarios

from tests.lab import moves
from tests.lab.moves import DESTINATION, HELD, SOURCE

CANCELLED = (
    'KRONOS:MigrationCancelled: [plan_cancelled] its plan was cancelled'
)


class TestUnderWay(testscenarios.TestWithScenarios, moves.MovesTestCase):
    """Exactly this migration is aborted, whatever its state."""

    scenarios = [  # noqa: RUF012
        (state, {'state': state, 'rule': rule, 'answer': answer})
        for state, rule, answer in (
            ('accepted', {'accepted_seconds': None, **HELD}, 400),
            ('queued', {'queued_seconds': None}, None),
            ('preparing', {'preparing_seconds': None, **HELD}, 202),
            ('running', HELD, None),
        )
    ]
    state: str
    rule: dict[str, Any]
    answer: int | None
    """To the request to abort it, before it is set free; None: it need not
    be."""

    def test_cancelled(self):
        self.boot_here('a', 'b')
        plan = self.planned()
        self.cloud.set_migrations({'default': self.rule})
        self.start(plan)
        name, other = self.first(self.state)
        self.cancel(plan)
        if self.answer:
            self.wait(lambda: self.answer in self.aborts(), 'its abort')
            self.assertEqual(self.state, self.status(name))
            self.cloud.set_migrations({'default': HELD})
        rows = self.ended(plan, 'CANCELLED')
        self.assert_told(rows[name], 'FAILED', CANCELLED)
        self.assert_never_started(rows[other])
        self.assertEqual('cancelled', self.status(name))
        self.assert_at_rest({'a': SOURCE, 'b': SOURCE})
        self.assertEqual(1, len(self.orders()))


class TestOtherwise(moves.MovesTestCase):
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

    def test_waiting_for_a_turn(self):
        """It tells what it waits for."""
        self.boot_here('a', 'b')
        plan = self.planned()
        self.uuids['c'] = self.cloud.boot('c', SOURCE, cpu=0.1)['id']
        self.cloud.set_migrations({'c': HELD})
        self.by_hand('c', 'cmp9')
        self.wait_status('c', 'running')
        self.start(plan)
        self.assert_told(
            self.telling(plan, 'waits: '),
            'PENDING',
            f'waits: 1 under way out of {SOURCE}, of at most 1',
        )
        self.cancel(plan)
        for row in self.ended(plan, 'CANCELLED').values():
            self.assert_never_started(row)
        self.assertEqual([], self.orders())
        self.cloud.set_migrations({})
        self.wait_status('c', 'completed')
        self.assert_at_rest({'a': SOURCE, 'b': SOURCE, 'c': 'cmp9'})

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
        row = self.telling(plan, 'tries again in 900 s')
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
