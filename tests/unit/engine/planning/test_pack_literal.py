# SPDX-License-Identifier: Apache-2.0
"""Do masks and trials change what pack plans? Never: it is the rule."""

import random
from collections.abc import Sequence

from kronos.engine.types import Instance, Reading, Sample, Snapshot, StopReason
from kronos.policies.models import Mode, Policy
from tests.builders import scopes
from tests.unit.engine.oracles.comparing import LiteralTestCase, PlanningInput
from tests.unit.engine.oracles.pack_literal import PackLiteral

CASES = 400
RATIOS = [0.5, 0.8, 1.0, 1.0, 1.2]


class _Lot(scopes._Lot):
    """Instances are on any host, and less is fixed: worth packing."""

    def _vms(
        self, names: list[str], policies: list[Policy]
    ) -> list[tuple[Instance, Sequence[float]]]:
        found = super()._vms(names, policies)
        for one, _ in found:
            one.host = self._rng.choice(names)
            one.locked = self._rng.random() < 0.03
        return found

    def _spoil(self, snapshot: Snapshot) -> None:
        super()._spoil(snapshot)
        if self._rng.random() < 0.5:
            snapshot.groups.clear()


def packed(seed: int) -> PlanningInput:
    """A scope by lot in mode pack, with readings of its capacity.

    No host is relieved.
    """
    rng = random.Random(seed)
    snapshot, policies, settings = _Lot(rng).draw()
    for reading in snapshot.readings.values():
        reading.capacity = Reading(
            '',
            samples=[
                Sample(one.label, min(1.0, one.value * rng.choice(RATIOS)), 0)
                for one in reading.imbalance.samples
            ],
        )
        if rng.random() < 0.2:
            del reading.capacity.samples[0]
    names = sorted(snapshot.hosts)
    settings.keep_hosts = rng.choice([0, 1, 1, 1, 2, 3])
    settings.headroom_hosts = rng.choice([0, 0, 0, 0, 1, 2])
    settings.max_migrations = rng.randint(1, 2 * len(names) + 4)
    return (
        snapshot,
        [
            one.model_copy(
                update={
                    'mode': Mode.PACK,
                    'capacity_query': 'up',
                    'capacity_threshold': rng.choice([0.6, 0.8, 1.0]),
                    'relief_threshold': 1.0,
                }
            )
            for one in policies
        ],
        settings,
    )


class TestLiteralRule(LiteralTestCase):
    def _compare(self, partial: bool) -> None:
        cases = [packed(seed) for seed in range(CASES)]
        for _, _, settings in cases:
            settings.pack_partial_drains = partial
        tally = self.compare(cases, PackLiteral)
        self.assertGreater(tally.planned, CASES // 4)
        self.assertGreater(tally.moves, CASES // 2)
        self.assertGreater(tally.emptied, CASES // 5)
        self.assertEqual({StopReason.PACKED, StopReason.BUDGET}, tally.stopped)

    def test_whole_drains(self) -> None:
        self._compare(partial=False)

    def test_partial_drains(self) -> None:
        self._compare(partial=True)
