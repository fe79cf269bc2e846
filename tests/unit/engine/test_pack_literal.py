# SPDX-License-Identifier: Apache-2.0
"""Do masks and trials change what pack plans? Never: it is the rule."""

import random
from collections.abc import Sequence

from oslotest import base

from kronos.engine.propose import propose
from kronos.engine.settings import Settings
from kronos.engine.types import Instance, Reading, Sample, Snapshot, StopReason
from kronos.policies.models import Mode, Policy
from tests.unit.engine import scopes
from tests.unit.engine.pack_literal import PackLiteral

CASES = 400
RATIOS = [0.5, 0.8, 1.0, 1.0, 1.2]
Case = tuple[Snapshot, list[Policy], Settings]


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


def packed(seed: int) -> Case:
    """A scope by lot in mode pack, with readings of its capacity."""
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
                }
            )
            for one in policies
        ],
        settings,
    )


class TestLiteralRule(base.BaseTestCase):
    def _compare(self, partial: bool) -> None:
        planned = moves = emptied = 0
        seen = set()
        for seed in range(CASES):
            snapshot, policies, settings = packed(seed)
            settings.pack_partial_drains = partial
            result = propose([snapshot], policies, settings).scopes[0]
            if result.stopped is StopReason.TOO_FEW_HOSTS:
                continue
            expected = PackLiteral(snapshot, policies, settings).plan()
            steps = [
                (one.instance, one.source, one.destination)
                for one in result.steps
            ]
            with self.subTest(seed=seed):
                self.assertEqual(expected.moves, steps)
                self.assertAlmostEqual(
                    expected.combined, result.combined_after, places=9
                )
            planned += bool(steps)
            moves += len(steps)
            emptied += result.hosts_in_use_before - result.hosts_in_use_after
            seen.add(result.stopped)
        # The lots must be worth comparing.
        self.assertGreater(planned, CASES // 4)
        self.assertGreater(moves, CASES // 2)
        self.assertGreater(emptied, CASES // 5)
        self.assertEqual({StopReason.PACKED, StopReason.BUDGET}, seen)

    def test_whole_drains(self) -> None:
        self._compare(partial=False)

    def test_partial_drains(self) -> None:
        self._compare(partial=True)
