# SPDX-License-Identifier: Apache-2.0
"""Do credentials stay at the scheme, host and port that were asked?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.clients.redirects_alone'

    def test_all(self) -> None:
        self.run_alone()
