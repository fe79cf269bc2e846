# SPDX-License-Identifier: Apache-2.0
"""Is what binds looked at?"""

import fixtures
import numpy as np
from oslotest import base

from kronos.engine.planning.search.local import neighbourhood
from kronos.engine.settings import Settings
from tests.builders import scopes, spreading
from tests.builders.scopes import policy, vm

HOSTS = 40


class TestFocus(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        policies = [policy('cpu')]
        # From 0.2 to 0.785.
        hosts = {f'h{n:02}': [0.2 + 0.015 * n] for n in range(HOSTS)}
        vms = [vm(f'v{n:02}', f'h{n:02}', [0.05]) for n in range(HOSTS)]
        self.simulation = spreading.simulation(
            scopes.scope(policies, hosts, vms), policies, Settings()
        )

    def of(self, moves=()):
        end = neighbourhood.GreedyEnd(moves, np.array([0.7]), np.array([0.3]))
        return neighbourhood.of(self.simulation, end)

    def test_all_of_a_small_scope(self):
        found = self.of()
        self.assertEqual(HOSTS, len(found.hosts))
        self.assertEqual(HOSTS, len(found.instances))
        self.assertGreater(found.effort.placements, 1)

    def test_what_is_outside_of_a_large_one(self):
        self.useFixture(
            fixtures.MonkeyPatch(f'{neighbourhood.__name__}.WHOLE', HOSTS)
        )
        self.useFixture(
            fixtures.MonkeyPatch(f'{neighbourhood.__name__}.ROOMY_HOSTS', 2)
        )
        found = self.of([(20, 15)])
        scores = self.simulation.utilization.scores[0]
        hosts = set(found.hosts.tolist())
        outside = np.flatnonzero((scores > 0.7) | (scores < 0.3)).tolist()
        self.assertLessEqual({*outside, 15, 20}, hosts)
        self.assertLess(len(hosts), HOSTS // 2)
        # All on hosts that are high, or from which something moved.
        instances = set(found.instances.tolist())
        high = np.flatnonzero(scores > 0.7).tolist()
        self.assertLessEqual({*high, 20}, instances)
        self.assertNotIn(0, instances)
        self.assertEqual(1, found.effort.placements)
