# SPDX-License-Identifier: Apache-2.0
"""What do measured effects change in a plan?"""

from oslotest import base

from kronos.engine.effect import use
from kronos.engine.settings import EffectUse, Settings
from kronos.engine.types import (
    AggregateResult,
    EffectRatio,
    MigrationPhase,
    MigrationStep,
    StopReason,
)
from kronos.policies.models import Mode

LIMIT = Settings(use_effect=EffectUse.LIMIT)
DAMP = Settings(use_effect=EffectUse.DAMP)
CALIBRATE = Settings(use_effect=EffectUse.CALIBRATE)


class TestFactors(base.BaseTestCase):
    def test_between_their_limits(self) -> None:
        for ratio, damp, calibrate in (
            (-1.0, 0.25, 0.25),
            (0.1, 0.25, 0.25),
            (0.5, 0.5, 0.5),
            (1.5, 1.0, 1.5),
            (5.0, 1.0, 2.0),
        ):
            effects = [EffectRatio('cpu', ratio, 3)]
            self.assertEqual({'cpu': damp}, use.factors(effects, DAMP))
            self.assertEqual(
                {'cpu': calibrate}, use.factors(effects, CALIBRATE)
            )

    def test_each_is_said(self) -> None:
        effects = [EffectRatio('cpu', 0.5, 3), EffectRatio('ram', 1.0, 3)]
        [text] = use.scaled(effects, ['cpu', 'ram'], CALIBRATE)
        self.assertIn('0.5 times', text)
        self.assertIn('calibrate, ratio 0.5 of 3 plans', text)
        self.assertEqual([], use.scaled(effects, ['ram'], CALIBRATE))

    def test_nothing_is_measured(self) -> None:
        effects = [EffectRatio('cpu', 0.5, 0, 3)]
        self.assertEqual({}, use.factors(effects, DAMP))

    def test_only_if_it_is_set(self) -> None:
        effects = [EffectRatio('cpu', 0.5, 3)]
        for word in EffectUse.OFF, EffectUse.LIMIT:
            self.assertEqual(
                {}, use.factors(effects, Settings(use_effect=word))
            )


class TestLimited(base.BaseTestCase):
    def test_a_policy_without_trust(self) -> None:
        effects = [EffectRatio('cpu', 0.9, 4), EffectRatio('ram', 1.7, 4)]
        text = use.limited(effects, ['cpu', 'ram'], LIMIT)
        self.assertIn('ram is 0.30, below 0.5 (ratio 1.7 of 4 plans)', text)
        self.assertIn('canary_moves allows 3 migrations for balance: ', text)
        self.assertEqual('', use.limited(effects, ['cpu'], LIMIT))

    def test_too_few_plans(self) -> None:
        """Plans by a former query count."""
        few = [EffectRatio('cpu', 0.9, 2)]
        text = use.limited(few, ['cpu'], LIMIT)
        self.assertIn('are measured (2)', text)
        self.assertIn('(0)', use.limited([], ['cpu'], LIMIT))
        more = [EffectRatio('cpu', 0.9, 2, 1)]
        self.assertEqual('', use.limited(more, ['cpu'], LIMIT))

    def test_only_if_it_is_set(self) -> None:
        for word in EffectUse:
            if word is not EffectUse.LIMIT:
                settings = Settings(use_effect=word)
                self.assertEqual('', use.limited([], ['cpu'], settings))


def step(phase: MigrationPhase) -> MigrationStep:
    return MigrationStep('a', phase, 'v', 'v', 'x', 'y', 1, {}, {}, 0.2, 0.1)


class TestSpent(base.BaseTestCase):
    """Drains count for nothing, and nothing limits them."""

    def spent(self, phase: MigrationPhase, moves: int, limit: str) -> bool:
        drain = step(MigrationPhase.EVACUATE)
        result = AggregateResult('a', StopReason.BUDGET, 'no budget')
        result.steps = [drain, *[step(MigrationPhase.SPREAD)] * moves, drain]
        result.effect_limit = limit
        settings = Settings(use_effect=EffectUse.LIMIT, canary_moves=2)
        return use.is_spent(result, phase, Mode.SPREAD, settings)

    def test_spent(self) -> None:
        for phase, moves, limit, expected in (
            (MigrationPhase.SPREAD, 2, 'few', True),
            (MigrationPhase.RELIEVE, 2, 'few', True),
            (MigrationPhase.SPREAD, 1, 'few', False),
            (MigrationPhase.SPREAD, 2, '', False),
            (MigrationPhase.EVACUATE, 2, 'few', False),
        ):
            self.assertIs(
                expected,
                self.spent(phase, moves, limit),
                f'{phase} {moves} {limit}',
            )
