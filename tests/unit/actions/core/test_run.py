# SPDX-License-Identifier: Apache-2.0
"""Are the four steps of an action taken in their order, and again?"""

from oslotest import base as oslotest_base

from kronos.actions.core import context, notifications, run, slots
from kronos.actions.core.parameters import MoveSettings
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from tests.unit.actions.live import base

AWAY = exceptions.NovaClientError('away', transient=True)
REFUSED = faults.error(Fault.NOVA_REJECTED, 'refused')


class Steps:
    """Four steps, each of which may fail."""

    def __init__(self, *more):
        super().__init__(*more)
        self.steps = []
        self.errors = {}
        """What the next times of a step raise, by its name."""

    def _note(self, step, answer):
        self.steps.append(step)
        if self.errors.get(step):
            raise self.errors[step].pop(0)
        return answer

    def _preflight(self):
        return self._note('pre-flight', '')

    def _request(self):
        return self._note('request', 'r')

    def _watch(self, sent):
        return self._note('watch', f'{sent}w')

    def _conclude(self, seen):
        return self._note('conclude', f'{seen}c')


class Plain(Steps, run.Run):
    """An action that is no move."""


class Move(Steps, run.MoveRun):
    """A move whose request may have arrived though its answer was lost."""

    late = False

    def _record(self):
        return notifications.Record()

    def _is_late(self):
        return self._note('late?', self.late)


class TestRun(oslotest_base.BaseTestCase):
    def test_order(self):
        action = Plain()
        action.begin()
        self.assertEqual(['pre-flight'], action.steps)
        self.assertEqual('rwc', action.carry_out())
        self.assertEqual(
            ['pre-flight', 'request', 'watch', 'conclude'], action.steps
        )

    def test_none_after_one_that_fails(self):
        action = Plain()
        action.errors = {'watch': [REFUSED]}
        self.assertRaises(exceptions.MigrationError, action.carry_out)
        self.assertEqual(['request', 'watch'], action.steps)


class MoveRunTestCase(base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.move = Move(
            MoveSettings(self.task, max_retries=1),
            context.MoveContext(
                nova=self.client,
                placement=self.placement,
                slots=self.slots,
                notices=self.notices,
                is_cancelled=lambda: self.cancelled,
                tell=self.told.append,
                clock=self.clock,
                wall=self.clock,
                sleep=self.clock.sleep,
            ),
        )

    def carry_out(self):
        self.move.begin()
        return self.move.carry_out()

    def test_at_once(self):
        self.assertEqual('rwc', self.carry_out())
        self.assertEqual([('completed', 0, None)], self.events())

    def test_again_from_the_start(self):
        self.move.errors = {'watch': [AWAY]}
        self.assertEqual('rwc', self.carry_out())
        self.assertEqual(
            [
                'pre-flight',
                'request',
                'watch',
                'pre-flight',
                'request',
                'watch',
                'conclude',
            ],
            self.move.steps,
        )
        self.assertEqual(
            [('failed', 0, False), ('completed', 1, None)], self.events()
        )

    def test_not_for_ever(self):
        self.move.errors = {'request': [AWAY] * 3}
        self.fails(
            exceptions.NovaClientError, 'tried 2 times', run=self.carry_out
        )
        self.assertEqual(
            [('failed', 0, False), ('failed', 1, True)], self.events()
        )

    def test_not_what_nova_refuses(self):
        self.move.errors = {'request': [REFUSED]}
        self.fails(type(REFUSED), 'refused', run=self.carry_out)
        self.assertEqual([('failed', 0, True)], self.events())

    def test_a_pre_flight_that_fails(self):
        self.move.errors = {'pre-flight': [REFUSED]}
        self.fails(type(REFUSED), 'refused', run=self.move.begin)
        self.assertEqual([('failed', 0, True)], self.events())

    def test_its_wait_ends_otherwise(self):
        """What ended the wait is the end of the move."""
        self.move.begin()
        self.move.errors = {'request': [AWAY], 'pre-flight': [REFUSED]}
        self.fails(type(REFUSED), 'refused', run=self.move.carry_out)
        self.assertEqual(
            [('failed', 0, False), ('failed', 0, True)], self.events()
        )

    def test_it_is_cancelled_while_it_waits(self):
        self.move.begin()
        self.move.errors = {'request': [AWAY]}
        self.clock.at(self.clock() + 1, self.cancel)
        self.fails(
            exceptions.MigrationCancelled, 'cancelled', run=self.move.carry_out
        )

    def test_it_is_cancelled_and_its_request_had_arrived(self):
        """It is followed, to be aborted."""
        self.move.begin()
        self.move.errors = {'request': [AWAY]}
        self.move.late = True
        self.clock.at(self.clock() + 1, self.cancel)
        self.assertEqual('rwc', self.move.carry_out())

    def test_it_is_cancelled_and_nova_does_not_tell(self):
        self.move.begin()
        self.move.errors = {'request': [AWAY], 'late?': [AWAY]}
        self.clock.at(self.clock() + 1, self.cancel)
        self.fails(
            exceptions.MigrationCancelled, 'cancelled', run=self.move.carry_out
        )

    def cancel(self):
        self.cancelled = True

    def test_another_delivery_has_made_it(self):
        self.slots.entries = [slots.DeliveryState.OVER]
        self.assertEqual('', self.carry_out())
        self.assertEqual([], self.move.steps)

    def test_another_delivery_takes_it_over(self):
        self.move.begin()
        self.move.errors = {'request': [slots.Replaced(reason='another')]}
        self.slots.entries = [slots.DeliveryState.OVER]
        self.assertEqual('', self.move.carry_out())
        self.assertEqual([], self.events())

    def test_somebody_else_has_made_it(self):
        self.move._has_arrived = True
        self.assertEqual(
            'the instance was on h2 already', self.move.carry_out()
        )
        self.assertEqual([], self.events())
