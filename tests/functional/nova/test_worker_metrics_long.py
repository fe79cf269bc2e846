# SPDX-License-Identifier: Apache-2.0
"""Do twenty pairs of killed workers lose what they counted?"""

from tests.functional.nova import worker_metrics

ROUNDS = 20


class TestWorkers(worker_metrics.WorkersTestCase):
    def test_killed_workers(self):
        self.assert_killed_workers_lose_nothing(ROUNDS)
