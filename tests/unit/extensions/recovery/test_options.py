# SPDX-License-Identifier: Apache-2.0
"""Are the options of recovery alike for operators and old recordings?"""

from oslotest import base

from kronos.engine.settings import Settings
from kronos.extensions.recovery.options import RecoveryOptions
from tests.unit.options.differing import differing


class TestOptions(base.BaseTestCase):
    def test_one_default(self) -> None:
        self.assertEqual({}, differing(RecoveryOptions))
        self.assertEqual(
            RecoveryOptions(), Settings().options(RecoveryOptions)
        )
