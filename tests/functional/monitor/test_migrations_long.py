# SPDX-License-Identifier: Apache-2.0
"""Is it so at whatever moment a migration fails?

``KRONOS_MIGRATION_ROUNDS`` says how often each way is gone.
"""

import os
import sys

import testscenarios

from tests.functional.monitor import migrations, ways

ROUNDS = int(os.environ.get('KRONOS_MIGRATION_ROUNDS', '5'))


class TestMoments(testscenarios.WithScenarios, migrations.MigrationTestCase):
    scenarios = [(str(seed), {'seed': seed}) for seed in range(ROUNDS)]
    seed: int

    def test_side_by_side(self) -> None:
        self.tell(self.all_at_once(ways.TOGETHER, self.seed))

    def test_one_by_one(self) -> None:
        self.tell(self.one_by_one(ways.APART, self.seed))

    def tell(self, found: dict[str, tuple[str, ...]]) -> None:
        for name, row in found.items():
            print(self.seed, name, *row, file=sys.stderr)
