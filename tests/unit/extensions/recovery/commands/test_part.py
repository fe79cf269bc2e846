# SPDX-License-Identifier: Apache-2.0
"""Is what a recovery would find a key of the report of test-config?"""

from oslotest import base

from kronos.cmd.checks import parts
from kronos.extensions.recovery.commands.part import RecoveryCommands


class TestRecoveryCommands(base.BaseTestCase):
    def test_it_is_asked(self) -> None:
        """What it finds: test_failures runs the command itself."""
        kinds = {type(part) for part in parts.every()}
        self.assertIn(RecoveryCommands, kinds)
