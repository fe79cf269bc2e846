# SPDX-License-Identifier: Apache-2.0
"""Does each command of the openstack client end, whatever Keystone says?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.osc.logins_alone'

    def test_all(self) -> None:
        self.run_alone()
