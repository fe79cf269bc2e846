# SPDX-License-Identifier: Apache-2.0
"""One client command takes a strategy from the question to the end."""

from tests.lab import base
from tests.lab.base import Wanted

CORES, MEMORY_MB = 0.9, 2600
WHOLE = '--aggregate alpha --start --yes --wait'
DONE, REFUSED, NOTHING_PLANNED = 0, 1, 3


class TestRun(base.LabTestCase):
    def run_strategy(self, words: str) -> tuple[int, str, str]:
        done = self.run_client(f'optimize kronos run {words}')
        return done.returncode, done.stdout, done.stderr

    def test_strategies(self):
        """Each by one command; later ones find what earlier ones leave."""
        self.boot(
            Wanted(f'cmp1-{n}', 'cmp1', CORES, MEMORY_MB) for n in range(6)
        )
        code, out, err = self.run_strategy(
            f'spread {WHOLE} --param max_migrations=3'
        )
        self.assertEqual(DONE, code, err)
        self.assertIn('3 of 3 actions succeeded', out)
        self.assertIn('Combined imbalance: ', out)

        self.cloud.set_host('cmp1', False, 'maintenance')
        code, out, err = self.run_strategy(f'evacuate {WHOLE}')
        self.assertEqual(DONE, code, err)
        self.assertNotIn('cmp1', self.cloud.placement().values())

        for strategy, message in (
            ('affinity', 'alpha: no server group is broken'),
            ('recover', 'alpha: there is no host to drain'),
        ):
            code, out, err = self.run_strategy(f'{strategy} {WHOLE}')
            self.assertEqual(NOTHING_PLANNED, code, err)
            self.assertIn(message, out)

        code, out, err = self.run_strategy(f'pack {WHOLE}')
        self.assertEqual(REFUSED, code, out)
        self.assertIn('kronos_pack needs mode pack', err)
