# SPDX-License-Identifier: Apache-2.0
"""Does the HTTP server stay within its bounds, whoever connects?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.common.web.http_server_alone'

    def test_all(self) -> None:
        self.run_alone()
