# SPDX-License-Identifier: Apache-2.0
"""An audit reads what earlier plans changed, from Watcher's own rows."""

import dataclasses
import types

import fixtures
from oslo_log import log as logging
from oslotest import base

from kronos.common import exceptions
from kronos.engine.effect.measurement import Unmeasured
from kronos.engine.settings import EffectUse, Settings
from kronos.engine.types import EffectRatio, Sample
from kronos.snapshots.past.effects import Measured
from kronos.snapshots.past.scope_effects import ScopeEffect
from kronos.strategies import effects
from tests.builders import policies, recordings, scopes
from tests.unit.snapshots.past.test_effects import (
    AFTER,
    BEFORE,
    EFFECT,
    POLICY,
)
from tests.unit.strategies import test_history

SECRET = 's3cret'
OPTIONS = types.SimpleNamespace(
    effect_plans=2, effect_settling_seconds=0, host_match='exact'
)
ALPHA = dataclasses.replace(
    policies.snapshot({'cpu': dict.fromkeys(BEFORE, 0.5)}), scope='alpha'
)


class Cloud:
    """Nova, where nothing else happened, and Prometheus before and after."""

    api = types.SimpleNamespace(microversion='2.79')

    def __init__(self):
        self.api.wire = types.SimpleNamespace(get_all=lambda *_, **__: [])
        self.listed = self.asked = 0

    def list_past_migrations(self, since):
        self.listed += 1
        return []

    def query_at(self, query, time, label_key):
        self.asked += 1
        values = BEFORE if self.asked % 2 else AFTER
        return [Sample(host, value, time) for host, value in values.items()]


class ReadTestCase(test_history.HistoryTestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        # Of other tests' plans, with the same uuids.
        effects._measured = Measured()
        self.cloud = Cloud()

    def moved(self, state='SUCCEEDED', plan='SUCCEEDED', **more):
        inputs = {
            'aggregate': 'alpha',
            'resource_id': 'vm1',
            'source_node': 'h1',
            'destination_node': 'h2',
            'effect': EFFECT,
            **more,
        }
        self.plan(plan, (state, {'input_parameters': inputs}))

    def read(self, nova=None):
        return effects.read(
            [ALPHA],
            [POLICY],
            nova or (lambda: self.cloud),
            self.cloud,
            OPTIONS,
        )

    def test_a_plan_that_kept_its_promise(self):
        self.moved()
        effect = self.read()['alpha']
        (ratio,) = effect.ratios
        self.assertAlmostEqual(1.0, ratio.ratio)
        self.assertEqual(1, ratio.plans)
        self.assertEqual('', self.log.output)

    def test_what_is_measured_is_asked_of_nobody_again(self):
        self.moved()
        self.assertEqual(self.read(), self.read())
        self.assertEqual((1, 2), (self.cloud.listed, self.cloud.asked))

    def test_what_is_forgotten_is_no_plan_any_more(self):
        self.moved()
        self.read()
        self.moved()
        self.moved()
        self.read()
        plans = {key[0] for key, _ in effects._measured.effects}
        self.assertEqual(
            {test_history.uuid(102), test_history.uuid(103)}, plans
        )

    def test_the_newest_come_first_and_no_more_than_wanted(self):
        for _ in range(3):
            self.moved()
        self.moved(aggregate='beta')
        (effect,) = self.read().values()
        self.assertEqual(
            [test_history.uuid(103), test_history.uuid(102)],
            [plan.plan.uuid for plan in effect.plans],
        )

    def test_a_scope_without_plans(self):
        self.assertEqual({}, self.read())
        self.moved(aggregate='beta')
        self.assertEqual({}, self.read())
        self.assertEqual(0, self.cloud.listed)

    def test_a_plan_that_runs(self):
        self.moved('ONGOING', 'ONGOING')
        (plan,) = self.read()['alpha'].plans
        self.assertIs(Unmeasured.NOT_SETTLED, plan.effects[0].unmeasured)

    def test_whatever_is_wrong_the_audit_goes_on(self):
        self.moved()
        for error in (
            exceptions.NovaClientError(reason=SECRET),
            RuntimeError(SECRET),
        ):

            def fail(error=error):
                raise error

            self.assertEqual({}, self.read(fail))
            self.assertIn(type(error).__name__, self.log.output)
        self.assertNotIn(SECRET, self.log.output)


class UseTestCase(base.BaseTestCase):
    """Planned and recorded with, only if an operator asks for that."""

    def test_each(self):
        ratios = [EffectRatio('cpu', 0.5, 3)]
        past = {'alpha': ScopeEffect([], ratios)}
        for use, expected in (
            (EffectUse.OFF, []),
            (EffectUse.LIMIT, ratios),
        ):
            snapshots = [scopes.scope([], {'a': []}, []) for _ in range(2)]
            snapshots[0].scope, snapshots[1].scope = 'alpha', 'beta'
            gathered = recordings.small().gathered
            gathered.effects = {}
            effects.use(past, gathered, snapshots, Settings(use_effect=use))
            self.assertEqual(expected, snapshots[0].effects)
            self.assertEqual([], snapshots[1].effects)
            self.assertEqual(
                {'alpha': ratios} if expected else {}, gathered.effects
            )
