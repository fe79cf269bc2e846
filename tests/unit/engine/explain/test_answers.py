# SPDX-License-Identifier: Apache-2.0
"""Are the answers of a small plan what was worked out by hand?

a 0.8, b 0.3, c 0.5; threshold 0.1. Moving web (0.2) from a to b leaves 0.6,
0.5, 0.5; tiny (0.05) from a to b would leave 0.55, 0.55, 0.5.
"""

import dataclasses
import functools
import json
from typing import Any

import fixtures
import numpy as np
from oslotest import base

from kronos.engine.explain import answers, remedies, trials
from kronos.engine.planning import propose
from kronos.engine.settings import Settings
from kronos.engine.types import CycleInput, Health
from tests.builders.scopes import PLAIN, policy, scope, vm

POLICY = policy('cpu', threshold=0.1)
HOSTS = {'a': [0.8], 'b': [0.3], 'c': [0.5]}


class AnswersTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.policies = [POLICY]
        self.tried: list[list[str]] = []
        self.snapshot = scope(
            self.policies,
            HOSTS,
            [vm('web', 'a', [0.2]), vm('tiny', 'a', [0.05])],
        )

    def asked(self, **settings: Any) -> answers.PlanAnswers:
        chosen = Settings(**PLAIN | settings)
        cycle = CycleInput([self.snapshot], self.policies, chosen)
        report = propose.propose([self.snapshot], self.policies, chosen)
        prepare = functools.partial(self.with_thresholds, cycle)
        return answers.PlanAnswers(cycle, report, prepare)

    def with_thresholds(
        self, cycle: CycleInput, remedy: remedies.Remedy
    ) -> CycleInput:
        """What kronos-explain does by the names of its options."""
        self.tried.append(remedy.arguments())
        limits = {
            name.removeprefix('threshold.'): float(text)
            for name, text in remedy.overrides.items()
        }
        policies = [
            one.model_copy(
                update={'threshold': limits.get(one.name, one.threshold)}
            )
            for one in cycle.policies
        ]
        return dataclasses.replace(cycle, policies=policies)

    def test_scope(self) -> None:
        found = self.asked().scope(0)
        self.assertEqual(('agg', 1), (found['scope'], found['steps']))
        self.assertEqual('scope_balanced', found['code'])
        miss = found['nearest_miss']
        self.assertEqual(
            ('tiny', 'a', 'b', 'scope_balanced'),
            (
                miss['instance'],
                miss['source'],
                miss['destination'],
                miss['code'],
            ),
        )
        self.assertAlmostEqual(0.05, miss['gain'])

    def test_a_remedy_is_tried(self) -> None:
        """With what is told; the plan then makes the move as well."""
        miss = self.asked().scope(0)['nearest_miss']
        self.assertEqual(['--set', 'threshold.cpu=0.0999'], miss['try'])
        then = miss['if_lifted']
        self.assertEqual((True, 1), (then['planned'], then['more_steps']))

    def test_a_larger_budget_is_proposed(self) -> None:
        """In the words of the command's options."""
        budget = remedies.Remedy('', max_migrations=3)
        self.assertEqual(['--max-migrations', '3'], budget.arguments())
        mode = remedies.Remedy('', mode=POLICY.mode)
        self.assertEqual(['--mode', 'spread'], mode.arguments())

    def test_scopes_of(self) -> None:
        asked = self.asked()
        self.assertEqual([0], asked.scopes_of(instance='web'))
        self.assertEqual([], asked.scopes_of(instance='other'))

    def test_instance(self) -> None:
        found = self.asked().instance(0, 'web', None)
        [step] = found['moves']
        self.assertEqual((1, 'b'), (step['number'], step['destination']))
        codes = {
            one['destination']: one['code'] for one in found['destinations']
        }
        self.assertEqual(
            {'a': 'already_there', 'b': 'planned', 'c': 'better_destination'},
            codes,
        )
        self.assertEqual(
            {'better_destination': 1, 'planned': 1}, found['codes']
        )

    def test_one_destination(self) -> None:
        found = self.asked().instance(0, 'web', 'c')
        [one] = found['destinations']
        self.assertEqual(('c', 1), (one['destination'], one['better_step']))
        self.assertNotIn('codes', found)

    def test_it_is_planned_again_a_few_times(self) -> None:
        """Once that is used up, less is promised."""
        self.useFixture(fixtures.MockPatchObject(trials, 'MOST_TRIALS', 0))
        self.useFixture(fixtures.MockPatchObject(trials, 'LEAST_TRIALS', 0))
        miss = self.asked().scope(0)['nearest_miss']
        self.assertEqual([], self.tried)
        self.assertEqual(([], None), (miss['try'], miss['if_lifted']))
        self.assertTrue(miss['remedy'].startswith('Not tried: '), miss)
        self.snapshot.instances['tiny'].locked = True
        miss = self.asked().instance(0, 'tiny', None)['nearest_miss']
        self.assertEqual('Unlock it.', miss['remedy'])
        self.assertIsNone(miss['if_lifted'])

    def test_a_large_scope_is_planned_again_less_often(self) -> None:
        few = trials.Trials('agg', 10, lambda _: None)
        many = trials.Trials('agg', 1000, lambda _: None)
        number = []
        for one in (few, many):
            count = 0
            while not one.is_over:
                one.of(remedies.Remedy('', {'keep_hosts': str(count)}))
                count += 1
            number.append(count)
        self.assertEqual([24, 4], number)

    def test_host(self) -> None:
        found = self.asked().host(0, 'a')
        self.assertEqual(('sends', 2), (found['role'], found['instances']))
        [standing] = found['policies']
        self.assertEqual((1, 3, True), _rank(standing))
        found = self.asked().host(0, 'b')
        self.assertEqual('receives', found['role'])
        [standing] = found['policies']
        self.assertEqual((3, 3, False), _rank(standing))
        self.assertEqual('neither', self.asked().host(0, 'c')['role'])

    def test_an_unavailable_host(self) -> None:
        """With its reason, and the other three take part without it."""
        self.snapshot = scope(
            self.policies, HOSTS | {'d': [0.4]}, [vm('web', 'a', [0.2])]
        )
        services = self.snapshot.services or {}
        services['d'] = dataclasses.replace(services['d'], state='down')
        found = self.asked().host(0, 'd')
        self.assertIn('down', found['unavailable'])
        self.assertEqual(1, len(found['against']))
        self.assertEqual('neither', found['role'])

    def test_a_policy_that_was_not_judged(self) -> None:
        self.snapshot.readings['cpu'].imbalance.health = Health.UNREACHABLE
        found = self.asked().scope(0)
        self.assertEqual(['cpu'], list(found['policies_skipped']))
        self.assertEqual(0, found['steps'])

    def test_programs_can_read_it(self) -> None:
        """No value is of a kind, or a number, that JSON does not have."""
        self.snapshot.readings['cpu'].profile.samples[0].value = 1e308
        asked = self.asked()
        with np.errstate(over='ignore', invalid='ignore'):
            documents = [
                asked.scope(0),
                asked.instance(0, 'web', None),
                asked.host(0, 'a'),
            ]
        json.dumps(documents, allow_nan=False)


def _rank(standing: dict[str, Any]) -> tuple[int, int, bool]:
    return standing['rank'], standing['hosts'], standing['over']
