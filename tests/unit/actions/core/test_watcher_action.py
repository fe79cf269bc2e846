# SPDX-License-Identifier: Apache-2.0
"""How does what happens to an action of Kronos reach Watcher?"""

from watcher.common import exception

from kronos.actions.core import watcher_action
from kronos.common import exceptions
from kronos.common.shell_commands import ShellCommand
from kronos.engine import faults
from kronos.engine.faults import Fault
from tests.watcher_tests import db_base as base

UUID = '11111111-1111-1111-1111-111111111111'


class Action(watcher_action.KronosAction):
    begun = error = None

    @property
    def schema(self):
        return {}

    def get_description(self):
        return ''

    def revert(self):
        pass

    def _make_run(self):
        return self

    def begin(self):
        self.begun = True
        self._raise()

    def carry_out(self):
        self._raise()
        return 'a remark'

    def _raise(self):
        if self.error:
            raise self.error


class WatcherActionTestCase(base.DbTestCase):
    def setUp(self):
        super().setUp()
        self.action = Action(None)
        self.action.input_parameters = {}

    def test_success(self):
        self.action.pre_condition()
        self.assertTrue(self.action.begun)
        self.assertIs(True, self.action.execute())

    def test_what_is_pointless_is_skipped(self):
        self.action.error = faults.error(Fault.HOST_NOT_AT_FAULT, 'it is well')
        error = self.assertRaises(
            exception.ActionSkipped, self.action.pre_condition
        )
        self.assertEqual(
            'KRONOS:StaleTask: [host_not_at_fault] it is well', str(error)
        )
        self.assertTrue(error.__suppress_context__)

    def test_a_plan_that_was_cancelled(self):
        self.action.error = faults.error(Fault.PLAN_CANCELLED, 'no')
        error = self.assertRaises(
            exception.ActionPlanCancelled, self.action.pre_condition
        )
        self.assertTrue(error.__suppress_context__)

    def test_failures(self):
        self.action.error = exceptions.NovaClientError(reason='away')
        for call in (self.action.pre_condition, self.action.execute):
            error = self.assertRaises(exception.WatcherException, call)
            self.assertEqual(
                'KRONOS:NovaClientError: [nova_error] Nova: away', str(error)
            )

    def test_what_helps_is_not_cut_off(self):
        """However long the story of Nova is."""
        heal = ShellCommand.HEAL_ALLOCATIONS.of(server=UUID)
        told = watcher_action.message_of(
            faults.error(
                Fault.MIGRATION_FAILED,
                'in ERROR, its guest runs on h1; migration error: '
                f'{"Nova says much about it " * 9}; the instance is ERROR on '
                f'h1; Placement has its allocations on h1 and h2: "{heal}" '
                'corrects them',
            )
        )
        self.assertEqual(210, len(told))
        self.assertTrue(
            told.startswith(
                'KRONOS:MigrationFailed: [migration_failed] Placement has its '
                f'allocations on h1 and h2: "{heal}" corrects them; in ERROR'
            ),
            told,
        )
