# SPDX-License-Identifier: Apache-2.0
"""Audits of small clusters, judged by a program and accounts of their own.

The clusters have 6 to 15 hosts and three mixtures of flavors. Their seeds are
no seeds of other tests.
"""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from oslotest import base

from kronos.engine.planning import propose
from kronos.engine.types import (
    AggregateResult,
    Flavor,
    Headroom,
    Snapshot,
    StopReason,
)
from kronos.extensions.room import room
from kronos.extensions.room.certificates import Claim
from kronos.extensions.room.planning.cluster import Cluster
from kronos.extensions.room.planning.counts import SlotTarget
from kronos.extensions.room.room import Proof, RoomNeeds, RoomOutcome
from tests.builders import policies, rooms
from tests.unit.extensions.room.planning import placements
from tests.unit.extensions.room.planning.placements import LARGE, MIDDLE

HOSTS = 15
FLAVORS = {
    'f16': Flavor('f16', 'f16', *LARGE),
    'f8': Flavor('f8', 'f8', *MIDDLE),
}
KEYS = ('VCPU', 'MEMORY_MB')
MOVES = (3, 10)


def snapshot_of(cluster: Cluster) -> Snapshot:
    """The cluster as a scope; its GiB are MiB here."""
    servers = [
        policies.instance(
            name,
            cluster.hosts[host],
            vcpus=cluster.ways[way].demand[0],
            memory_mb=cluster.ways[way].demand[1],
        )
        for (host, way), names in sorted(cluster.servers.items())
        for name in names
    ]
    snapshot = policies.snapshot(
        {'cpu': dict.fromkeys(cluster.hosts, 0.3)},
        instances=servers,
        usages={'cpu': {f'dom-{server.uuid}': 0.001 for server in servers}},
    )
    for name, free in zip(cluster.hosts, cluster.free.tolist(), strict=True):
        snapshot.hosts[name].headroom = {
            key: Headroom(capacity, capacity - amount)
            for key, capacity, amount in zip(
                KEYS, placements.HOST, free, strict=True
            )
        }
    snapshot.beside[room.NAME] = RoomNeeds(dict(FLAVORS))
    return snapshot


class HeldOut(base.BaseTestCase):
    """Tasks of a cluster; how they ended is counted."""

    def setUp(self) -> None:
        super().setUp()
        self.ends: Counter[str] = Counter()

    def judge(self, seed: int) -> None:
        self.cluster = placements.generated(seed, HOSTS)
        before = int(self.cluster.slot_counts(self.cluster.free).sum())
        for moves in MOVES:
            self.most(seed, moves)
        for numbers in (
            {'f16': before + 1},
            {'f16': before + 3},
            {'f16': 1, 'f8': 2},
        ):
            self.fewest(seed, numbers)

    def most(self, seed: int, moves: int) -> None:
        outcome, end = self.plan(flavor='f16', max_migrations=moves)
        task = seed, moves
        slots = int(self.cluster.slot_counts(end.free).sum())
        self.assertEqual(slots, outcome.after['f16'], task)
        assert outcome.bound is not None
        more = placements.fewest(self.cluster, [SlotTarget(LARGE, slots + 1)])
        if outcome.certificate and outcome.certificate.claim is Claim.STUCK:
            # Counts know of no order, in which no server can be the first.
            self.assertEqual(slots, outcome.bound, task)
            self.ends['stuck'] += 1
            return
        self.assertTrue(more is None or more > moves, task)
        assert outcome.certificate is not None, task
        self.assertIn(outcome.certificate.number - slots, (0, 1), task)
        self.ends['most'] += 1

    def fewest(self, seed: int, numbers: dict[str, int]) -> None:
        targets = [
            SlotTarget((FLAVORS[name].vcpus, FLAVORS[name].memory_mb), number)
            for name, number in numbers.items()
        ]
        best = placements.fewest(self.cluster, targets)
        outcome, end = self.plan(flavors=numbers)
        task = seed, numbers
        if best is None:
            self.assertIs(Proof.IMPOSSIBLE, outcome.proof, task)
            assert outcome.certificate is not None, task
            self.assertIs(Claim.IMPOSSIBLE, outcome.certificate.claim, task)
            self.ends['impossible'] += 1
            return
        self.assertEqual(best, outcome.moves, task)
        self.assertEqual(best, outcome.bound, task)
        self.assertEqual(0, placements.fewest(end, targets), task)
        if best:
            assert outcome.certificate is not None, task
            self.assertIn(best - outcome.certificate.number, (0, 1), task)
            self.ends['fewest'] += 1

    def plan(self, **request: Any) -> tuple[RoomOutcome, Cluster]:
        """The outcome, with its proof checked, and the cluster after it."""
        result = self.planned(**request)
        outcome = room.outcome_of(result)
        assert outcome is not None
        if outcome.certificate is not None:
            checked = self.planned(
                claims={result.name: outcome.certificate}, **request
            )
            self.assertIs(StopReason.DONE, checked.stopped, checked.reason)
        return outcome, self.after(result)

    def planned(self, claims: Any = None, **request: Any) -> AggregateResult:
        settings = rooms.settings(**request)
        settings.extension = replace(settings.extension, claims=claims)
        planned = propose.plan(
            [snapshot_of(self.cluster)],
            [policies.policy('cpu')],
            settings,
            2,
        )
        (result,) = planned.report.scopes
        return result

    def after(self, result: AggregateResult) -> Cluster:
        """Accounts of each step: its destination must have room."""
        cluster = self.cluster
        free = {
            name: np.array(row)
            for name, row in zip(cluster.hosts, cluster.free, strict=True)
        }
        servers: dict[tuple[int, int], list[str]] = {
            place: [*names] for place, names in cluster.servers.items()
        }
        kinds = {
            name: kind
            for (_, kind), names in servers.items()
            for name in names
        }
        for step in result.steps:
            kind = kinds[step.instance]
            source, destination = map(
                cluster.hosts.index, (step.source, step.destination)
            )
            servers[source, kind].remove(step.instance)
            servers.setdefault((destination, kind), []).append(step.instance)
            demand = np.array(cluster.ways[kind].demand)
            free[step.destination] -= demand
            self.assertTrue((free[step.destination] >= 0).all(), step)
            free[step.source] += demand
        rows = [free[name] for name in cluster.hosts]
        names = {place: tuple(each) for place, each in servers.items()}
        return replace(cluster, free=np.array(rows), servers=names)
