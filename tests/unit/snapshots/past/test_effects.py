# SPDX-License-Identifier: Apache-2.0
"""Tests of the measuring of past plans."""

import json
import types
import unittest

from kronos.clients.nova.server_lives import ServerLife
from kronos.common import exceptions
from kronos.engine.effect.measurement import Unmeasured
from kronos.engine.types import Event, Instance, Origin, Outcome, Sample
from kronos.policies import fingerprints
from kronos.policies.models import Policy
from kronos.snapshots.past import effects
from kronos.snapshots.past.effects import EffectReader, NovaHistory
from tests.unit.snapshots.past.test_past_plans import plan, row

POLICY = Policy.model_validate_json(
    json.dumps(
        {
            'name': 'cpu',
            'mode': 'spread',
            'weight': 1.0,
            'imbalance_query': 'host_cpu',
            'vm_profile_query': 'vm_cpu',
        }
    )
)
EFFECT = {'cpu': [0.2, 0.1, fingerprints.of(POLICY)]}
CALM = {'h3': 0.5, 'h4': 0.5, 'h5': 0.5}
BEFORE = {'h1': 0.8, 'h2': 0.3} | CALM
AFTER = {'h1': 0.6, 'h2': 0.4} | CALM
SETTLED = 1000.0
"""Of a plan made at 100 whose last move ended at 200; settling 600."""


class Queries:
    """The scores of hosts at the two times of a plan."""

    def __init__(self):
        self.values = {100.0: BEFORE, 800.0: AFTER}
        self.asked = []

    def query_at(self, query, time, label_key):
        self.asked.append((query, time, label_key))
        if time not in self.values:
            raise exceptions.PrometheusError(url='', reason='too old')
        return [
            Sample(host, value, time)
            for host, value in self.values[time].items()
        ]


def event(instance='other', source='h1', destination='h9', at=300.0, **more):
    return Event(
        instance,
        source,
        destination,
        more.pop('outcome', Outcome.MOVED),
        at,
        Origin.NOVA,
        began=more.pop('began', 150.0),
    )


class SettlingTest(unittest.TestCase):
    def test_it_is_as_long_as_the_longest_range(self):
        policy = POLICY.model_copy(
            update={'imbalance_query': 'quantile_over_time(.9, x[30m:1m])'}
        )
        for option, cooldown, seconds in (
            (None, 600, 1800.0),
            (None, 3600, 3600.0),
            (120, 3600, 120.0),
            (0, 3600, 0.0),
        ):
            options = types.SimpleNamespace(
                effect_settling_seconds=option, cooldown=cooldown
            )
            with self.subTest(option=option, cooldown=cooldown):
                self.assertEqual(
                    seconds,
                    effects.settling_seconds([POLICY, policy], options),
                )
                self.assertEqual(
                    float(cooldown if option is None else option),
                    effects.settling_seconds([POLICY], options),
                )


