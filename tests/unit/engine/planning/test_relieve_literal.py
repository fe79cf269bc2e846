# SPDX-License-Identifier: Apache-2.0
"""Does a relief plan, move by move, what its literal rule does?"""

import random

from kronos.engine.types import StopReason
from tests.unit.engine.oracles.comparing import LiteralTestCase, PlanningInput
from tests.unit.engine.oracles.relieve_literal import RelieveLiteral
from tests.unit.engine.planning.test_pack_literal import packed

CASES = 400
LIMITS = 0.3, 0.5, 0.7, 0.85, 0.9, 0.95


def overfull(seed: int) -> PlanningInput:
    """A scope by lot in mode pack, of which some hosts are overfull."""
    rng = random.Random(f'overfull {seed}')
    snapshot, policies, settings = packed(seed)
    limit = rng.choice(LIMITS)
    policies = [
        one.model_copy(
            update={
                'capacity_threshold': rng.choice([0.4, 0.6, 0.8]),
                'relief_threshold': rng.choice([limit, limit, 1.0]),
            }
        )
        for one in policies
    ]
    first = policies[0]
    policies[0] = first.model_copy(update={'relief_threshold': limit})
    for one in policies:
        capacity = snapshot.readings[one.name].capacity
        assert capacity is not None
        for sample in capacity.samples:
            sample.value *= 0.6
            if rng.random() < 0.3:
                limit = max(one.capacity_threshold, one.relief_threshold % 1.0)
                sample.value = limit + rng.uniform(-0.02, 0.1)
    return snapshot, policies, settings


class TestLiteralRule(LiteralTestCase):
    def _compare(self, partial: bool) -> None:
        cases = [overfull(seed) for seed in range(CASES)]
        for _, _, settings in cases:
            settings.pack_partial_drains = partial
        tally = self.compare(cases, RelieveLiteral)
        self.assertGreater(tally.planned, CASES // 4)
        self.assertGreater(tally.relieved, CASES // 3)
        self.assertGreater(tally.moves, tally.relieved + CASES // 8)
        self.assertEqual({StopReason.PACKED, StopReason.BUDGET}, tally.stopped)

    def test_whole_drains(self) -> None:
        self._compare(partial=False)

    def test_partial_drains(self) -> None:
        self._compare(partial=True)
