# SPDX-License-Identifier: Apache-2.0
"""Do killed workers of nova-scheduler lose what they counted?"""

from tests.functional.nova import worker_metrics

ROUNDS = 3


class TestWorkers(worker_metrics.WorkersTestCase):
    def test_killed_workers(self):
        self.assert_killed_workers_lose_nothing(ROUNDS)
