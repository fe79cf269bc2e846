# SPDX-License-Identifier: Apache-2.0
"""Does a migration that is stuck hold its hosts, and nothing else?"""

from typing import Any

from oslotest import base

from kronos.engine.eligibility import stuck_migrations
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import Event, Origin, Outcome, PlanningInput
from tests.unit.engine.eligibility import test_in_flight as in_flight
from tests.unit.engine.eligibility.test_cooldown import (
    by_hand,
    event,
    remember,
)


class TestHeldHosts(base.BaseTestCase):
    """A stuck migration has its turn at its two hosts for good."""

    OLD = 1000.0 - 86401

    def stuck(self, uuid: str, *ends: str, **more: Any) -> Event:
        source, destination = ends
        values = {'instance': uuid, 'at': self.OLD, **more}
        return by_hand(
            Outcome.UNDER_WAY,
            source=source,
            destination=destination,
            **values,
        )

    def test_nothing_leaves_its_source(self) -> None:
        """Not what is stuck itself, which is on its way."""
        text = (
            'the migration of instance u1 out of a is stuck, and a host '
            'sends 1 server at a time; end it by hand'
        )
        cooldowns = remember(self.stuck('u1', 'a', 'c'), on='a')
        self.assertEqual({'a': text}, cooldowns.held_sources)
        self.assertEqual({}, cooldowns.held_destinations)
        self.assertEqual(text, cooldowns.unavailable['u2'])
        self.assertIs(Code.HOST_STUCK_OUT, cooldowns.unavailable['u2'].code)
        self.assertEqual(
            'it is being migrated a -> c', cooldowns.unavailable['u1']
        )

    def test_an_own_reason_comes_first(self) -> None:
        cooldowns = remember(
            self.stuck('u1', 'a', 'c'),
            event(instance='u2'),
            on='a',
            instance_cooldown_seconds=600.0,
        )
        self.assertIn('cools down', cooldowns.unavailable['u2'])

    def test_two_into_one_host(self) -> None:
        """From wherever they come; a host takes two at a time."""
        one, other = self.stuck('x', 'p', 'b'), self.stuck('y', 'q', 'b')
        self.assertEqual({}, remember(one).held_destinations)
        self.assertEqual(
            {
                'b': 'the migrations of instances x, y into b are stuck, and '
                'a host takes 2 servers at a time; end them by hand'
            },
            remember(one, other).held_destinations,
        )
        self.assertEqual(remember(one, other), remember(other, one))

    def test_several_out_of_one_host(self) -> None:
        cooldowns = remember(
            self.stuck('x', 'a', 'c'), self.stuck('y', 'a', 'd')
        )
        self.assertEqual(
            'the migrations of instances x, y out of a are stuck, and a host '
            'sends 1 server at a time; end them by hand',
            cooldowns.unavailable['u2'],
        )

    def test_only_what_does_not_pass_by_itself(self) -> None:
        """A resize that is stuck as well, which counts at its hosts."""
        young = {'at': self.OLD + 1}
        for held, more in [
            (True, {'is_resize': True}),
            (False, {'is_resize': True, **young}),
            (False, young),
            # No migration of Nova's: a turn of Kronos' own ends.
            (False, {'origin': Origin.WATCHER}),
            (False, {'outcome': Outcome.PLANNED}),
            (False, {'outcome': Outcome.MOVED}),
        ]:
            outcome = more.pop('outcome', Outcome.UNDER_WAY)
            one = self.stuck('u1', 'a', 'c', **more)
            one.outcome = outcome
            cooldowns = remember(one, on='a')
            self.assertEqual(held, 'u2' in cooldowns.unavailable, more)

    def test_a_destination_that_is_not_told(self) -> None:
        cooldowns = remember(*(self.stuck(uuid, 'p', '') for uuid in 'xy'))
        self.assertEqual({}, cooldowns.held_destinations)

    def test_nothing_but_that(self) -> None:
        """The scope is planned, and its other hosts take part."""
        cooldowns = remember(
            self.stuck('u1', 'b', 'c'), cooldown_seconds=600.0
        )
        self.assertIsNone(cooldowns.standstill)
        self.assertEqual(['u1'], list(cooldowns.unavailable))


class TestWithout(base.BaseTestCase):
    def test_those_that_are_meant(self) -> None:
        """What is under way otherwise goes on."""
        snapshot = in_flight.drained()
        began, claimed = in_flight.STARTED, in_flight.CLAIMED
        snapshot.events = [began, claimed]
        settings = Settings(stuck_seconds=60.0)
        given = PlanningInput(snapshot, [in_flight.CPU], settings)

        def left(now: float) -> list[Event]:
            snapshot.taken_at = now
            return stuck_migrations.without(
                given, lambda event: event.origin is Origin.NOVA
            ).snapshot.events

        self.assertEqual([began, claimed], left(claimed.at + 60.0))
        self.assertEqual([began], left(claimed.at + 61.0))
        self.assertEqual([began, claimed], snapshot.events)
