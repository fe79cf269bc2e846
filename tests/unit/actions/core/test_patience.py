# SPDX-License-Identifier: Apache-2.0
"""Does a move notice at any time that it is no longer wanted?"""

from oslotest import base

from kronos.actions.core.context import Patience
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault


class TestPatience(base.BaseTestCase):
    def patience(self, is_cancelled):
        return Patience(is_cancelled=lambda: is_cancelled, tell=str)

    def test_it_goes_on(self):
        self.assertIsNone(self.patience(False).stop_if_cancelled())

    def test_its_plan_was_cancelled(self):
        error = self.assertRaises(
            exceptions.MigrationCancelled,
            self.patience(True).stop_if_cancelled,
        )
        self.assertIs(Fault.PLAN_CANCELLED, faults.of_error(error))
