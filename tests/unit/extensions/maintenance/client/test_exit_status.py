# SPDX-License-Identifier: Apache-2.0
"""Are the exit statuses those that plays and scripts wait for?"""

from oslotest import base

from kronos.extensions.maintenance.client.exit_status import ExitStatus


class TestExitStatus(base.BaseTestCase):
    def test_numbers(self) -> None:
        self.assertEqual(
            {
                'REACHED': 0,
                'ERROR': 1,
                'USAGE': 2,
                'NOT_YET': 3,
                'BLOCKED': 4,
                'PAUSED': 5,
                'LATE': 6,
                'INTERRUPTED': 130,
            },
            {status.name: status.value for status in ExitStatus},
        )
