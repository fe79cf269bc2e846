# SPDX-License-Identifier: Apache-2.0
"""What does Watcher's engine see of a whole move?"""

from watcher.common import exception

from tests.unit.actions.live import whole


class WholeTestCase(whole.WholeMoveTestCase):
    """What its row shows."""

    def refused(self, error, words, run):
        raised = self.assertRaises(error, run)
        self.assertIs(error, type(raised))
        self.assertIn(words, str(raised))

    def test_moves(self):
        self.action.pre_condition()
        self.assertIs(True, self.action.execute())
        self.assertIsNone(self.message())
        self.assertEqual('h2', self.instance.host)

    def test_why_it_waits_is_shown_and_taken_away(self):
        other = self.move_by_hand(self.add_server(2, 'h1'), 'h3')
        seen = []
        self.clock.at(1100, lambda: seen.append(self.message()))
        self.clock.at(1200, lambda: self.end(other))
        self.action.pre_condition()
        self.assertEqual(
            ['KRONOS: waits: 1 under way out of h1, of at most 1'], seen
        )
        self.assertIsNone(self.message())

    def test_pointless(self):
        self.instance.host = 'h3'
        self.refused(
            exception.ActionSkipped,
            'the instance has left h1; it is on h3 now',
            self.action.pre_condition,
        )

    def test_no_turn(self):
        self.move_by_hand(self.add_server(2, 'h1'), 'h3')
        self.refused(
            exception.ActionSkipped,
            'no turn within 30 min',
            self.action.pre_condition,
        )

    def test_wrong(self):
        self.instance.locked = True
        self.refused(
            exception.WatcherException,
            'KRONOS:PreFlightError: [instance_locked] the instance cannot '
            'move: it is locked',
            self.action.pre_condition,
        )

    def test_cancelled_while_it_waits(self):
        self.move_by_hand(self.add_server(2, 'h1'), 'h3')
        self.clock.at(1100, self.cancel)
        self.refused(
            exception.ActionPlanCancelled,
            self.plan.uuid,
            self.action.pre_condition,
        )
        self.assertIsNone(self.message())
        self.assertEqual(1, self.requests)

    def test_cancelled_under_way(self):
        self.instance.script = ('running',) * 99
        self.action.pre_condition()
        self.clock.at(1200, self.cancel)
        self.refused(
            exception.WatcherException,
            'KRONOS:MigrationCancelled: [plan_cancelled] its plan was '
            'cancelled',
            self.action.execute,
        )
        self.assertEqual(1, len(self.aborts))
        self.assertEqual(('h1', None), self.place())

    def test_refused_by_the_scheduler(self):
        self.instance.script = ('accepted', 'error')
        self.instance.refusal = 'No valid host was found.'
        self.action.pre_condition()
        raised = self.assertRaises(
            exception.WatcherException, self.action.execute
        )
        self.assertEqual(
            'KRONOS:PreFlightError: [destination_refused] destination '
            'refused: No valid host was found.',
            str(raised),
        )

    def test_a_remark_on_a_success(self):
        self.instance.host = 'h2'
        self.action.pre_condition()
        self.assertIs(True, self.action.execute())
        self.assertEqual(
            'KRONOS: the instance was on h2 already', self.message()
        )
        self.assertEqual(0, self.requests)

    def test_twice(self):
        self.action.pre_condition()
        self.action.execute()
        self.action._own_run = self.run_of(tell=self.action._tell)
        self.action.pre_condition()
        self.assertIs(True, self.action.execute())
        self.assertEqual(1, self.requests)
