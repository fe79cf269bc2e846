# SPDX-License-Identifier: Apache-2.0
"""Are plans carried out in time, and remembered as Watcher and Nova do?"""

from typing import Any

from oslotest import base

from kronos.engine.planning.propose import ScheduledPlan
from kronos.engine.types import (
    AggregateResult,
    CycleReport,
    Disruption,
    MigrationPhase,
    MigrationStep,
    Origin,
    Outcome,
    ScopeWindow,
    StopReason,
)
from kronos.simulate.cloud import Cloud
from kronos.simulate.moves import Moves
from tests.builders import loads

NOW = 1000.0


class MovesTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        load = loads.load([[1.0] * 3] * 2, [0, 0, 1], [8.0] * 3, project='p1')
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
        window: ScopeWindow | None = None,
    ) -> None:
        result = AggregateResult(
            'agg', StopReason.BUDGET, '', steps=list(steps), window=window
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


class TestWindows(MovesTestCase):
    def begun(self, **fields: Any) -> list[str]:
        """Of two moves, of which the second waits for 20 s."""
        window = ScopeWindow(True, move_seconds=20.0, **fields)
        steps = self.step(0, 0, 1), self.step(1, 0, 2)
        self.start(*steps, window=window)
        self.moves.advance(NOW + 300)
        return [instance for instance, _, _ in self.outcomes()]

    def test_one_that_would_end_late_is_skipped(self) -> None:
        self.assertEqual(['0'], self.begun(changes_at=NOW + 39.0))
        self.assertEqual([], self.moves.active)
        self.assertEqual([1, 0, 1], self.cloud.host.tolist())

    def test_one_that_ends_in_time(self) -> None:
        self.assertEqual(['0', '1'], self.begun(changes_at=NOW + 40.0))

    def test_a_window_that_never_closes(self) -> None:
        self.assertEqual(['0', '1'], self.begun())

    def test_exempt(self) -> None:
        begun = self.begun(changes_at=NOW, is_exempt=True)
        self.assertEqual(['0', '1'], begun)


class TestDisruptions(MovesTestCase):
    """What was requested from Nova, or will be, counts."""

    def test_each_state(self) -> None:
        self.start(self.step(0, 0, 1), self.step(1, 0, 2))
        waiting = Disruption(loads.uuid(1), 'p1')
        first = Disruption(loads.uuid(0), 'p1', NOW, is_under_way=True)
        self.moves.advance(NOW)
        self.assertEqual([first, waiting], self.moves.disruptions(NOW))
        self.moves.advance(NOW + 20)
        first = Disruption(loads.uuid(0), 'p1', NOW)
        second = Disruption(loads.uuid(1), 'p1', NOW + 20, is_under_way=True)
        self.assertEqual([first, second], self.moves.disruptions(NOW))
        self.assertEqual([second], self.moves.disruptions(NOW + 21))

    def test_a_server_that_is_gone(self) -> None:
        self.start(self.step(0, 0, 1))
        self.moves.advance(NOW + 300)
        self.cloud.delete(0)
        moved = Disruption(loads.uuid(0), 'p1', NOW)
        self.assertEqual([moved], self.moves.disruptions(NOW))

    def test_failures(self) -> None:
        self.moves = Moves(self.cloud, 1.0, 0)
        self.start(self.step(0, 0, 1))
        self.moves.advance(NOW + 300)
        failed = Disruption(loads.uuid(0), 'p1', NOW)
        self.assertEqual([failed], self.moves.disruptions(NOW))

    def test_one_without_room_was_never_requested(self) -> None:
        self.start(self.step(0, 0, 1))
        self.cloud.used[1, 1] = self.cloud.capacity[1, 1]
        self.moves.advance(NOW + 300)
        self.assertEqual(1, len(self.moves.over))
        self.assertEqual([], self.moves.disruptions(0.0))


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
