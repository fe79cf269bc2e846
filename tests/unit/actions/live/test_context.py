# SPDX-License-Identifier: Apache-2.0
"""Is a live migration possible without any exporter?"""

from tests.unit.actions.live import base


class ContextTestCase(base.MoveTestCase):
    def test_no_exporter_tells_of_guests(self):
        context = self.run_of()._context
        self.assertEqual({}, context.guest_states(base.UUID))
        self.assertIsNone(context.exclusions)
