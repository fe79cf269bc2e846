# SPDX-License-Identifier: Apache-2.0
"""An audit begins with the policies that it could not judge."""

import fixtures

from tests.fakes.small_cloud import cloud
from tests.functional.watcher import test_audits

QUERY = ('POST', '/prometheus/api/v1/query')
REFUSED = {
    'status': 'error',
    'errorType': 'bad_data',
    'error': 'invalid parameter "query": 1:12: parse error',
}
EMPTY = {'status': 'success', 'data': {'resultType': 'vector', 'result': []}}


class UnjudgedTestCase(test_audits.Continuous):
    """cpu cannot be judged; memory is uneven or even."""

    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.real = self.cloud.answer

    def break_query(self, how):
        def answer(method, path, query, body):
            if (method, path) == QUERY and body['query'] == 'cpu_host':
                return how()
            return self.real(method, path, query, body)

        self.cloud.answer = answer

    @staticmethod
    def refuse():
        raise cloud.Answer(400, REFUSED)

    def each(self):
        """The messages of a ONESHOT and of a CONTINUOUS audit."""
        oneshot = self.create_audit()
        self.assertEqual('SUCCEEDED', oneshot['state'])
        yield self.message(oneshot)
        state, message = self.run_audit()
        self.assertEqual('ONGOING', state)
        yield message

    def begins(self, *words):
        for message in self.each():
            self.assertTrue(message.startswith('alpha: cpu not judged ('))
            for word in words:
                self.assertIn(word, message)
            self.assertNotIn('balanced', message)
            self.assertNotIn(' all ', message)
            self.assertLessEqual(len(message), 210)
        self.assertIn('scope alpha: cpu not judged (', self.log.output)

    def test_nothing_to_do(self):
        self.break_query(self.refuse)
        self.begins(
            '1:12: parse error', 'within the judged thresholds: memory'
        )

    def test_a_misspelt_metric(self):
        self.break_query(lambda: EMPTY)
        self.begins('within the judged thresholds: memory')

    def test_with_moves(self):
        for one in list(self.cloud.servers.values()):
            one.host = 'h1'
        self.break_query(self.refuse)
        self.begins('1:12: parse error', '3 migrations, combined imbalance')