class EffectsTest(unittest.TestCase):
    def setUp(self):
        self.queries = Queries()
        self.events = []
        self.lives = []
        self.reader = EffectReader(
            self.queries, self.history, {'a': list(BEFORE)}, 600.0
        )

    def history(self, since):
        self.assertEqual(100.0, since)
        return NovaHistory(self.events, self.lives)

    def read(self, *rows, now=SETTLED, state='SUCCEEDED'):
        rows = rows or [row(effect=EFFECT)]
        plans = [plan(*rows, state=state)]
        (measured,) = self.reader.read(plans, [POLICY], now)
        return measured

    def effect(self, *rows, **more):
        (effect,) = self.read(*rows, **more).effects
        return effect

    def test_a_plan_is_measured_at_both_its_ends(self):
        self.assertAlmostEqual(1.0, self.effect().ratio)
        self.assertEqual(
            [('host_cpu', 100.0, 'host'), ('host_cpu', 800.0, 'host')],
            self.queries.asked,
        )

    def test_each_query_is_asked_once(self):
        first = self.effect()
        self.assertEqual(first, self.effect())
        self.assertEqual(2, len(self.queries.asked))

    def test_what_prometheus_does_not_have_is_asked_again(self):
        del self.queries.values[100.0]
        self.assertIs(Unmeasured.NO_SAMPLES, self.effect().unmeasured)
        self.queries.values[100.0] = BEFORE
        self.assertAlmostEqual(1.0, self.effect().ratio)

    def test_of_a_query_that_fails_no_other_plan_is_asked(self):
        self.queries.values.clear()
        plans = [plan(row(effect=EFFECT)), plan(row(effect=EFFECT))]
        measured = self.reader.read(plans, [POLICY], SETTLED)
        self.assertEqual(1, len(self.queries.asked))
        for each in measured:
            self.assertIs(Unmeasured.NO_SAMPLES, each.effects[0].unmeasured)

    def test_a_plan_that_was_started_after_all_is_measured_anew(self):
        self.queries.values[700.0] = BEFORE
        lost = row('CANCELLED', effect=EFFECT)
        self.assertAlmostEqual(0.0, self.effect(lost).realised)
        self.assertAlmostEqual(1.0, self.effect().ratio)

    def test_what_is_measured_needs_no_history(self):
        first = self.effect()
        self.reader.history = None
        self.assertEqual(first, self.effect())

    def test_readers_may_share_what_is_measured(self):
        first = self.effect()
        self.reader = EffectReader(
            self.queries, None, {}, 600.0, measured=self.reader.measured
        )
        self.assertEqual(first, self.effect())
        self.reader.measured.forget({'p1'})
        self.assertEqual(first, self.effect())
        self.reader.measured.forget(())
        self.assertEqual({}, self.reader.measured.effects)
        self.assertEqual({}, self.reader.measured.taken)

    def test_a_plan_that_has_not_settled(self):
        for more in ({'now': 799.0}, {'state': 'ONGOING'}):
            effect = self.effect(**more)
            self.assertIs(Unmeasured.NOT_SETTLED, effect.unmeasured)
        self.assertEqual([], self.queries.asked)

    def test_the_action_of_an_older_kronos(self):
        effect = self.effect(row(effect=EFFECT), row(effect=None))
        self.assertIs(Unmeasured.NO_FORECAST, effect.unmeasured)

    def test_moves_to_another_cell_are_not_live(self):
        cold = row(kind='kronos_cross_cell_migrate', effect=None)
        effect = self.effect(row(effect=EFFECT), cold)
        self.assertIs(Unmeasured.OFFLINE, effect.unmeasured)
        self.assertEqual([], self.queries.asked)

    def test_a_former_query(self):
        effect = self.effect(row(effect={'cpu': [0.2, 0.1, 'f00']}))
        self.assertIs(Unmeasured.FORMER_QUERY, effect.unmeasured)

    def test_a_failed_move_does_not_count(self):
        lost = row(
            'FAILED',
            resource_id='u2',
            source_node='h3',
            destination_node='h4',
            effect=EFFECT,
        )
        effect = self.effect(row(effect=EFFECT), lost)
        self.assertEqual(
            ['h1', 'h2'], [change.host for change in effect.changes]
        )

    def test_a_move_that_only_nova_saw_arrive_counts(self):
        self.events = [event('u1', 'h1', 'h2', 190.0)]
        measured = self.read(row('FAILED', effect=EFFECT))
        self.assertAlmostEqual(1.0, measured.effects[0].ratio)
        self.assertEqual(40.0, measured.taken_seconds)

    def test_nothing_arrived(self):
        effect = self.effect(row('FAILED', effect=EFFECT))
        self.assertIs(Unmeasured.NO_MOVES, effect.unmeasured)

    def test_a_move_by_hand_disturbs(self):
        self.events = [event()]
        self.assertIs(Unmeasured.DISTURBED, self.effect().unmeasured)

    def test_a_move_of_another_time_does_not(self):
        self.events = [
            event(at=99.0, began=50.0),
            event(at=990.0, began=900.0),
            event(outcome=Outcome.FAILED),
        ]
        self.assertAlmostEqual(1.0, self.effect().ratio)

    def test_a_boot_and_a_deletion_disturb(self):
        for life in (
            ServerLife(instance(created=150.0)),
            ServerLife(instance(), gone=700.0),
        ):
            self.reader = EffectReader(
                self.queries, self.history, {'a': list(BEFORE)}, 600.0
            )
            self.lives = [life]
            self.assertIs(Unmeasured.DISTURBED, self.effect().unmeasured)

    def test_a_boot_disturbs_the_host_that_it_was_on(self):
        self.lives = [ServerLife(instance('h9', created=150.0))]
        self.events = [event('new', 'h1', 'h9', 900.0, began=850.0)]
        self.assertIs(Unmeasured.DISTURBED, self.effect().unmeasured)

    def test_without_nova_nothing_is_measured(self):
        def fail(since):
            raise exceptions.NovaClientError(reason='away')

        self.reader.history = fail
        self.assertIs(Unmeasured.NO_HISTORY, self.effect().unmeasured)

    def test_a_plan_that_never_started(self):
        self.queries.values[700.0] = BEFORE
        effect = self.effect(
            row('CANCELLED', effect=EFFECT), state='SUPERSEDED'
        )
        self.assertAlmostEqual(0.3, effect.predicted)
        self.assertAlmostEqual(0.0, effect.realised)

    def test_two_series_for_a_host_tell_nothing(self):
        samples = [Sample('h1', 0.1, 1.0), Sample('h1', 0.2, 1.0)]
        self.queries.query_at = lambda *_: samples
        self.assertIs(Unmeasured.NO_SAMPLES, self.effect().unmeasured)


def instance(host='h1', created=10.0):
    return Instance('new', host=host, name='name', created=created)
