# SPDX-License-Identifier: Apache-2.0
"""Is it known how long the moves of a scope have taken?"""

from oslotest import base

from kronos.engine.scheduling import durations
from kronos.engine.types import Event, Host, Origin, Outcome, Snapshot


def moved(
    seconds: float,
    at: float = 0.0,
    ends: tuple[str, str] = ('a', 'b'),
    outcome: Outcome = Outcome.MOVED,
) -> Event:
    return Event('one', *ends, outcome, at, Origin.NOVA, seconds=seconds)


class TestSecondsPerMove(base.BaseTestCase):
    def median(self, *events: Event) -> float | None:
        hosts = {name: Host(name) for name in 'abc'}
        return durations.seconds_per_move(
            Snapshot('scope', hosts, {}, {}, events=list(events))
        )

    def test_none(self) -> None:
        self.assertIsNone(self.median())

    def test_the_median(self) -> None:
        """One that took an hour says little of the others."""
        self.assertEqual(30.0, self.median(*map(moved, (20, 3600, 30))))

    def test_what_does_not_count(self) -> None:
        self.assertIsNone(
            self.median(
                moved(0.0),
                moved(9.0, outcome=Outcome.FAILED),
                moved(9.0, outcome=Outcome.UNDER_WAY),
                moved(9.0, ends=('a', 'x')),
                moved(9.0, ends=('x', 'b')),
            )
        )

    def test_scopes_of_which_nothing_is_known_are_left_out(self) -> None:
        hosts = {name: Host(name) for name in 'ab'}
        snapshots = [
            Snapshot('known', hosts, {}, {}, events=[moved(7.0)]),
            Snapshot('unknown', hosts, {}, {}),
        ]
        self.assertEqual({'known': 7.0}, durations.by_scope(snapshots))

    def test_the_latest(self) -> None:
        old = [moved(900.0, at=1.0) for _ in range(60)]
        new = [moved(10.0, at=2.0) for _ in range(durations.LATEST)]
        self.assertEqual(10.0, self.median(*old, *new))
