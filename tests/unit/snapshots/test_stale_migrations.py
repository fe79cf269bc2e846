# SPDX-License-Identifier: Apache-2.0
"""Which rows count that say that a move is not over, at t = 1000 s?"""

from typing import Any

from oslotest import base

from kronos.engine.types import Event, Origin, Outcome
from kronos.snapshots import stale_migrations
from tests.builders import policies

SILENT, FRESH = 399.0, 400.0
"""Last heard of just more than, and just the grace ago."""


def event(outcome: Outcome, at: float, **more: Any) -> Event:
    values = {
        'instance': 'u1',
        'source': 'a',
        'destination': 'b',
        'origin': Origin.WATCHER,
        'plan': 'p',
        **more,
    }
    return Event(outcome=outcome, at=at, **values)


def waiting(at: float, status: str = 'ONGOING', **more: Any) -> Event:
    return event(Outcome.PLANNED, at, status=status, **more)


def running(at: float, **more: Any) -> Event:
    values = {'instance': 'u2', 'status': 'ONGOING', **more}
    return event(Outcome.UNDER_WAY, at, **values)


class TestSortOut(base.BaseTestCase):
    def left(
        self, *events: Event, busy: str = '', verified: str = ''
    ) -> list[Event]:
        """What was left behind, while one of two servers is busy."""
        servers = [policies.instance(uuid, 'a') for uuid in ('u1', 'u2')]
        for server in servers:
            server.task_state = 'migrating' if server.uuid == busy else None
            if server.uuid == verified:
                server.status = 'VERIFY_RESIZE'
        hold, left = stale_migrations.sort_out(events, servers, 1000.0)
        self.assertCountEqual(events, hold + left)
        return left

    def test_under_way(self) -> None:
        late, soon = running(SILENT), running(FRESH)
        self.assertEqual([late], self.left(late, soon))
        self.assertEqual([], self.left(late, busy='u2'))

    def test_one_that_waits_to_be_confirmed(self) -> None:
        """It has no task, and its action may be at it for long."""
        self.assertEqual([], self.left(running(SILENT), verified='u2'))

    def test_what_is_over_is_over(self) -> None:
        for outcome in (Outcome.MOVED, Outcome.FAILED):
            self.assertEqual([], self.left(event(outcome, -9e9)))

    def test_a_plan_whose_applier_was_killed(self) -> None:
        """Nothing of it changes any more, and nothing of it runs."""
        one = waiting(SILENT)
        self.assertEqual([one], self.left(one))
        self.assertEqual([], self.left(waiting(FRESH)))

    def test_a_plan_that_is_being_cancelled(self) -> None:
        """Its applier is at it, or dead, which is known much sooner."""
        one = waiting(939.0, 'CANCELLING')
        self.assertEqual([one], self.left(one))
        self.assertEqual([], self.left(one, running(FRESH)))
        self.assertEqual([], self.left(waiting(940.0, 'CANCELLING')))

    def test_a_plan_of_which_an_action_runs(self) -> None:
        one, other = waiting(SILENT), running(SILENT)
        self.assertEqual([], self.left(one, other, busy='u2'))
        self.assertEqual([], self.left(one, running(FRESH)))
        # The running one was left behind itself.
        self.assertEqual([other, one], self.left(one, other))
        # It is of another plan, or Nova's, which knows no plans.
        for plan in ('q', ''):
            elsewhere = running(FRESH, plan=plan)
            self.assertEqual([one], self.left(one, elsewhere))

    def test_a_plan_that_no_applier_has_taken(self) -> None:
        """It may be carried out at any time."""
        for status in ('PENDING', 'RECOMMENDED'):
            self.assertEqual([], self.left(waiting(-9e9, status)))


class TestSentence(base.BaseTestCase):
    def test_it_names_what_an_operator_has_to_act_on(self) -> None:
        self.assertEqual(
            'The move of u1 a -> b waits in action plan p, which is ONGOING, '
            'but it has not started for 10 min: Kronos no longer counts it. '
            'If its applier is dead, cancel the plan',
            stale_migrations.sentence(waiting(SILENT)),
        )
        self.assertEqual(
            'The move of u1 a -> b waits in action plan p, which is '
            'CANCELLING, but it has not started for 60 s: Kronos no longer '
            'counts it',
            stale_migrations.sentence(waiting(939.0, 'CANCELLING')),
        )
        self.assertEqual(
            'The move of u2 a -> b is ONGOING for watcher, but the server is '
            'not moving: Kronos no longer counts it',
            stale_migrations.sentence(running(SILENT)),
        )

    def test_many(self) -> None:
        """No event is compared with every other one."""
        compared = 0

        class Counted(Event):
            def __eq__(self, other: object) -> bool:
                nonlocal compared
                compared += 1
                return super().__eq__(other)

        events: list[Event] = [
            Counted(f'u{one}', 'a', 'b', Outcome.UNDER_WAY, 0.0, Origin.NOVA)
            for one in range(2000)
        ]
        hold, left = stale_migrations.sort_out(events, [], 1000.0)
        self.assertEqual((0, 2000), (len(hold), len(left)))
        self.assertLess(compared, 10 * len(events))
