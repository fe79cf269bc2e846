# SPDX-License-Identifier: Apache-2.0
"""Tests of kronos-effect, with the cloud at the wire."""

import json
from typing import Any
from urllib import parse

from kronos.cmd import effect
from kronos.policies import fingerprints
from kronos.policies.models import Policy
from tests import commands
from tests.unit.cmd.checking import PROMETHEUS, SECRETS, policy
from tests.unit.cmd.test_record import WATCHER, RecordTestCase

PLAN = '11111111-2222-3333-4444-555555555555'
MADE, ENDED = '2026-01-01T10:00:00+00:00', '2026-01-01T10:01:00+00:00'
BEFORE = {'a1': 0.2, 'a2': 0.8, 'a3': 0.5}
AFTER = {'a1': 0.3, 'a2': 0.7, 'a3': 0.5}


class EffectTest(RecordTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.times: list[float] = []
        self.wire.post(f'{PROMETHEUS}/api/v1/query', text=self.past)
        self.query = fingerprints.of(
            Policy.model_validate_json(json.dumps(policy()))
        )
        self.watcher_says([self.plan()], [self.moved()])
        self.wire.get(f'{WATCHER}/v1/action_plans/{PLAN}', json=self.plan())

    def plan(self, state: str = 'SUCCEEDED') -> dict[str, Any]:
        return {
            'uuid': PLAN,
            'state': state,
            'audit_uuid': 'audit',
            'created_at': MADE,
            'updated_at': ENDED,
        }

    def moved(self, **more: Any) -> dict[str, Any]:
        parameters = {
            'resource_id': 'u-a2',
            'source_node': 'a2',
            'destination_node': 'a1',
            'aggregate': 'a',
            'forecast_seconds': 30.0,
            'effect': {'cpu': [0.2, 0.2, self.query]},
        }
        return (
            self.action(
                'SUCCEEDED',
                MADE,
                updated_at=ENDED,
                input_parameters=parameters,
            )
            | more
        )

    def past(self, request: Any, context: Any) -> str:
        sent = dict(parse.parse_qsl(request.text))
        self.times.append(float(sent['time']))
        values = BEFORE if self.times[-1] == min(self.times) else AFTER
        vector = [
            {'metric': {'host': host}, 'value': [self.times[-1], str(value)]}
            for host, value in values.items()
        ]
        data = {'resultType': 'vector', 'result': vector}
        return json.dumps({'status': 'success', 'data': data})

    def run_it(self, *arguments: str) -> tuple[int, str, str]:
        code, out, err = commands.run(
            effect.main, ['--config-file', self.conf(), *arguments]
        )
        self.assertNotIn('Traceback', err)
        for secret in SECRETS:
            self.assertNotIn(secret, out + err)
        return code, out, err

    def document(self, *arguments: str) -> Any:
        code, out, err = self.run_it('-f', 'json', *arguments)
        self.assertEqual(0, code, err)
        return json.loads(out)

    def test_a_plan_that_did_half(self) -> None:
        document = self.document()
        (plan,) = document['plans']
        (row,) = plan['policies']
        self.assertAlmostEqual(0.4, row['predicted'])
        self.assertAlmostEqual(0.2, row['realised'])
        self.assertEqual(660.0, self.times[1] - self.times[0])
        self.assertEqual('a', document['scopes'][0]['name'])
        self.assertLess(document['scopes'][0]['trust'], 0.6)

    def test_the_table(self) -> None:
        code, out, err = self.run_it('--wide')
        self.assertEqual(0, code, err)
        self.assertIn('Scope a: cpu 0.56 of the predicted change', out)
        self.assertIn('0.400      0.200     0.50', out)

    def test_one_plan_host_by_host(self) -> None:
        code, out, err = self.run_it(PLAN, '--wide')
        self.assertEqual(0, code, err)
        self.assertRegex(out, r'a2 +-0.200 +-0.100')

    def test_without_prometheus_it_says_so(self) -> None:
        self.wire.post(f'{PROMETHEUS}/api/v1/query', status_code=400)
        (plan,) = self.document()['plans']
        self.assertEqual(
            'effect_no_samples', plan['policies'][0]['unmeasured_code']
        )

    def test_without_plans(self) -> None:
        self.watcher_says()
        code, out, _ = self.run_it()
        self.assertEqual(0, code)
        self.assertIn('no action plan of Kronos', out)

    def test_without_watcher(self) -> None:
        self.wire.get(f'{WATCHER}/v1/action_plans/detail', status_code=403)
        code, out, err = self.run_it()
        self.assertEqual((1, ''), (code, out))
        self.assertIn('403', err)

    def test_a_wrong_option(self) -> None:
        code, _, err = self.run_it('--polices', 'x')
        self.assertEqual(2, code)
        self.assertIn('--policies', err)
