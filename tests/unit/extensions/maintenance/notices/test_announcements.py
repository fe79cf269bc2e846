# SPDX-License-Identifier: Apache-2.0
"""Do broker and webhook hear of a change, and never hold it up?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.extensions.maintenance.notices.announcements_alone'

    def test_all(self) -> None:
        self.run_alone()
