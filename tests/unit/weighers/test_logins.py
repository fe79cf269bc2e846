# SPDX-License-Identifier: Apache-2.0
"""Does the thread of a cache get over a Keystone that is not well?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.weighers.logins_alone'

    def test_all(self) -> None:
        self.run_alone()
