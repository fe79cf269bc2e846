# SPDX-License-Identifier: Apache-2.0
"""Does a task tell whose fault a refusal of Nova is?"""

from oslotest import base

from kronos.actions.core.parameters import MigrationTask
from kronos.engine import faults
from kronos.engine.faults import Fault

TASK = MigrationTask('uuid', 'cmp1', 'cmp2', 'spread')


class TestRefused(base.BaseTestCase):
    def test_whose_fault(self):
        for reason, fault, text in (
            (
                'Compute service of cmp1 is unavailable at this time.',
                Fault.SOURCE_NOT_UP,
                'source refused: ',
            ),
            (
                'Compute service of cmp2 is unavailable at this time.',
                Fault.DESTINATION_NOT_UP,
                'destination refused: ',
            ),
            (
                'Compute service of cmp11 is unavailable at this time.',
                Fault.DESTINATION_REFUSED,
                'destination refused: ',
            ),
            (
                'No valid host was found.',
                Fault.DESTINATION_REFUSED,
                'destination refused: ',
            ),
        ):
            error = TASK.refused(reason)
            self.assertIs(fault, faults.of_error(error))
            self.assertIn(f'{text}{reason}', str(error))

    def test_what_is_not_as_it_was(self):
        """It comes last: Nova's words are the cause."""
        error = TASK.refused('No valid host', '; it is in ERROR')
        self.assertTrue(str(error).endswith('No valid host; it is in ERROR'))
