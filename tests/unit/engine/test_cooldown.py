# SPDX-License-Identifier: Apache-2.0
"""I1: a scope rests after a live migration."""

from oslotest import base

from kronos.engine import cooldown
from kronos.engine.settings import Settings
from kronos.engine.types import Move
from tests.unit.engine import build


def move(status='completed', created=0.0, updated=0.0, **fields):
    values = {'instance': 'u1', 'source': 'a', 'destination': 'b', **fields}
    return Move(
        status=status, created_at=created, updated_at=updated, **values
    )


def standstill(*moves, seconds=600.0):
    """At t = 1000 s in a scope with the hosts a and b."""
    snapshot = build.snapshot(
        {'cpu': {'a': 0.1, 'b': 0.2}}, recent_moves=list(moves)
    )
    return cooldown.standstill(snapshot, Settings(cooldown_seconds=seconds))


class TestStandstill(base.BaseTestCase):
    def test_nothing_moved(self):
        self.assertEqual('', standstill())

    def test_the_numbers_are_said(self):
        self.assertEqual(
            'cooldown: 480 of 600 s are left since the live migration of u1 '
            'from a to b (completed, 120 s ago)',
            standstill(move(created=800, updated=880)),
        )

    def test_until_the_cooldown_is_over(self):
        for updated, rests in [(400, False), (400.5, True), (399, False)]:
            text = standstill(move(updated=updated))
            self.assertEqual(rests, bool(text), updated)

    def test_zero_switches_it_off(self):
        for status in ('completed', 'running'):
            self.assertEqual(
                '', standstill(move(status, updated=1000), seconds=0)
            )

    def test_newest_counts(self):
        moves = [
            move(updated=700, instance='old'),
            move(updated=900, instance='new'),
            move(updated=800, instance='middle'),
        ]
        for order in (moves, moves[::-1]):
            text = standstill(*order)
            self.assertIn('of new from', text)
            self.assertIn('500 of 600', text)

    def test_one_side_in_the_scope_is_enough(self):
        for source, destination, rests in [
            ('a', 'x', True),
            ('x', 'b', True),
            ('x', 'y', False),
        ]:
            text = standstill(
                move(updated=999, source=source, destination=destination)
            )
            self.assertEqual(rests, bool(text))

    def test_what_moved_nothing_starts_none(self):
        for status in ('error', 'failed', 'cancelled', 'Error', 'conflict'):
            self.assertEqual('', standstill(move(status, updated=999)))

    def test_under_way_counts_as_of_now(self):
        """However long it has been queued or running."""
        for status in (
            'accepted', 'queued', 'preparing', 'running', 'post-migrating'
        ):  # fmt: skip
            self.assertEqual(
                'cooldown: 600 of 600 s are left since the live migration of '
                f'u1 from a to b ({status}, 0 s ago)',
                standstill(move(status, created=-5000, updated=-5000)),
            )

    def test_clock_that_runs_ahead(self):
        self.assertIn('600 of 600', standstill(move(updated=1030)))
