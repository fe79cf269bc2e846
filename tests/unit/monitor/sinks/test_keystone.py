# SPDX-License-Identifier: Apache-2.0
"""Are credentials read again, is TLS kept to, and are secrets kept?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.monitor.sinks.keystone_alone'

    def test_all(self) -> None:
        self.run_alone()
