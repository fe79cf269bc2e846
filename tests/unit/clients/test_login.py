# SPDX-License-Identifier: Apache-2.0
"""Does every login end, and is all well again when Keystone is?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.clients.login_alone'

    def test_all(self) -> None:
        self.run_alone()
