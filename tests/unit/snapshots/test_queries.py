# SPDX-License-Identifier: Apache-2.0
"""Which queries does a cycle ask, and how often?"""

from urllib import parse

import requests
import responses
from oslotest import base

from kronos.clients.prometheus import client
from kronos.engine.settings import Settings
from kronos.engine.types import Health
from kronos.snapshots import queries
from tests.builders import policies

URL = 'http://metrics.example.org:9090'


class TestSurvey(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.asked = []
        self.down = set()
        wire = responses.RequestsMock(assert_all_requests_are_fired=False)
        wire.start()
        self.addCleanup(wire.stop)
        self.addCleanup(wire.reset)
        wire.add_callback('POST', f'{URL}/api/v1/query', self._answer)
        self.client = client.PrometheusClient(
            URL, requests.Session(), max_retries=0
        )

    def _answer(self, request):
        query = dict(parse.parse_qsl(request.body))['query']
        self.asked.append(query)
        if query in self.down:
            return 503, {}, 'down'
        body = '{"status": "success", "data": %s}'
        return 200, {}, body % '{"resultType": "vector", "result": []}'

    def survey(self, **settings):
        return queries.PolicyQueries(self.client, Settings(**settings))

    def packing(self, name='ram', weight=1.0, **fields):
        fields = {'capacity_query': 'ram_in_use', **fields}
        return policies.policy(name, weight, mode='pack', **fields)

    def test_all_that_a_plan_needs(self):
        policy = self.packing(host_capacity_query='ram_of_host_in_all')
        found = self.survey().of([policy, policies.policy(enabled=False)])
        self.assertEqual(['ram'], list(found))
        self.assertEqual(
            {'ram_of_host', 'ram_of_vm', 'ram_of_host_in_all', 'ram_in_use'},
            set(self.asked),
        )
        self.assertEqual(4, len(self.asked))

    def test_hosts_only(self):
        """One query per policy; ceilings only where hosts are filled."""
        cpu = policies.policy(capacity_query='cpu_in_use')
        one = self.survey()
        found = one.of_hosts([cpu, policies.policy('net', enabled=False)])
        self.assertEqual(['cpu_of_host'], self.asked)
        self.assertIsNone(found['cpu'].capacity)
        self.assertEqual(1, one.queries)
        one.of_hosts([self.packing()])
        self.assertEqual(['ram_of_host', 'ram_in_use'], self.asked[1:])

    def test_the_same_query_once(self):
        """But for another label, since that is another answer."""
        one = self.survey()
        same = self.packing('cpu', capacity_query='cpu_of_host')
        one.of_hosts([policies.policy()])
        found = one.of_hosts([same])
        self.assertEqual(['cpu_of_host'], self.asked)
        self.assertIs(found['cpu'].imbalance, found['cpu'].capacity)
        one.of_hosts([policies.policy(host_label='instance')])
        self.assertEqual(['cpu_of_host'] * 2, self.asked)
        self.survey().of_hosts([policies.policy()])
        self.assertEqual(3, len(self.asked))

    def test_away(self):
        """Who does not answer one query is not asked the others."""
        self.down = {'ram_of_host'}
        found = self.survey().of_hosts(
            [policies.policy(), self.packing(), policies.policy('net')]
        )
        self.assertEqual(['cpu_of_host', 'ram_of_host'], self.asked)
        self.assertEqual(Health.HEALTHY, found['cpu'].imbalance.health)
        for reading in (
            found['ram'].imbalance,
            found['ram'].capacity,
            found['net'].imbalance,
        ):
            self.assertTrue(reading.is_away)
            self.assertEqual(Health.UNREACHABLE, reading.health)
            self.assertIn('HTTP 503: down', reading.error)
