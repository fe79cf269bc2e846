# SPDX-License-Identifier: Apache-2.0
"""Is it known which hosts pack has begun to empty?"""

from oslotest import base

from kronos.engine.eligibility import begun_hosts
from kronos.engine.types import Event, Origin, Outcome, Snapshot


def event(
    source: str,
    destination: str,
    at: float = 1.0,
    outcome: Outcome = Outcome.MOVED,
    phase: str = 'pack',
) -> Event:
    return Event(
        f'{source}-{at}',
        source,
        destination,
        outcome,
        at,
        Origin.WATCHER,
        phase=phase,
    )


def begun(*events: Event) -> set[str]:
    snapshot = Snapshot(
        scope='s',
        hosts={},
        instances={},
        readings={},
        services={},
        events=list(events),
    )
    return begun_hosts.of(snapshot)


class TestBegunHosts(base.BaseTestCase):
    def test_what_pack_moves_away(self) -> None:
        """Whether it has arrived, is under way, or has its turn later."""
        for outcome in (Outcome.MOVED, Outcome.UNDER_WAY, Outcome.PLANNED):
            found = begun(event('a', 'b', outcome=outcome))
            self.assertEqual({'a'}, found)

    def test_what_begins_nothing(self) -> None:
        self.assertEqual(set(), begun())
        self.assertEqual(
            set(),
            begun(
                event('a', 'b', phase=''),
                event('c', 'b', phase='spread'),
                event('d', 'b', phase='evacuate'),
                event('e', 'b', outcome=Outcome.FAILED),
            ),
        )

    def test_one_that_made_room(self) -> None:
        """One left b, so that one from a could come: b is filled."""
        room, fill = event('b', 'c', 1.0), event('a', 'b', 2.0)
        self.assertEqual({'a'}, begun(room, fill))
        fill.outcome = Outcome.FAILED
        self.assertEqual(set(), begun(room, fill))

    def test_of_one_plan_that_has_not_begun(self) -> None:
        planned = Outcome.PLANNED
        self.assertEqual(
            {'a'},
            begun(
                event('b', 'c', 1.0, planned), event('a', 'b', 1.0, planned)
            ),
        )

    def test_one_that_was_filled_before(self) -> None:
        self.assertEqual(
            {'b'}, begun(event('a', 'b', 1.0), event('b', 'c', 2.0)) - {'a'}
        )
