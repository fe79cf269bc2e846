# SPDX-License-Identifier: Apache-2.0
"""Can the codes of a run be told from those of the trunk?"""

from oslotest import base

from kronos.engine.reasons import Code
from kronos.extensions.maintenance.codes import MaintenanceCode


class TestCodes(base.BaseTestCase):
    def test_of_its_own(self) -> None:
        for code in MaintenanceCode:
            self.assertTrue(code.startswith('maintenance_'), code)
            self.assertTrue(code.means.endswith('.'), code)
        self.assertEqual(set(), {*MaintenanceCode} & {*Code})

    def test_only_a_lack_of_room_can_be_remedied(self) -> None:
        """The rest comes by waiting for the run."""
        self.assertEqual(
            [MaintenanceCode.NO_ROOM_YET],
            [code for code in MaintenanceCode if code.remedy],
        )
