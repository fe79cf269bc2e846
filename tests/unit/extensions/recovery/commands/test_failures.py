# SPDX-License-Identifier: Apache-2.0
"""Does kronos-test-config tell what a recovery would find?"""

import json
from typing import Any

from tests.unit.cmd.checking import CheckTestCase

HOSTS, SERVERS = 'host_fault_query', 'server_fault_query'


class FailuresTestCase(CheckTestCase):
    def check(self, **kronos: Any) -> dict[str, Any]:
        asked = {HOSTS: 'faulty', SERVERS: 'failing', **kronos}
        conf = self.conf(**asked)
        _, out, err = self.run_it('--config-file', conf, '-f', 'json')
        document = json.loads(out)
        self.codes = {
            finding['code']: finding for finding in self.all_findings(document)
        }
        found: dict[str, Any] = document['failures']
        return found

    def test_none_is_at_fault(self) -> None:
        self.assertEqual(
            {
                'query': 'faulty',
                'health': 'healthy',
                'error': '',
                'series': 0,
                'hosts_at_fault': {},
            },
            self.check()[HOSTS],
        )
        self.assertNotIn('host-at-fault', self.codes)

    def test_a_host_at_fault(self) -> None:
        self.series['faulty'] = [('a1', 2.0), ('a2', 0.0)]
        self.assertEqual({'a1': '2'}, self.check()[HOSTS]['hosts_at_fault'])
        text = self.codes['host-at-fault']['text']
        self.assertIn('1 host at fault by host_fault_query (a1)', text)

    def test_a_host_that_is_none(self) -> None:
        self.series['faulty'] = [('10.0.0.9', 1.0), ('a2', 0.0)]
        self.assertEqual({}, self.check()[HOSTS]['hosts_at_fault'])
        text = self.codes['exclusions-unmatched']['text']
        self.assertIn('host_fault_query: no host of the cloud is called', text)
        self.assertIn("'10.0.0.9' (1)", text)

    def test_partial_answers(self) -> None:
        """The failed server may be in the part that is missing."""
        for query, option in (('faulty', HOSTS), ('failing', SERVERS)):
            self.extra = {query: {'isPartial': True}}
            found = self.check()[option]
            self.assertIn('the answer is partial', found['error'])
            finding = self.codes['failures-unknown']
            self.assertIn('check that every store', finding['mend'])
            self.assertIn('kronos_recover takes no action', finding['mend'])

    def test_an_answer_that_cannot_be_used(self) -> None:
        """Series of hosts name no server."""
        self.series['failing'] = [('a1', 1.0)]
        found = self.check()[SERVERS]
        self.assertIn('has the label "instance_uuid"', found['error'])
        self.assertEqual('warning', self.codes['failures-unknown']['level'])
