# SPDX-License-Identifier: Apache-2.0
"""Are the answers of a small plan what was worked out by hand?

a 0.8, b 0.3, c 0.5; threshold 0.1. Moving web (0.2) from a to b leaves 0.6,
0.5, 0.5; tiny (0.05) from a to b would leave 0.55, 0.55, 0.5.
"""

import dataclasses
import json
from typing import Any

import fixtures
from oslotest import base

from kronos.engine import edits
from kronos.engine.explain import answers, remedies
from kronos.engine.planning import propose
from kronos.engine.settings import Settings
from kronos.engine.types import Health, PlanningInput
from tests.builders.scopes import PLAIN, policy, scope, vm

POLICY = policy('cpu', threshold=0.1)
HOSTS = {'a': [0.8], 'b': [0.3], 'c': [0.5]}


def with_threshold(
    case: PlanningInput, remedy: remedies.Remedy
) -> PlanningInput:
    """What kronos-explain does by the names of its options."""
    [(name, text)] = remedy.overrides.items()
    field, policy_name = name.split('.')
    return edits.with_policy(case, policy_name, **{field: float(text)})


class AnswersTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.policies = [POLICY]
        self.snapshot = scope(
            self.policies,
            HOSTS,
            [vm('web', 'a', [0.2]), vm('tiny', 'a', [0.05])],
        )

    def asked(self, **settings: Any) -> answers.Answers:
        chosen = Settings(**PLAIN | settings)
        report = propose.propose([self.snapshot], self.policies, chosen)
        return answers.Answers(
            [self.snapshot], self.policies, chosen, report, with_threshold
        )

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
        budget = answers._arguments(remedies.Remedy('', max_migrations=3))
        self.assertEqual(['--max-migrations', '3'], budget)
        mode = answers._arguments(remedies.Remedy('', mode=POLICY.mode))
        self.assertEqual(['--mode', 'spread'], mode)

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

    def test_the_plan_is_made_again(self) -> None:
        """In a large scope for a destination that is asked for alone."""
        asked = self.asked()

        def miss() -> Any:
            return asked.instance(0, 'tiny', None)['nearest_miss']

        self.assertTrue(miss()['if_lifted']['planned'])
        self.useFixture(fixtures.MockPatchObject(answers, 'FEW_HOSTS', 2))
        found = miss()
        self.assertIsNone(found['if_lifted'])
        self.assertEqual(['--set', 'threshold.cpu=0.0999'], found['try'])
        [one] = asked.instance(0, 'tiny', 'b')['destinations']
        self.assertTrue(one['if_lifted']['planned'])
        self.snapshot.instances['tiny'].locked = True
        asked = self.asked()
        self.assertEqual('instance_locked', miss()['code'])
        self.assertIsNone(miss()['if_lifted'])

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
        for found in (
            asked.scope(0),
            asked.instance(0, 'web', None),
            asked.host(0, 'a'),
        ):
            json.dumps(found, allow_nan=False)


def _rank(standing: dict[str, Any]) -> tuple[int, int, bool]:
    return standing['rank'], standing['hosts'], standing['over']
