# SPDX-License-Identifier: Apache-2.0
"""From when on does a cooldown count?"""

from typing import Any

from oslotest import base

from kronos.engine.eligibility import quarantine
from kronos.engine.eligibility.cooldown import remember
from kronos.engine.eligibility.plan_starts import PlanStarts
from kronos.engine.reasons import Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Event, Origin, Outcome
from tests.builders import scopes

NOW = 100_000.0


def watchers(instance: str, age: float, **more: Any) -> Event:
    """A move of a plan that was made 30 seconds before it ended."""
    return Event(
        instance,
        'a',
        'b',
        more.pop('outcome', Outcome.MOVED),
        NOW - age,
        Origin.WATCHER,
        plan='p',
        **{'began': NOW - age - 30.0, 'status': 'SUCCEEDED', **more},
    )


def novas(instance: str, age: float, seconds: float = 0.0) -> Event:
    return Event(
        instance,
        'a',
        'b',
        Outcome.MOVED,
        NOW - age,
        Origin.NOVA,
        status='completed',
        seconds=seconds,
    )


class TestStarts(base.BaseTestCase):
    def start(self, *events: Event) -> list[float | None]:
        """Seconds ago, of each event."""
        starts = PlanStarts(events)
        return [
            None if start is None else NOW - start
            for start in map(starts.of, events)
        ]

    def test_of_a_plan(self) -> None:
        """When its first action was made, also of what Nova tells."""
        self.assertEqual(
            [130.0, 130.0, 130.0],
            self.start(
                watchers('u', 100.0),
                watchers('v', 70.0, began=NOW - 130.0),
                novas('v', 72.0, 20.0),
            ),
        )

    def test_by_hand(self) -> None:
        """When Nova began, if it tells that."""
        self.assertEqual([80.0], self.start(novas('u', 60.0, 20.0)))
        self.assertEqual([None], self.start(novas('u', 60.0)))

    def test_started_later(self) -> None:
        """A plan that lay there counts from its first move, if at all."""
        old = watchers('u', 100.0, began=NOW - 5000.0)
        self.assertEqual([None], self.start(old))
        self.assertEqual([110.0] * 2, self.start(old, novas('u', 101.0, 9.0)))

    def test_a_clock_that_is_ahead(self) -> None:
        """A move of the future rests a scope no longer than the cooldown."""

    def test_deleted(self) -> None:
        gone = watchers('u', 100.0, status=quarantine.DELETED)
        self.assertEqual([None], self.start(gone))

    def test_another_move_on_the_route(self) -> None:
        """Nova's of another time is none of the plan."""
        self.assertEqual(
            [90.0, 4020.0],
            self.start(watchers('u', 60.0), novas('u', 4000.0, 20.0)),
        )


class TestCooldown(base.BaseTestCase):
    def is_resting(self, *events: Event, limit: float = 600.0) -> bool:
        return self.reason(*events, limit=limit) is not None

    def reason(self, *events: Event, limit: float = 600.0) -> Reason | None:
        snapshot = scopes.scope(
            [],
            {'a': [], 'b': []},
            [scopes.vm(uuid, 'b', []) for uuid in 'uv'],
        )
        snapshot.taken_at = NOW
        snapshot.events = [*events]
        settings = Settings(cooldown_seconds=limit)
        return remember(snapshot, settings).standstill

    def test_counted_from_the_start(self) -> None:
        """A tenth of it may be ahead, since audits plan before they move."""
        self.assertFalse(self.is_resting(watchers('u', 572.0)))
        self.assertFalse(self.is_resting(watchers('u', 515.0)))
        self.assertTrue(self.is_resting(watchers('u', 500.0)))
        self.assertTrue(self.is_resting(novas('u', 572.0)))
        self.assertFalse(self.is_resting(novas('u', 572.0, 28.0)))

    def test_a_clock_that_is_ahead(self) -> None:
        """A move of the future rests a scope no longer than the cooldown."""
        ahead = watchers('u', -5000.0)
        self.assertIsNone(self.reason(ahead, limit=0.0))
        self.assertIn('cools down for 10 min:', str(self.reason(ahead)))

    def test_half_follows_the_end(self) -> None:
        """Of a plan that took longer than the cooldown."""
        began = {'began': NOW - 1000.0}
        first = watchers('u', 900.0, **began)
        last = watchers('v', 200.0, **began)
        self.assertTrue(self.is_resting(first, last))
        last = watchers('v', 250.0, **began)
        self.assertFalse(self.is_resting(first, last))

    def test_not_over(self) -> None:
        """The whole time is ahead."""
        for outcome in (Outcome.PLANNED, Outcome.UNDER_WAY):
            event = watchers('u', 700.0, outcome=outcome, status='ONGOING')
            self.assertTrue(self.is_resting(event))
        self.assertFalse(self.is_resting(novas('u', 10.0), limit=0.0))

    def test_failed(self) -> None:
        event = watchers(
            'u', 200.0, outcome=Outcome.FAILED, error_type='MigrationFailed'
        )
        self.assertTrue(self.is_resting(event))
        event = watchers(
            'u', 550.0, outcome=Outcome.FAILED, error_type='MigrationFailed'
        )
        self.assertFalse(self.is_resting(event))
