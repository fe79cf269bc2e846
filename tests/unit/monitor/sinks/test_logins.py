# SPDX-License-Identifier: Apache-2.0
"""Does a sink say so when Keystone is not well, and deliver when it is?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.monitor.sinks.logins_alone'

    def test_all(self) -> None:
        self.run_alone()
