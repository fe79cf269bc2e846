# SPDX-License-Identifier: Apache-2.0
"""kronos_pack empties hosts and fills none too much."""

from typing import Any

from tests.lab import base, packing
from tests.lab.base import Wanted
from tests.lab.packing import FULL

CORES, MEMORY_MB = 2.0, 2600
BUDGET = 20


class TestPack(packing.PackTestCase):
    def test_a_lightly_loaded_cloud(self):
        """What is only scored as full is not; FULL is, and is relieved."""
        hosts = [host for host in base.ALPHA if host != FULL]
        self.boot(
            Wanted(f'{host}-{n}', host, CORES, MEMORY_MB)
            for host in [*hosts, FULL]
            for n in range(3 if host == FULL else 2)
        )
        self.wait(self.has_forgotten, 'the readings to be of now')
        before = self.cloud.placement()

        audit, plan, actions = self.audited(
            f'aggregates=alpha max_migrations={BUDGET}', '', 'kronos_pack'
        )

        self.assertIn('alpha: ', audit['Status Message'])
        self.assertEqual({'relieve', 'pack'}, self.phases(actions))
        self.check_actions(actions)
        self.carried_out(plan)
        after = self.cloud.placement()
        emptied = set(before.values()) - set(after.values())
        self.assertGreaterEqual(len(emptied), 2, after)
        self.check_indicators(plan, len(actions), len(emptied))
        self.wait_for_metrics()
        self.check_ceilings()

    def check_actions(self, actions: list[dict[str, Any]]) -> None:
        self.assertLessEqual(len(actions), BUDGET)
        for row in actions:
            parameters = row['input_parameters']
            is_relief = parameters['phase'] == 'relieve'
            self.assertEqual(is_relief, parameters['source_node'] == FULL)
        emptied = {row['input_parameters']['source_node'] for row in actions}
        for row in actions:
            parameters = row['input_parameters']
            self.assertIn(parameters['source_node'], base.ALPHA)
            self.assertIn(parameters['destination_node'], base.ALPHA)
            self.assertNotEqual(FULL, parameters['destination_node'])
            self.assertNotIn(parameters['destination_node'], emptied)

    def check_indicators(
        self, plan: dict[str, Any], migrations: int, released: int
    ) -> None:
        found = self.indicators(plan)
        self.assertEqual(migrations, found['migrations'])
        self.assertEqual(6, found['hosts_in_use_before'])
        self.assertEqual(6 - released, found['hosts_in_use_after'])
        self.assertEqual(released, found['hosts_released'])

    def check_ceilings(self) -> None:
        """What Prometheus itself has, without what this test adds to it."""
        for policy, values in self.measured().items():
            for host in base.ALPHA:
                self.assertLess(values[host], self.ceilings[policy], host)
