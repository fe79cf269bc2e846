# SPDX-License-Identifier: Apache-2.0
"""Does a window say in a few words whether it is open?"""

from oslotest import base

from kronos.engine.types import ScopeWindow


class TestScopeWindow(base.BaseTestCase):
    def test_text(self) -> None:
        for window, text in (
            (ScopeWindow(True), 'open'),
            (ScopeWindow(True, '22:00 (UTC)'), 'open until 22:00 (UTC)'),
            (ScopeWindow(False, '22:00 (UTC)'), 'closed until 22:00 (UTC)'),
            (ScopeWindow(False, fault='no zone'), 'unusable: no zone'),
        ):
            self.assertEqual(text, window.text)
