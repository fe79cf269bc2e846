# SPDX-License-Identifier: Apache-2.0
"""An EVENT audit runs each time that it is triggered."""

import time

from tests.functional.watcher import base


class TestEventAudits(base.KronosTestCase):
    def trigger(self, audit, number):
        """As a webhook does it; the audit, once that run is over."""
        response = self.admin_api.post(f'/webhooks/{audit["uuid"]}', {})
        self.assertEqual(202, response.status_code, response.text)
        self.until(lambda: len(self.plans(audit)) == number)
        return self.wait_for('audits', audit['uuid'])

    def until(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_again_and_again(self):
        """Watcher itself leaves one ONGOING from the second time on."""
        response = self.admin_api.post(
            '/audits',
            {
                'audit_type': 'EVENT',
                'goal': 'kronos_balance',
                'strategy': 'kronos_spread',
                'parameters': {'aggregates': 'alpha'},
            },
        )
        audit = response.json()
        for number in (1, 2, 3):
            found = self.trigger(audit, number)
            self.assertEqual('SUCCEEDED', found['state'], number)
