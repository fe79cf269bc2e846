# SPDX-License-Identifier: Apache-2.0
"""A disabled host is drained; what cannot leave is named."""

from typing import Any

from tests.lab import drains
from tests.lab.drains import PER_HOST


class TestDrain(drains.DrainTestCase):
    def test_one_plan_drains_a_host(self):
        """kronos_evacuate; the host that is down is only named."""
        uuids = self.even('cmp5', 'cmp6')
        self.lab.stop('cmp6')
        self.addCleanup(self.lab.start, 'cmp6')
        for host in ('cmp5', 'cmp6'):
            self.disable(host)
        self.wait(lambda: self.down() == {'cmp6'}, 'cmp6 to be down')

        audit, plan, actions = self.audited(
            'aggregates=alpha', '--auto-trigger', 'kronos_evacuate'
        )

        self.check_actions(actions, 'cmp5', {'cmp5', 'cmp6'})
        self.assertEqual(PER_HOST, len(actions))
        self.assertEqual('SUCCEEDED', self.carried_out(plan)['state'])
        self.assertEqual(['kept'], self.left_on('cmp5'))
        self.assertEqual(PER_HOST, len(self.left_on('cmp6')))
        self.assertIn(
            f'cmp5: {PER_HOST} leave, 1 stays (', audit['Status Message']
        )
        self.check_report(self.report(audit), uuids['kept'])
        self.assertEqual(PER_HOST, self.indicators(plan)['migrations'])

    def check_report(self, found: dict[str, Any], kept: str) -> None:
        [drain] = found['drains']
        self.assertEqual('cmp5', drain['host'])
        self.assertEqual([kept], list(drain['staying']))
        self.assertIn('locked', drain['staying'][kept])
        [warning] = [one for one in found['warnings'] if 'cmp6' in one]
        self.assertIn('down', warning)
