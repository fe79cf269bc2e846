# SPDX-License-Identifier: Apache-2.0
"""Does a decision engine go on with what a killed one has counted?"""

from tests.functional.watcher import restarted

ROUNDS = 4


class TestRestarts(restarted.RestartsTestCase):
    def test_restarts(self):
        self.assert_restarts(ROUNDS)
