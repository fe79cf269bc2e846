# SPDX-License-Identifier: Apache-2.0
"""What is said of an event?"""

from typing import Any

from oslotest import base

from kronos.engine.eligibility import event_texts, quarantine
from kronos.engine.eligibility.event_texts import EventTexts
from kronos.engine.types import Event, Origin, Outcome
from tests.builders import scopes

NOW = 10_000.0


def event(outcome: Outcome, **more: Any) -> Event:
    return Event('u', 'a', 'b', outcome, NOW - 90.0, Origin.WATCHER, **more)


class TestTexts(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        snapshot = scopes.scope(
            [], {'a': [], 'b': []}, [scopes.vm('u', 'a', [])]
        )
        snapshot.taken_at = NOW
        self.texts = EventTexts(snapshot)

    def test_causes(self) -> None:
        failure = {'error_type': 'MigrationFailed', 'fault': 'instance_error'}
        plan = {'plan': 'p'}
        for cause, text in (
            (event(Outcome.MOVED), 'it moved a -> b 90 s ago'),
            (event(Outcome.UNDER_WAY), 'it is being migrated a -> b'),
            (
                event(Outcome.PLANNED, status='ONGOING', **plan),
                'it is in a plan that is under way (action plan p is ONGOING)',
            ),
            (
                event(Outcome.PLANNED, status='RECOMMENDED', **plan),
                'it is in a plan that no applier has started for 90 s; if '
                'that lasts, "openstack optimize actionplan start p", or '
                'cancel the plan: its trigger was lost',
            ),
            (
                event(Outcome.FAILED, **failure),
                'a move of it a -> b failed (MigrationFailed, '
                'instance_error) 90 s ago',
            ),
        ):
            self.assertEqual(text, self.texts.cause(cause, 'it', 'of it'))

    def test_age(self) -> None:
        """Of what is under way, and by a clock that is ahead: none."""
        self.assertEqual(90.0, self.texts.age(event(Outcome.MOVED)))
        self.assertEqual(0.0, self.texts.age(event(Outcome.UNDER_WAY)))
        ahead = event(Outcome.MOVED)
        ahead.at = NOW + 5.0
        self.assertEqual(0.0, self.texts.age(ahead))

    def test_ago(self) -> None:
        deleted = event(Outcome.FAILED, status=quarantine.DELETED)
        self.assertEqual(
            '90 s ago, counted from the deletion of its plan',
            self.texts.ago(deleted),
        )

    def test_meaning(self) -> None:
        self.assertEqual('', event_texts.meant(event(Outcome.FAILED)))
