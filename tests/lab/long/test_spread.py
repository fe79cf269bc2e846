# SPDX-License-Identifier: Apache-2.0
"""One audit evens out two aggregates, and carries its plan out."""

from tests.lab import base
from tests.lab.test_spread import THRESHOLD, pile


class TestSpread(base.LabTestCase):
    def test_auto_trigger_carries_the_plan_out(self):
        """Two scopes in one audit, each by itself."""
        self.boot([*pile('cmp1', 6), *pile('cmp7', 6)])

        audit = self.finished(
            self.audit(
                'aggregates=alpha,beta include_unassigned_hosts=true '
                'max_migrations=20',
                '--auto-trigger',
            )
        )

        self.assertEqual('SUCCEEDED', audit['State'], audit)
        [plan] = self.plans(audit)
        self.assertEqual('SUCCEEDED', self.executed(plan)['state'])
        for action in self.actions(plan):
            given = action['input_parameters']
            hosts = base.topology.AGGREGATES[given['aggregate']]
            self.assertIn(given['source_node'], hosts)
            self.assertIn(given['destination_node'], hosts)
        self.wait_for_metrics()
        for hosts in base.topology.AGGREGATES.values():
            for policy, value in self.imbalances(hosts).items():
                self.assertLessEqual(value, THRESHOLD, policy)
        self.assertNotIn('cmp9', self.cloud.placement().values())
