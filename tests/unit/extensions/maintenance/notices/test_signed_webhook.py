# SPDX-License-Identifier: Apache-2.0
"""Can a receiver tell what the applier has sent from anything else?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.extensions.maintenance.notices.signed_webhook_alone'

    def test_all(self) -> None:
        self.run_alone()
