# SPDX-License-Identifier: Apache-2.0
"""Is no plan below what is counted, and is that not far below?"""

import os
import random
from collections.abc import Mapping, Sequence

from oslotest import base

from kronos.engine.planning.proof import lower_bound
from kronos.engine.planning.proof.lp_relaxation import LpRelaxation
from kronos.engine.settings import Settings
from tests.builders import scopes
from tests.builders.scopes import policy, vm
from tests.unit.engine.oracles import reachable

CLUSTERS = int(os.environ.get('KRONOS_FUZZ', '60'))


def relaxed(
    hosts: Mapping[str, Sequence[float]],
    shares: Mapping[str, Sequence[Sequence[float]]],
    moves: int,
) -> LpRelaxation:
    """:param shares: by host, of each of its instances by policy"""
    number = len(next(iter(hosts.values())))
    policies = [policy(f'p{n}', 1.0 / number) for n in range(number)]
    vms = [
        vm(f'{host}-{n}', host, share)
        for host, row in shares.items()
        for n, share in enumerate(row)
    ]
    snapshot = scopes.scope(policies, hosts, vms)
    settings = Settings(max_migrations=moves)
    simulation = reachable.begun(snapshot, policies, settings)
    assert simulation is not None
    return LpRelaxation.of(simulation, 0)


class TestByHand(base.BaseTestCase):
    def test_a_host_falls_by_its_largest(self) -> None:
        hosts = {'a': [0.9], 'b': [0.5], 'c': [0.4]}
        shares = {'a': [[0.1], [0.3], [0.2]]}
        for moves, lowest in ((1, 0.5), (2, 0.6)):
            scope = relaxed(hosts, shares, moves)
            with self.subTest(moves=moves):
                high, low = lower_bound.levels(scope)
                # Two would do more, but 0.6 is the mean.
                self.assertAlmostEqual(0.6, high)
                self.assertAlmostEqual(-lowest, low)

    def test_policies_share_the_moves(self) -> None:
        """One move lowers one host, and each policy has another one."""
        hosts = {
            'a': [0.9, 0.1],
            'b': [0.1, 0.9],
            'c': [0.1, 0.1],
            'd': [0.1, 0.1],
        }
        shares = {'a': [[0.5, 0.0]], 'b': [[0.0, 0.5]]}
        one, _ = lower_bound.levels(relaxed(hosts, shares, 1))
        two, _ = lower_bound.levels(relaxed(hosts, shares, 2))
        self.assertAlmostEqual(0.5 * (0.4 + 0.9), one)
        self.assertAlmostEqual(0.4, two)

    def test_no_move_is_left(self) -> None:
        hosts = {'a': [0.9], 'b': [0.2]}
        scope = relaxed(hosts, {'a': [[0.5]]}, 1)
        self.assertEqual(1, scope.moves)
        fixed = relaxed(hosts, {}, 1)
        self.assertEqual(0, fixed.moves)
        self.assertAlmostEqual(0.7, sum(lower_bound.levels(fixed)))


class TestEveryScope(base.BaseTestCase):
    def test_nothing_that_is_reached_is_lower(self) -> None:
        seen = 0
        for seed in range(CLUSTERS):
            rng = random.Random(seed)
            snapshot, policies, settings = scopes.draw(rng)
            settings.max_migrations = rng.randint(1, 2)
            simulation = reachable.begun(snapshot, policies, settings)
            if simulation is None:
                continue
            scope = LpRelaxation.of(simulation, rng.choice([0, 10**6]))
            least = reachable.lowest(simulation, settings.max_migrations)
            with self.subTest(seed=seed):
                bound = sum(lower_bound.levels(scope))
                self.assertLessEqual(bound, least + reachable.SAME)
            seen += 1
        self.assertGreater(seen, CLUSTERS / 2)
