# SPDX-License-Identifier: Apache-2.0
"""Does kronos-test-config tell which hosts the query finds at fault?"""

import json
from typing import Any

from tests.fakes.keystone import NOVA
from tests.unit.clients.nova.test_client import aggregate
from tests.unit.cmd.checking import PROMETHEUS, CheckTestCase


class ExclusionsTestCase(CheckTestCase):
    query = 'failed'

    def check(
        self, code: int = 0, query: str | None = None, **kronos: Any
    ) -> dict[str, Any]:
        query = self.query if query is None else query
        conf = self.conf(exclude_hosts_query=query, **kronos)
        found, out, err = self.run_it('--config-file', conf, '-f', 'json')
        self.assertEqual(code, found, out + err)
        document = json.loads(out)
        self.codes = {
            finding['code']: finding for finding in self.all_findings(document)
        }
        return dict(document)

    def table(self) -> str:
        conf = self.conf(exclude_hosts_query=self.query)
        return self.run_it('--config-file', conf)[1]


class TestAnswers(ExclusionsTestCase):
    def test_none_is_asked(self) -> None:
        self.assertNotIn('exclusions', self.check(query=''))
        self.assertNotIn('failed', self.queries())

    def test_all_is_well(self) -> None:
        self.series['failed'] = [(host, 0.0) for host in ('a1', 'a2')]
        found = self.check()['exclusions']
        self.assertEqual(
            {
                'query': 'failed',
                'health': 'healthy',
                'error': '',
                'series': 2,
                'hosts_excluded': {},
                'labels_unmatched': [],
                'labels_unmatched_count': 0,
            },
            found,
        )
        self.assertNotIn('host-excluded', self.codes)
        self.assertNotIn('exclusions-none', self.codes)
        self.assertEqual(1, self.queries().count('failed'))

    def test_hosts_at_fault(self) -> None:
        """Each is told once, whatever scopes it is in."""
        self.aggregates(aggregate(1, 'a', 'a1'), aggregate(2, 'b', 'a1', 'a2'))
        self.series['failed'] = [('a1', 2.0), ('a3', 'NaN'), ('a2', 0.0)]
        found = self.check(1, aggregates='a,b')['exclusions']
        self.assertEqual({'a1': '2', 'a3': 'nan'}, found['hosts_excluded'])
        self.assertIn(
            '2 hosts take no inst', self.codes['host-excluded']['text']
        )
        self.assertNotIn('scope-unknown', self.codes)
        text = self.table()
        self.assertIn(
            'Hosts at fault, by exclude_hosts_query (3 series)', text
        )
        self.assertIn('  a3    nan\n', text)

    def test_no_series(self) -> None:
        """A misspelt metric keeps the gate open."""
        self.check()
        self.assertEqual('note', self.codes['exclusions-none']['level'])


class TestLabels(ExclusionsTestCase):
    def test_no_host(self) -> None:
        self.series['failed'] = [('z9', 0.0), ('a2:9177', 0.0), ('a1', 0.0)]
        found = self.check()['exclusions']
        self.assertEqual(['a2:9177', 'z9'], found['labels_unmatched'])
        finding = self.codes['exclusions-unmatched']
        self.assertEqual('warning', finding['level'])
        self.assertIn(
            "2 labels are no host ('a2:9177', which host_match = short may "
            "match to a2, 'z9')",
            finding['text'],
        )
        table = self.table()
        self.assertIn('Labels that match no host', table)
        self.assertIn('exclude_hosts_query  a2:9177, z9', table)

    def test_one_at_fault_that_is_no_host(self) -> None:
        """It is told once, and not with each scope again."""
        self.series['failed'] = [('z9', 1.0), ('A1', 1.0)]
        report = self.check()
        self.assertEqual({'a1': '1'}, report['exclusions']['hosts_excluded'])
        texts = [finding['text'] for finding in report['findings']]
        [text] = [one for one in texts if 'z9' in one]
        self.assertIn('no host of the cloud is called', text)

    def test_none_is_a_host(self) -> None:
        self.series['failed'] = [('z9', 1.0), ('10.0.0.1:9177', 0.0)]
        found = self.check(1)['exclusions']
        self.assertIn('none of its labels is a host', found['error'])
        self.assertEqual(['10.0.0.1:9177', 'z9'], found['labels_unmatched'])
        self.assertEqual('error', self.codes['exclusions-unknown']['level'])

    def test_a_host_but_for_its_port(self) -> None:
        self.series['failed'] = [('a2:9177', 1.0)]
        self.labels['failed'] = 'instance'
        causes = self.causes(self.check(1))
        finding = self.codes['exclusions-unknown']
        self.assertIn(
            'host_match = short would match it to a2', finding['text']
        )
        self.assertEqual('set [kronos] host_match = short', finding['mend'])
        self.assertNotIn('scope-blocked', causes)
        found = self.check(host_match='short')['exclusions']
        self.assertEqual({'a2': '1'}, found['hosts_excluded'])

    def test_no_label(self) -> None:
        self.series['failed'] = [('x', 0.0)]
        self.labels['failed'] = 'vm'
        found = self.check(1)['exclusions']
        self.assertIn('neither a label "host"', found['error'])
        self.assertEqual('error', self.codes['exclusions-unknown']['level'])
        self.assertIn('neither a label', self.table())

    def test_nova_is_away(self) -> None:
        """What needs no host is judged all the same."""
        self.wire.get(f'{NOVA}/os-hypervisors/detail', status_code=503)
        self.series['failed'] = [('a1', 1.0)]
        found = self.check(1)['exclusions']
        self.assertEqual('', found['error'])
        self.assertEqual([], found['labels_unmatched'])


class TestFailures(ExclusionsTestCase):
    def test_a_partial_answer(self) -> None:
        for extra in ({'isPartial': True}, {'warnings': ['store 2']}):
            self.extra = {'failed': extra}
            found = self.check(1)['exclusions']
            self.assertIn('the answer is partial', found['error'])
            self.assertEqual('partial', found['health'])
            finding = self.codes['exclusions-unknown']
            self.assertEqual('error', finding['level'])
            self.assertIn('every store of Prometheus', finding['mend'])
        self.extra = {'failed': {'infos': ['no counter']}}
        self.check()

    def test_prometheus_is_away(self) -> None:
        self.wire.post(f'{PROMETHEUS}/api/v1/query', status_code=503)
        found = self.check(1)['exclusions']
        self.assertIn('503', found['error'])
        self.assertNotIn('exclusions-unknown', self.codes)
        self.assertIn('prometheus-away', self.codes)

    def test_a_query_that_is_refused(self) -> None:
        real = self.answer

        def answer(request: Any, context: Any) -> Any:
            if 'query=failed' in request.text:
                context.status_code = 400
                return {
                    'status': 'error',
                    'errorType': 'bad_data',
                    'error': 'parse error',
                }
            return real(request, context)

        self.wire.post(f'{PROMETHEUS}/api/v1/query', json=answer)
        self.check(1)
        finding = self.codes['exclusions-unknown']
        self.assertIn('bad_data: parse error', finding['text'])
        self.assertIn('no migration is planned', finding['mend'])
        self.assertIn('nothing-to-plan', self.codes)
