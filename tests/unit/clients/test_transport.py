# SPDX-License-Identifier: Apache-2.0
"""Does an answer take no more memory than it may, whoever sent it?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.clients.transport_alone'

    def test_all(self) -> None:
        self.run_alone()
