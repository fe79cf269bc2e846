# SPDX-License-Identifier: Apache-2.0
"""Is a drain, move by move, the literal one? However it is pruned."""

import random
from typing import Any
from unittest import mock

from kronos.engine.planning.search import drain_costs, drain_moves
from kronos.engine.settings import SoftRules
from kronos.engine.types import Reading, Sample, Snapshot, StopReason
from kronos.policies.models import Mode, Policy
from tests.builders import scopes
from tests.unit.engine.oracles.comparing import LiteralTestCase, PlanningInput
from tests.unit.engine.oracles.drain_literal import DrainLiteral

CASES = 500


def drained(seed: int, mode: Mode) -> PlanningInput:
    """A scope by lot in which some hosts are to be emptied."""
    snapshot, policies, settings = scopes.chance(seed)
    rng = random.Random(seed)
    names = sorted(snapshot.hosts)
    # Those with instances first: others are empty already.
    names.sort(key=lambda name: -len(_on(snapshot, name)))
    some = names[: rng.randint(1, min(3, len(names) - 1))]
    if rng.random() < 0.3:
        settings.drain_hosts = some
    else:
        for host in some:
            service = (snapshot.services or {})[host]
            service.state, service.status = 'up', 'disabled'
    for readings in snapshot.readings.values():
        for sample in readings.imbalance.samples:
            if not _on(snapshot, sample.label) and rng.random() < 0.5:
                # What runs on an empty host, too.
                sample.value = rng.choice([0.05, 0.1, 0.3])
    settings.evacuate, settings.rebalance = True, False
    settings.repeat_moves = False
    settings.soft_rules = rng.choice(list(SoftRules))
    settings.soft_rule_penalty = rng.choice([0.0, 0.05, 0.2])
    settings.drain_may_exceed_threshold = rng.random() < 0.3
    if rng.random() < 0.5:
        settings.max_migrations, settings.unlimited = None, True
    return (
        snapshot,
        [_asking(p, snapshot, mode, rng) for p in policies],
        settings,
    )


def _on(snapshot: Snapshot, host: str) -> list[str]:
    return [u for u, one in snapshot.instances.items() if one.host == host]


def _asking(
    one: Policy, snapshot: Snapshot, mode: Mode, rng: random.Random
) -> Policy:
    change: dict[str, Any] = {
        'mode': mode,
        'capacity_threshold': rng.choice([0.4, 0.8, 0.9, 1.0]),
    }
    if mode is Mode.PACK or rng.random() < 0.4:
        change['capacity_query'] = 'up'
        snapshot.readings[one.name].capacity = Reading(
            '',
            samples=[
                Sample(host, rng.random() ** 2, 0)
                for host in sorted(snapshot.hosts)
                if rng.random() < 0.97
            ],
        )
    return one.model_copy(update=change)


class TestLiteralRule(LiteralTestCase):
    def _compare(self, mode: Mode) -> None:
        cases = (drained(seed, mode) for seed in range(CASES))
        tally = self.compare(cases, DrainLiteral)
        self.assertGreater(tally.planned, CASES // 4)
        self.assertGreater(tally.moves, CASES)
        self.assertEqual(
            {StopReason.DONE, StopReason.BUDGET, StopReason.STUCK},
            tally.stopped,
        )

    def test_spread(self) -> None:
        self._compare(Mode.SPREAD)

    def test_pack(self) -> None:
        self._compare(Mode.PACK)

    def test_in_parts(self) -> None:
        """However many pairs are judged at once."""
        with (
            mock.patch.object(drain_moves, 'PAIRS_AT_ONCE', 7),
            mock.patch.object(drain_costs, 'PAIRS_AT_ONCE', 7),
            mock.patch.object(drain_moves, 'FIRST_PAIRS', 2),
        ):
            self._compare(Mode.SPREAD)
