# SPDX-License-Identifier: Apache-2.0
"""Does each end of a run have a status of its own?"""

from oslotest import base

from kronos.osc.run.exit_status import ExitStatus


class TestExitStatus(base.BaseTestCase):
    def test_none_is_another_name_of_one(self) -> None:
        names = list(ExitStatus.__members__)
        self.assertEqual(names, [status.name for status in ExitStatus])
        self.assertEqual(0, ExitStatus.DONE)
