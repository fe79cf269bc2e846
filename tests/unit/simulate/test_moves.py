# SPDX-License-Identifier: Apache-2.0
"""Are plans carried out in time, and remembered as Watcher and Nova do?"""

from oslotest import base

from kronos.engine.planning.propose import ScheduledPlan
from kronos.engine.types import (
    AggregateResult,
    CycleReport,
    MigrationPhase,
    MigrationStep,
    Origin,
    Outcome,
    StopReason,
)
from kronos.simulate.cloud import Cloud
from kronos.simulate.moves import Moves
from tests.builders import loads

NOW = 1000.0


class MovesTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        load = loads.load([[1.0] * 3] * 2, [0, 0, 1], [8.0] * 3)
        self.cloud = Cloud(load)
        for server, host in enumerate([0, 0, 1]):
            self.cloud.boot(server, host)
        self.moves = Moves(self.cloud, 0.0, 0)

    def step(self, server: int, source: int, target: int) -> MigrationStep:
        return MigrationStep(
            'agg',
            MigrationPhase.SPREAD,
            loads.uuid(server),
            f'vm-{server}',
            f'h000{source}',
            f'h000{target}',
            2048,
            {},
            {},
            0.5,
            0.4,
            seconds=20.0,
        )

    def start(
        self,
        *steps: MigrationStep,
        parents: list[list[int]] | None = None,
    ) -> None:
        result = AggregateResult(
            'agg', StopReason.BUDGET, '', steps=list(steps)
        )
        plan = ScheduledPlan(
            CycleReport([result]),
            parents or [[] for _ in steps],
            list(range(len(steps))),
        )
        self.moves.start(plan, 2, NOW)

    def outcomes(self) -> list[tuple[str, Outcome, float]]:
        return [
            (event.instance[-1:], event.outcome, event.at)
            for event in self.moves.events(0.0)
            if event.origin is Origin.WATCHER
        ]


class TestTime(MovesTestCase):
    def test_one_after_the_other(self) -> None:
        """Only one leaves a host at a time."""
        self.start(self.step(0, 0, 1), self.step(1, 0, 2))
        self.moves.advance(NOW)
        self.assertEqual(
            [
                ('0', Outcome.UNDER_WAY, NOW),
                ('1', Outcome.PLANNED, NOW),
            ],
            self.outcomes(),
        )
        self.assertEqual({0: 1}, self.cloud.going)
        self.moves.advance(NOW + 30)
        self.assertEqual([1, 0, 1], self.cloud.host.tolist())
        self.moves.advance(NOW + 40)
        self.assertEqual([1, 2, 1], self.cloud.host.tolist())
        self.assertEqual(
            [('0', Outcome.MOVED, NOW + 20), ('1', Outcome.MOVED, NOW + 40)],
            self.outcomes(),
        )

    def test_told_by_both(self) -> None:
        self.start(self.step(0, 0, 1))
        self.moves.advance(NOW + 300)
        watcher, nova = self.moves.events(0.0)
        self.assertEqual(
            ('agg', 'SUCCEEDED', NOW, 'spread'),
            (watcher.scope, watcher.status, watcher.began, watcher.phase),
        )
        self.assertEqual(
            (Origin.NOVA, 'completed', 20.0),
            (nova.origin, nova.status, nova.seconds),
        )

    def test_forgotten(self) -> None:
        self.start(self.step(0, 0, 1))
        self.moves.advance(NOW + 300)
        self.assertEqual(2, len(self.moves.events(NOW + 20)))
        self.assertEqual([], self.moves.events(NOW + 21))

    def test_interval(self) -> None:
        self.start(self.step(0, 0, 1), self.step(1, 0, 2))
        moves = self.moves.interval(NOW - 10, 25.0)
        self.assertEqual(
            [(0, 10.0, 20.0)],
            [(move.instance, move.start_s, move.seconds) for move in moves],
        )
        self.moves.advance(NOW + 5)
        moves = self.moves.interval(NOW + 5, 300.0)
        self.assertEqual([-5.0, 15.0], [move.start_s for move in moves])


class TestTrouble(MovesTestCase):
    def test_failure(self) -> None:
        """What waits for it is not tried."""
        self.moves = Moves(self.cloud, 1.0, 0)
        self.start(self.step(0, 0, 1), self.step(2, 1, 0), parents=[[], [0]])
        self.moves.advance(NOW + 300)
        self.assertEqual([('0', Outcome.FAILED, NOW + 20)], self.outcomes())
        watcher, nova = self.moves.events(0.0)
        self.assertEqual('migration_failed', watcher.fault)
        self.assertEqual('error', nova.status)
        self.assertEqual([0, 0, 1], self.cloud.host.tolist())

    def test_same_failures(self) -> None:
        fates = []
        for _ in range(2):
            moves = Moves(self.cloud, 0.5, 7)
            fates.append(
                [moves._is_failing(server, NOW) for server in range(50)]
            )
        self.assertEqual(fates[0], fates[1])
        self.assertEqual({True, False}, set(fates[0]))

    def test_gone_before(self) -> None:
        self.start(self.step(0, 0, 1), self.step(1, 0, 2))
        self.moves.drop(1, NOW)
        self.cloud.delete(1)
        self.moves.advance(NOW + 300)
        self.assertEqual([('0', Outcome.MOVED, NOW + 20)], self.outcomes())

    def test_gone_under_way(self) -> None:
        self.start(self.step(0, 0, 1))
        self.moves.advance(NOW + 5)
        self.moves.drop(0, NOW + 10)
        self.cloud.delete(0)
        self.moves.advance(NOW + 300)
        self.assertEqual([('0', Outcome.FAILED, NOW + 10)], self.outcomes())
        self.assertEqual('instance_vanished', self.moves.events(0.0)[0].fault)
        self.assertEqual([2048, 2048, 0], self.cloud.used[1].tolist())

    def test_no_room(self) -> None:
        self.cloud.capacity[1, 1] = 2048
        self.start(self.step(0, 0, 1))
        self.moves.advance(NOW + 300)
        self.assertEqual([('0', Outcome.FAILED, NOW)], self.outcomes())
        [event] = self.moves.events(0.0)
        self.assertEqual('destination_full', event.fault)
