# SPDX-License-Identifier: Apache-2.0
"""Are large server groups judged from counts, and as one by one?"""

import random
import sys
from typing import Any

import numpy as np
from oslotest import base

from kronos.engine.arrays import Index
from kronos.engine.constraints.constraint_set import ConstraintSet
from kronos.engine.constraints.server_group import HardServerGroups
from kronos.engine.planning.propose import propose
from kronos.engine.settings import Settings
from kronos.engine.simulation.placement import Placement
from kronos.engine.types import (
    AggregateResult,
    Event,
    Origin,
    Outcome,
    ServerGroup,
    Snapshot,
)
from tests.builders import scopes
from tests.builders.scopes import policy, vm

CPU = policy('cpu', threshold=0.5)
KINDS = 'affinity', 'soft-affinity', 'anti-affinity', 'soft-anti-affinity', '?'


def spread_out(number: int, room: int, kind: str) -> Snapshot:
    """One member of a group on each of so many hosts.

    :param room: GiB of each host, of which every instance takes one
    """
    names = [f'h{n:03}' for n in range(number)]
    snapshot = scopes.scope(
        [CPU],
        dict.fromkeys(names, [0.01]),
        [vm(f'v{n:03}', host, [0.001]) for n, host in enumerate(names)],
        groups=[ServerGroup('g', kind, [f'v{n:03}' for n in range(number)])],
    )
    full = {'VCPU': 99, 'MEMORY_MB': room * 1024}
    scopes.give_room(snapshot, dict.fromkeys(names, full))
    return snapshot


def repaired(snapshot: Snapshot, budget: int = 3) -> AggregateResult:
    settings = Settings(
        enforce_hard_affinity=True,
        enforce_soft_affinity=True,
        rebalance=False,
        max_migrations=budget,
    )
    return propose([snapshot], [CPU], settings).scopes[0]


def calls(snapshot: Snapshot) -> int:
    """So many functions are called for a plan, which no clock disturbs."""
    number = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal number
        number += event in ('call', 'c_call')

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        repaired(snapshot)
    finally:
        sys.setprofile(before)
    return number


class TestWork(base.BaseTestCase):
    def test_twice_the_members_are_twice_the_work(self) -> None:
        """By pairs of members it was four, by triples eight times."""
        for kind in ('affinity', 'soft-affinity'):
            for room in (1, 2, 99):
                repaired(spread_out(20, room, kind))
                ratio = calls(spread_out(160, room, kind)) / calls(
                    spread_out(80, room, kind)
                )
                self.assertLess(ratio, 2.5, (kind, room))


class TestCounts(base.BaseTestCase):
    def test_as_one_by_one(self) -> None:
        """Masks by counts against the rule's own word, pair by pair."""
        for seed in range(60):
            rule, index = self._rule(random.Random(seed))
            everyone = np.arange(len(index.instances))
            table = np.array(
                [
                    [
                        rule.breaks(one, host)
                        for host in range(len(index.hosts))
                    ]
                    for one in everyone.tolist()
                ]
            )
            np.testing.assert_array_equal(table, rule.breaks_rows(everyone))
            columns = [
                rule.breaks_column(host) for host in range(len(index.hosts))
            ]
            np.testing.assert_array_equal(table, np.array(columns).T)

    def _rule(self, rng: random.Random) -> tuple[HardServerGroups, Index]:
        """Large groups, led through some moves, with members on their way."""
        names = [f'h{n}' for n in range(rng.randint(2, 8))]
        uuids = [f'v{n:02}' for n in range(40)]
        snapshot = scopes.scope(
            [CPU],
            dict.fromkeys(names, [0.5]),
            [vm(uuid, rng.choice(names), [0.01]) for uuid in uuids],
        )
        snapshot.groups = [
            ServerGroup(
                f'g{n}',
                rng.choice(KINDS),
                rng.sample(uuids, rng.randint(2, 30)) + ['elsewhere'],
                max_server_per_host=rng.randint(1, 5),
            )
            for n in range(3)
        ]
        snapshot.events = [
            Event(
                uuid,
                '',
                rng.choice(names),
                Outcome.UNDER_WAY,
                0.0,
                Origin.NOVA,
            )
            for uuid in rng.sample([*uuids, 'elsewhere'], 4)
        ]
        index = Index(snapshot)
        now = Placement.of(snapshot, index)
        rule = HardServerGroups(snapshot, index, now.host_of, snapshot.groups)
        now.constraints = ConstraintSet([rule])
        for uuid in rng.sample(uuids, 6):
            now.move(index.instance[uuid], rng.randrange(len(names)))
        if rng.random() < 0.5:
            rule.repairing = 'g0'
        if rng.random() < 0.4:
            rule.lose(rng.sample(range(len(names)), 1))
        return rule, index
