# SPDX-License-Identifier: Apache-2.0
"""Are the options alike for operators and old recordings?"""

from oslotest import base

from kronos.engine.settings import Settings
from kronos.extensions.cells.options import CellOptions
from tests.unit.options.differing import differing


class TestOptions(base.BaseTestCase):
    def test_one_default(self) -> None:
        self.assertEqual({}, differing(CellOptions))
        self.assertEqual(CellOptions(), Settings().options(CellOptions))
