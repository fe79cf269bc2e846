# SPDX-License-Identifier: Apache-2.0
"""Two audits of one aggregate in the same second, on two decision engines."""

from tests.lab import base, rivals


class TestRivals(rivals.RivalsTestCase):
    def test_the_same_second(self):
        """One of them plans; the other one says why it does not."""
        self.second_engine()
        self.fill(base.ALPHA[0])
        self.wait_for_metrics()
        audits = self.oneshots(2)
        plans = self.started(audits)
        self.assertEqual(1, len(plans), audits)
        self.check_plans(plans)
        [idle] = [
            audit
            for audit in audits
            if not any(self.actions(plan) for plan in self.plans(audit))
        ]
        self.assertRegex(
            self.shown(idle)['Status Message'], 'cools down|came up while'
        )
