# SPDX-License-Identifier: Apache-2.0
"""Is the bound of a packing one, and is it near to what can be reached?"""

import random
from typing import Any

from oslotest import base

from kronos.engine.arrays import BoolArray
from kronos.engine.planning.propose import propose
from kronos.engine.planning.search.packing.pack_scope import PackScope
from kronos.engine.settings import SearchName, Settings
from kronos.engine.types import (
    AggregateResult,
    PackingBound,
    ServerGroup,
    Snapshot,
)
from tests.builders import packing, scopes
from tests.unit.engine.planning.test_pack import CPU, plan, scope, three, vm

SEEDS = 60
MOVES = 3


def bound(snapshot: Snapshot, **settings: Any) -> PackingBound:
    found = plan(snapshot, **settings).packing
    assert found is not None
    return found


class TestBound(base.BaseTestCase):
    def test_migrations(self) -> None:
        """h1 and h2 take one each, h3 takes two."""
        for moves, most in ((1, 1), (2, 2), (3, 2)):
            found = bound(three(), max_migrations=moves, keep_hosts=0)
            self.assertEqual((moves, most), (found.migrations, found.at_most))
        self.assertEqual(2, bound(three(), keep_hosts=1).at_most)

    def test_any_number(self) -> None:
        """.6 of load fit on one host of .8, and not on none."""
        found = bound(three(), unlimited=True, keep_hosts=0)
        self.assertEqual(
            (None, 2, 3), (found.migrations, found.at_most, found.in_use)
        )

    def test_ceilings(self) -> None:
        """Four hosts below .8: with .6 of room none of .65 can leave."""
        for load, most in ((0.65, 0), (0.55, 1), (0.35, 2)):
            vms = [vm(f'v{n}', f'h{n}', [load]) for n in range(4)]
            snapshot = scope(vms, {f'h{n}': [load] for n in range(4)})
            self.assertEqual(most, bound(snapshot).at_most, load)

    def test_room(self) -> None:
        snapshot = three()
        for one in snapshot.instances.values():
            one.vcpus = 2
        room = {'VCPU': 5, 'MEMORY_MB': 9999}
        scopes.give_room(snapshot, dict.fromkeys(snapshot.hosts, room))
        self.assertEqual(1, bound(snapshot).at_most)

    def test_what_stays(self) -> None:
        snapshot = three()
        snapshot.instances['a'].locked = True
        snapshot.instances['c'].locked = True
        self.assertEqual(1, bound(snapshot).at_most)

    def test_nothing_is_packed(self) -> None:
        result = plan(three(), evacuate=True, rebalance=False)
        self.assertIsNone(result.packing)


def small(seed: int) -> Snapshot:
    """Four hosts with six instances, of which little fits."""
    rng = random.Random(seed)
    vms = [
        vm(
            f'v{n}',
            f'h{rng.randrange(4)}',
            [rng.choice([0.05, 0.1, 0.2])],
            vcpus=rng.choice([1, 2, 4]),
            locked=rng.random() < 0.1,
        )
        for n in range(6)
    ]
    hosts = {
        f'h{n}': [sum(use[0] for one, use in vms if one.host == f'h{n}')]
        for n in range(4)
    }
    snapshot = scope(vms, hosts)
    room = {'VCPU': rng.choice([5, 6, 8]), 'MEMORY_MB': 9999}
    scopes.give_room(snapshot, dict.fromkeys(hosts, room))
    if rng.random() < 0.5:
        snapshot.groups = [
            ServerGroup(
                'g', 'anti-affinity', rng.sample(sorted(snapshot.instances), 2)
            )
        ]
    return snapshot


class AllPlans:
    """Every plan of so many moves, one after the other. Slow."""

    def __init__(self, found: PackScope) -> None:
        self._simulation = found.simulation
        self._placement = found.simulation.placement
        self._in_use: BoolArray = found.in_use()
        self._scope = found
        self._seen: dict[tuple[int, ...], int] = {}

    def most(self, left: int) -> int:
        """Hosts that are emptied by so many moves more."""
        now = tuple(self._placement.host_of.tolist())
        if self._seen.get(now, -1) >= left:
            return 0
        self._seen[now] = left
        used = self._scope.in_use()
        found = int((self._in_use & ~used).sum())
        for instance, host in self._pairs(used) if left else ():
            source = now[instance]
            self._simulation.movable[instance] = False
            self._placement.move(instance, host)
            found = max(found, self.most(left - 1))
            self._placement.move(instance, source)
            self._simulation.movable[instance] = True
        return found

    def _pairs(self, used: BoolArray) -> list[tuple[int, int]]:
        rules = self._simulation.constraints
        return [
            (instance, host)
            for instance, able in enumerate(self._simulation.movable)
            for host in used.nonzero()[0].tolist()
            if able and not rules.why_not(instance, host)
        ]


class TestAllPlans(base.BaseTestCase):
    def test_no_plan_beats_the_bound(self) -> None:
        """And the plan is as good as any, nearly always."""
        settings = Settings(
            max_migrations=MOVES, min_host_coverage=0.0, keep_hosts=0
        )
        best = reached = greedy = 0
        for seed in range(SEEDS):
            snapshot = small(seed)
            found = packing.packing(snapshot, [CPU], settings)
            most = AllPlans(found.scope).most(MOVES)
            results = [
                propose(
                    [snapshot],
                    [CPU],
                    Settings(**{**vars(settings), 'search': name}),
                ).scopes[0]
                for name in (SearchName.BEST, SearchName.GREEDY)
            ]
            for result in results:
                assert result.packing is not None
                self.assertLessEqual(most, result.packing.at_most)
                self.assertEqual(_emptied(result), result.packing.emptied)
                self.assertLessEqual(_emptied(result), most)
            best += most
            reached += _emptied(results[0])
            greedy += _emptied(results[1])
        self.assertLess(greedy, reached)
        self.assertGreaterEqual(reached, 0.98 * best)


def _emptied(result: AggregateResult) -> int:
    return result.hosts_in_use_before - result.hosts_in_use_after
