# SPDX-License-Identifier: Apache-2.0
"""Are plans the same in every process?"""

import json
import subprocess
import sys
from typing import Any

from oslotest import base

from tests import places

PLANS = """
import json
import sys
from kronos.extensions.room.planning import search
from tests.builders import rooms
from tests.unit.extensions.room.planning import small_clusters
from tests.unit.extensions.room.planning.market import test_most_slots
from tests.unit.extensions.room.planning.test_search import outcome_of
moves = test_most_slots.planned(small_clusters.generated(4, 2), 10)
plans = [[[*vars(move).values()] for move in moves]]
for search.SMALL in (search.SMALL, 0):
    for request in (
        {'flavors': {'f8': 1, 'f4': 2}},
        {'flavors': {'f10': 1}},
        {'flavor': 'f8', 'max_migrations': 5},
    ):
        result = rooms.plan(rooms.scope('abcde'), **request)
        certificate = outcome_of(result).certificate
        plans.append([rooms.moves(result), repr(certificate)])
print(json.dumps(plans))
"""


class TestPlans(base.BaseTestCase):
    def plans(self, hash_seed: str) -> Any:
        completed = subprocess.run(
            [sys.executable, '-c', PLANS],
            env={
                'PYTHONHASHSEED': hash_seed,
                'PYTHONPATH': ':'.join(filter(None, sys.path)),
            },
            cwd=places.TOP,
            capture_output=True,
            text=True,
            check=True,
        )
        # All that it prints is JSON.
        return json.loads(completed.stdout)

    def test_two_hash_seeds(self) -> None:
        first, second = map(self.plans, ('1', '2'))
        self.assertTrue(all(moves for moves, *_ in first))
        self.assertEqual(first, second)
