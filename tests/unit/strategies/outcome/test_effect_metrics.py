# SPDX-License-Identifier: Apache-2.0
"""An audit shows what earlier plans changed."""

import fixtures
from oslo_log import log as logging

from kronos.strategies.outcome import effect_metrics
from tests.unit.metrics import measured
from tests.unit.snapshots.past.test_scope_effects import (
    LOST,
    effect,
    not_started,
    of_scope,
    started,
)

CPU = 'alpha', 'cpu'


class EffectMetricsTestCase(measured.MeasuredTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))

    def shown(self, *plans):
        effect_metrics.show({'alpha': of_scope(*plans)})
        self.assertEqual('', self.log.output)

    def value(self, name, labels):
        values = self.values(f'kronos_effect_{name}')
        self.assertEqual({labels}, {*values})
        return values[labels]

    def test_the_ratio_of_a_policy(self) -> None:
        self.shown(started(effect()), started(effect()), LOST)
        ratio = self.value('ratio', CPU)
        self.assertEqual(ratio, self.value('trust_ratio', CPU))
        self.assertLess(ratio, 0.6)
        self.assertEqual(2.0, self.value('measured_plans', CPU))
        self.assertEqual(
            1.0,
            self.value('unmeasured_plans', ('alpha', 'effect_former_query')),
        )

    def test_the_newest_plan_that_is_measured(self) -> None:
        self.shown(LOST, started(effect(0.15)), started(effect(0.05)))
        self.assertAlmostEqual(0.4, self.value('predicted_ratio', CPU))
        self.assertAlmostEqual(0.3, self.value('realised_ratio', CPU))
        self.assertEqual(40.0, self.value('forecast_seconds', ('alpha',)))
        self.assertEqual(55.0, self.value('taken_seconds', ('alpha',)))

    def test_a_plan_that_was_not_started_stands_beside(self) -> None:
        self.shown(not_started(effect(0.1)))
        name = 'not_started_realised_ratio'
        self.assertAlmostEqual(0.2, self.value(name, CPU))
        name = 'not_started_predicted_ratio'
        self.assertAlmostEqual(0.4, self.value(name, CPU))
        self.assertEqual({}, self.values('kronos_effect_predicted_ratio'))
        self.assertEqual({}, self.values('kronos_effect_taken_seconds'))

    def test_whatever_is_wrong_the_audit_goes_on(self) -> None:
        effect_metrics.show({'alpha': None})
        self.assertIn('incomplete: AttributeError', self.log.output)
