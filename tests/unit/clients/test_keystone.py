# SPDX-License-Identifier: Apache-2.0
"""Do version documents that are wrong for a moment stay so, or lead away?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.clients.keystone_alone'

    def test_all(self) -> None:
        self.run_alone()
