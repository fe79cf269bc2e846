# SPDX-License-Identifier: Apache-2.0
"""Cooldowns and quarantines that an operator made up."""

import dataclasses
import math

from oslotest import base

from kronos.engine.eligibility import cooldown, overrides
from kronos.engine.settings import Settings
from kronos.engine.types import Event, Origin, Outcome, Seeds
from tests.builders import policies

SETTINGS = Settings(cooldown_seconds=600.0, instance_cooldown_seconds=900.0)


def remember(
    sown: Seeds, *events: Event, settings: Settings = SETTINGS
) -> cooldown.Cooldowns:
    snapshot = policies.snapshot(
        {'cpu': {'a': 0.1, 'b': 0.2}},
        instances=[policies.instance('u1', 'b'), policies.instance('u2', 'a')],
        events=list(events),
        seeds=sown,
    )
    return cooldown.remember(snapshot, settings)


class TestSeeds(base.BaseTestCase):
    def test_nothing(self) -> None:
        self.assertEqual(cooldown.Cooldowns(), remember(Seeds()))

    def test_clamped(self) -> None:
        """No longer than what is configured; a quarantine as it is."""
        sown = Seeds({'agg': 999999.0}, {'u1': 999999.0}, {'u1': 999999.0})
        for seconds, found in (
            (600.0, overrides.seed_aggregate_cooldown(sown, 'agg', SETTINGS)),
            (900.0, overrides.seed_instance_cooldown(sown, 'u1', SETTINGS)),
            (999999.0, overrides.seed_instance_quarantine(sown, 'u1')),
            (0.0, overrides.seed_aggregate_cooldown(sown, 'x', SETTINGS)),
            (0.0, overrides.seed_aggregate_cooldown(sown, 'agg', Settings())),
        ):
            self.assertEqual(seconds, found)

    def test_less_than_zero(self) -> None:
        """-1 means something in quarantines only."""
        sown = Seeds({'agg': -1.0}, {'u1': -1.0}, {'u1': -1.0})
        self.assertEqual(
            0.0, overrides.seed_aggregate_cooldown(sown, 'agg', SETTINGS)
        )
        self.assertEqual(
            0.0, overrides.seed_instance_cooldown(sown, 'u1', SETTINGS)
        )
        self.assertEqual(
            math.inf, overrides.seed_instance_quarantine(sown, 'u1')
        )

    def test_what_has_no_effect(self) -> None:
        """Whoever wrote it is told, by its name."""
        sown = Seeds(
            {'agg': 700.0, 'other': 5.0, 'z': 0.0},
            {'u1': -1.0, 'u2': 60.0},
            {'u1': -1.0, 'u2': -2.0},
        )
        settings = Settings(cooldown_seconds=600.0)
        self.assertEqual(
            [
                'aggregate_cooldowns: other: it has no effect, the aggregate '
                'is not planned',
                'aggregate_cooldowns: agg: Kronos uses 10 min instead, the '
                'cooldown of this plan',
                'aggregate_cooldowns: z: it has no effect: 0 s are left',
                'instance_cooldowns: u1: it has no effect: -1 s are left',
                'instance_cooldowns: u2: it has no effect: this plan has no '
                'instance_cooldown',
                'instance_quarantines: u2: it has no effect: -2 s are left',
            ],
            [
                text.removeprefix('cooldowns.json: ')
                for text in overrides.idle(sown, {'other'}, settings)
            ],
        )

    def test_aggregate(self) -> None:
        cooldowns = remember(Seeds(aggregate_cooldowns={'agg': 30.5}))
        self.assertEqual(
            'aggregate agg cools down for 31 s: set in the cooldowns of the '
            'recording',
            cooldowns.standstill,
        )
        # Who does not wait for a cooldown does not wait for this one.
        whole = dataclasses.replace(SETTINGS, cooldown_seconds=0)
        sown = Seeds(aggregate_cooldowns={'agg': 30.5})
        self.assertIsNone(remember(sown, settings=whole).standstill)

    def test_instances(self) -> None:
        for sown, text in (
            (Seeds(instance_cooldowns={'u1': 9}), 'it cools down for 9 s: '),
            (
                Seeds(instance_cooldowns={'u1': 9999}),
                'it cools down for 15 min: ',
            ),
            (
                Seeds(instance_quarantines={'u1': 9999}),
                'it is in quarantine for 2 h 47 min: ',
            ),
            (
                Seeds(
                    instance_cooldowns={'u1': 9},
                    instance_quarantines={'u1': -1},
                ),
                'it is in quarantine for ever: ',
            ),
        ):
            cooldowns = remember(sown)
            with self.subTest(text=text):
                self.assertEqual(['u1'], list(cooldowns.unavailable))
                self.assertIn(text, cooldowns.unavailable['u1'])

    def test_beside_events(self) -> None:
        """What happened is told before what was made up."""
        moved = Event('u1', 'a', 'b', Outcome.MOVED, 900.0, Origin.NOVA)
        cooldowns = remember(
            Seeds({'agg': 5.0}, {'u1': 5.0, 'u2': 5.0}), moved
        )
        self.assertIn('u1 moved a -> b', cooldowns.standstill)
        self.assertIn('it moved a -> b', cooldowns.unavailable['u1'])
        self.assertIn(
            'for 5 s: set in the cooldowns', cooldowns.unavailable['u2']
        )
