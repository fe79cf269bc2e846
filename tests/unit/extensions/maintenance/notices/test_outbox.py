# SPDX-License-Identifier: Apache-2.0
"""Does each notice get to the webhook, whatever happens meanwhile?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.extensions.maintenance.notices.outbox_alone'

    def test_all(self) -> None:
        self.run_alone()
