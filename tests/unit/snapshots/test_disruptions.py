# SPDX-License-Identifier: Apache-2.0
"""Does each move count once, whoever reports it?"""

from oslotest import base

from kronos.engine.settings import Settings
from kronos.engine.types import Disruption, Event, Instance, Origin, Outcome
from kronos.snapshots import disruptions

NOW = 1_800_000_000.0
SERVERS = [
    Instance('u', 'a', project_id='p'),
    Instance('v', 'a', project_id='q'),
]


def event(
    uuid: str,
    outcome: Outcome,
    origin: Origin = Origin.WATCHER,
    at: float = NOW - 30,
    began: float = NOW - 60,
) -> Event:
    return Event(uuid, 'a', 'b', outcome, at, origin, began=began)


def gathered(started: list[Disruption], *events: Event) -> list[Disruption]:
    return disruptions.of(started, events, SERVERS, Settings(), NOW)


class TestDisruptions(base.BaseTestCase):
    def test_of_nova(self) -> None:
        """A deleted server keeps the project that Nova names."""
        started = [Disruption('gone', 'r', NOW - 9), Disruption('u', '', 5.0)]
        self.assertEqual(
            [Disruption('gone', 'r', NOW - 9), Disruption('u', 'p', 5.0)],
            gathered(started),
        )

    def test_waiting(self) -> None:
        planned = event('v', Outcome.PLANNED)
        expected = [Disruption('v', 'q')]
        self.assertEqual(expected, gathered([], planned))
        gone = event('gone', Outcome.PLANNED)
        self.assertEqual([], gathered([], gone))

    def test_an_action_that_has_asked_nova_counts_once(self) -> None:
        going = event('u', Outcome.UNDER_WAY)
        self.assertEqual([Disruption('u', 'p')], gathered([], going))
        before = Disruption('u', 'p', NOW - 61)
        expected = [before, Disruption('u', 'p')]
        self.assertEqual(expected, gathered([before], going))
        since = Disruption('u', 'p', NOW - 59)
        self.assertEqual([since], gathered([since], going))

    def test_under_way(self) -> None:
        """Not what was left behind by a nova-compute that was killed."""
        row = Disruption('u', 'p', NOW - 50, is_under_way=True)
        running = event('u', Outcome.UNDER_WAY, Origin.NOVA)
        self.assertEqual([row], gathered([row], running))
        over = Disruption('u', 'p', NOW - 50)
        self.assertEqual([over], gathered([row]))

    def test_it_runs_for_longer_than_nova_was_asked_about(self) -> None:
        old = event('u', Outcome.UNDER_WAY, Origin.NOVA, at=NOW - 9000)
        expected = [Disruption('u', 'p', NOW - 9000, is_under_way=True)]
        self.assertEqual(expected, gathered([], old))
        stuck = event('u', Outcome.UNDER_WAY, Origin.NOVA, at=NOW - 9e5)
        self.assertEqual([], gathered([], stuck))
