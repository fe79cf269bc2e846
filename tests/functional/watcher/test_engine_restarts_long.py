# SPDX-License-Identifier: Apache-2.0
"""Do twenty restarts of the decision engine lose or repeat a count?"""

from tests.functional.watcher import restarted

ROUNDS = 20


class TestRestarts(restarted.RestartsTestCase):
    def test_restarts(self):
        self.assert_restarts(ROUNDS)
