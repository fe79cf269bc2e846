# SPDX-License-Identifier: Apache-2.0
"""Five minutes of random faults, and nothing that Kronos promises is broken.

What it prints says how to repeat the case.
"""

import subprocess
import sys

from oslotest import base as test_base

from tests.lab import base

SEED, MINUTES = 7, 5


class TestChaos(test_base.BaseTestCase):
    def test_five_minutes(self):
        """Every event and every finding is in the log of the test."""
        base.lab()
        done = subprocess.run(
            [
                sys.executable,
                str(base.TOP / 'tools' / 'chaos'),
                f'--seed={SEED}',
                f'--minutes={MINUTES}',
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        print(done.stdout)
        self.assertEqual(0, done.returncode, done.stdout)
        self.assertIn('the same again: ./tools/chaos --seed 7', done.stdout)
