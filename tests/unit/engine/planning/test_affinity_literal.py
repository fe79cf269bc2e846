# SPDX-License-Identifier: Apache-2.0
"""Is a repair, move by move, the literal one?"""

import random

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.server_groups import TOGETHER
from kronos.engine.settings import SoftRules
from kronos.engine.types import ServerGroup, StopReason
from kronos.policies.models import Mode
from tests.builders import scopes
from tests.unit.engine.oracles.comparing import LiteralTestCase, PlanningInput
from tests.unit.engine.oracles.repair_literal import RepairLiteral

CASES = 800


def broken(seed: int, mode: Mode = Mode.SPREAD) -> PlanningInput:
    """A scope by lot with broken groups."""
    snapshot, policies, settings = scopes.chance(seed)
    rng = random.Random(seed)
    policies = [
        one.model_copy(
            update={
                'mode': mode,
                'threshold': rng.choice([0.1, 0.3, 0.6, 1.0]),
                'capacity_threshold': rng.choice([0.5, 0.8, 1.0]),
            }
        )
        for one in policies
    ]
    if mode is Mode.PACK:
        policies = [
            one.model_copy(update={'capacity_query': 'up'}) for one in policies
        ]
        for readings in snapshot.readings.values():
            readings.capacity = readings.imbalance
    uuids = sorted(snapshot.instances)
    rng.shuffle(uuids)
    snapshot.groups = []
    while len(uuids) > 1:
        size = rng.randint(2, 5)
        members, uuids = uuids[:size], uuids[size:]
        snapshot.groups.append(
            ServerGroup(
                f'g{len(snapshot.groups)}',
                rng.choice(
                    [
                        'affinity',
                        'affinity',
                        'soft-affinity',
                        'anti-affinity',
                        'soft-anti-affinity',
                    ]
                ),
                [*members, 'elsewhere'],
                max_server_per_host=rng.choice([1, 1, 2]),
            )
        )
    if snapshot.groups and rng.random() < 0.2:
        # Nova has one group per server; nothing here relies on it.
        snapshot.groups[0].members += snapshot.groups[-1].members
    settings.enforce_hard_affinity = rng.random() < 0.8
    settings.enforce_soft_affinity = (
        not settings.enforce_hard_affinity or rng.random() < 0.7
    )
    settings.soft_rules = rng.choice(list(SoftRules))
    settings.rebalance = settings.repeat_moves = False
    settings.max_migrations = rng.randint(1, 6)
    if rng.random() < 0.5:
        settings.max_migrations, settings.unlimited = None, True
    return snapshot, policies, settings


class TestLiteralRule(LiteralTestCase):
    def _compare(self, mode: Mode) -> None:
        cases = (broken(seed, mode) for seed in range(CASES))
        tally = self.compare(
            (case for case in cases if case[2].enforces), RepairLiteral
        )
        self.assertGreater(tally.planned, CASES // 4)
        self.assertGreater(tally.moves, CASES * 2 // 5)
        self.assertEqual(
            {StopReason.DONE, StopReason.BUDGET, StopReason.STUCK},
            tally.stopped,
        )

    def test_spread(self) -> None:
        self._compare(Mode.SPREAD)

    def test_pack(self) -> None:
        self._compare(Mode.PACK)


class TestWholeOrNotAtAll(base.BaseTestCase):
    def test_every_group(self) -> None:
        """What is begun is whole after it, or the plan says that it is not."""
        whole = begun = 0
        for seed in range(CASES // 2):
            snapshot, policies, settings = broken(seed)
            if not settings.enforces:
                continue
            [result] = propose([snapshot], policies, settings).scopes
            moved = {step.instance for step in result.steps}
            policy = {one.uuid: one.policy for one in snapshot.groups}
            for group in result.groups:
                others = set().union(
                    *(
                        one.members
                        for one in result.groups
                        if one.uuid != group.uuid
                    )
                )
                if (
                    policy[group.uuid] not in TOGETHER
                    or not group.enforced
                    or not (moved - others) & set(group.members)
                ):
                    continue
                whole += not group.broken_after
                if group.broken_after:
                    begun += 1
                    told = f'{group.broken_after} after this plan: it makes'
                    with self.subTest(seed=seed, group=group.uuid):
                        self.assertIn(told, '; '.join(result.warnings))
        self.assertGreater(whole, 8)
        self.assertGreater(begun, 0)
