# SPDX-License-Identifier: Apache-2.0
"""Do hints name what they are about?"""

from oslotest import base

from kronos.extensions.maintenance import hints


class TestHints(base.BaseTestCase):
    def test_names(self) -> None:
        self.assertIn('h1, h2 cannot take', hints.closed(['h1', 'h2']))
        self.assertIn('audit even goes on', hints.balanced('even'))
