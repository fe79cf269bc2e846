# SPDX-License-Identifier: Apache-2.0
"""Is it held inside, and as before afterwards, whatever happens?"""

import gc

from oslotest import base

from kronos.common import gc_pause


class TestHeld(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(gc.enable)

    def test_inside(self) -> None:
        with gc_pause.paused():
            self.assertFalse(gc.isenabled())
        self.assertTrue(gc.isenabled())

    def test_after_an_error(self) -> None:
        self.assertRaises(ZeroDivisionError, self._divide)
        self.assertTrue(gc.isenabled())

    @gc_pause.paused()
    def _divide(self) -> float:
        return 1 / 0

    def test_where_it_did_not_run(self) -> None:
        gc.disable()
        with gc_pause.paused():
            pass
        self.assertFalse(gc.isenabled())
