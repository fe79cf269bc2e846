# SPDX-License-Identifier: Apache-2.0
"""kronos_spread evens out an aggregate and breaks no rule."""

from typing import Any

from tests.lab import base
from tests.lab.base import Wanted

THRESHOLD = 0.15
CORES, MEMORY_MB = 0.9, 2600


def pile(host: str, count: int, **more: Any) -> list[Wanted]:
    return [
        Wanted(f'{host}-{n}', host, CORES, MEMORY_MB, **more)
        for n in range(count)
    ]


class TestSpread(base.LabTestCase):
    def test_piled_servers_are_spread_within_the_rules(self):
        """The whole way of a plan, against what was worked out by hand."""
        pair = self.cloud.group('pair', 'anti-affinity')
        self.cloud.set_host('cmp5', False, 'maintenance')
        wanted = [
            *pile('cmp1', 6),
            *pile('cmp2', 6),
            Wanted('pair-1', 'cmp1', CORES, MEMORY_MB, group=pair),
            Wanted('pair-2', 'cmp2', CORES, MEMORY_MB, group=pair),
            Wanted('locked', 'cmp1', CORES, MEMORY_MB),
            Wanted('silent', 'cmp2', CORES, MEMORY_MB, metrics=False),
            Wanted('other', 'cmp7', CORES, MEMORY_MB),
        ]
        uuids = self.boot(wanted)
        self.openstack(f'server lock {uuids["locked"]}')
        self.lab.stop('cmp6')
        self.addCleanup(self.lab.start, 'cmp6')
        self.wait(lambda: self.down() == {'cmp6'}, 'cmp6 to be down')

        audit = self.finished(self.audit('aggregates=alpha max_migrations=20'))

        self.assertEqual('SUCCEEDED', audit['State'], audit)
        self.assertIn('alpha: ', audit['Status Message'])
        [plan] = self.plans(audit)
        self.assertEqual('RECOMMENDED', plan['state'])
        self.check_indicators(plan)
        self.check_actions(self.actions(plan))
        before = self.cloud.placement()
        self.start(plan)
        self.assertEqual('SUCCEEDED', self.executed(plan)['state'])
        self.assertEqual(
            {'SUCCEEDED'},
            {action['state'] for action in self.actions(plan)},
        )
        after = self.cloud.placement()
        self.assertNotEqual(after['pair-1'], after['pair-2'])
        for name in ('locked', 'silent', 'other'):
            self.assertEqual(before[name], after[name], name)
        moved = {n: h for n, h in after.items() if h != before[n]}
        self.assertEqual({'cmp3', 'cmp4'}, set(moved.values()))
        self.wait_for_metrics()
        for policy, value in self.imbalances(
            ['cmp1', 'cmp2', 'cmp3', 'cmp4']
        ).items():
            self.assertLessEqual(value, THRESHOLD, policy)

    def check_indicators(self, plan: dict[str, Any]) -> None:
        indicators = {
            row['name']: float(row['value'])
            for row in plan['efficacy_indicators']
        }
        self.assertGreater(indicators['combined_imbalance_before'], 0.25)
        self.assertLessEqual(indicators['combined_imbalance_after'], THRESHOLD)
        self.assertEqual(len(self.actions(plan)), indicators['migrations'])
        self.assertEqual(2, indicators['hosts_over_threshold_before'])
        self.assertEqual(0, indicators['hosts_over_threshold_after'])

    def check_actions(self, actions: list[dict[str, Any]]) -> None:
        self.assertGreater(len(actions), 3)
        for action in actions:
            self.assertEqual('kronos_live_migrate', action['action_type'])
            given = action['input_parameters']
            self.assertEqual('alpha', given['aggregate'])
            self.assertEqual('spread', given['phase'])
            self.assertIn(given['source_node'], ('cmp1', 'cmp2'))
            self.assertIn(given['destination_node'], ('cmp3', 'cmp4'))
