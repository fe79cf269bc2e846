# SPDX-License-Identifier: Apache-2.0
"""What does a snapshot keep for a recovery?"""

from oslotest import base

from kronos.extensions.recovery import failures
from kronos.extensions.recovery.failures import Failures
from tests.builders import cells


class TestFailures(base.BaseTestCase):
    def test_of(self) -> None:
        snapshot = cells.cells([])
        self.assertEqual(Failures(), failures.of(snapshot))
        own = Failures('away', ['z'])
        snapshot.beside[failures.NAME] = own
        self.assertIs(own, failures.of(snapshot))
