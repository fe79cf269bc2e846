# SPDX-License-Identifier: Apache-2.0
"""A continuous audit drains a host that is disabled, as it may."""

from typing import Any

from tests.lab import drains

BUDGET = 2


class TestDrain(drains.DrainTestCase):
    def test_a_continuous_audit_drains_within_its_budget(self):
        """In several runs, nothing being uneven."""
        uuids = self.even('cmp6')
        audit = self.going_on(
            'aggregates=alpha evacuate_disabled_hosts=true '
            f'max_migrations={BUDGET}'
        )
        url = f'/v1/audits/{audit["UUID"]}'
        self.wait(lambda: 'alpha: ' in self.message(audit), 'the first run')
        self.assertEqual(
            [], [row for p in self.plans(audit) for row in self.actions(p)]
        )

        self.disable('cmp6')

        self.wait(
            lambda: self.left_on('cmp6') == ['kept'],
            'cmp6 to be drained',
        )
        self.wait(
            lambda: self.only_left(audit, uuids['kept']),
            'the audit to name what is left',
        )
        self.assertIn('cmp6', self.message(audit))
        self.assertEqual('ONGOING', self.cloud.watcher(url)['state'])
        plans = [p for p in self.plans(audit) if self.actions(p)]
        self.assertEqual(2, len(plans))
        for plan in plans:
            self.assertEqual('SUCCEEDED', self.executed(plan)['state'])
            actions = self.actions(plan)
            self.assertLessEqual(len(actions), BUDGET)
            self.check_actions(actions, 'cmp6', {'cmp6'})

    def only_left(self, audit: dict[str, Any], uuid: str) -> bool:
        return [
            list(one['staying']) for one in self.report(audit)['drains']
        ] == [[uuid]] and 'locked' in self.message(audit)
