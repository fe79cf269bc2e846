# SPDX-License-Identifier: Apache-2.0
"""Does kronos-test-config miss the instance monitors that do not report?"""

import json
from typing import Any

from kronos.cmd.checks import monitors
from tests.unit.cmd.checking import HOSTS, CheckTestCase


class MonitorsTestCase(CheckTestCase):
    def check(self, **kronos: Any) -> Any:
        """What the document says of them; None: nothing."""
        conf = self.conf(**kronos)
        found, out, err = self.run_it('--config-file', conf, '-f', 'json')
        self.assertEqual(0, found, out + err)
        document = json.loads(out)
        self.codes = {
            finding['code']: finding for finding in self.all_findings(document)
        }
        return document.get('monitors')

    def monitors(self, *told: tuple[str, float]) -> None:
        self.series[monitors.QUERY] = [*told]


class TestMonitors(MonitorsTestCase):
    def test_none_is_used(self) -> None:
        self.assertIsNone(self.check())
        self.assertNotIn('monitors-none', self.codes)

    def test_all_report(self) -> None:
        self.monitors(*((host, 1.0) for host in HOSTS))
        self.assertEqual(
            {
                'query': monitors.QUERY,
                'series': 3,
                'hosts_missing': [],
                'hosts_blind': [],
            },
            self.check(),
        )
        self.assertEqual([], [x for x in self.codes if 'monitors' in x])

    def test_some_do_not(self) -> None:
        self.monitors(('a1.example.org', 1.0), ('a3', 0.0))
        result = self.check(host_match='short')
        self.assertEqual(['a2'], result['hosts_missing'])
        self.assertEqual(['a3'], result['hosts_blind'])
        told = self.codes['monitors-missing']
        self.assertEqual('warning', told['level'])
        self.assertIn('for 1 of 3 hosts (a2)', told['text'])
        self.assertIn(
            '1 instance monitor (a3)', self.codes['monitors-blind']['text']
        )
        conf = self.conf(host_match='short')
        text = self.run_it('--config-file', conf)[1]
        self.assertIn(
            'Hosts without a working instance monitor (2 report)', text
        )

    def test_a_query_asks_for_them_in_vain(self) -> None:
        query = 'max by (host) (kronos_vm_failed)'
        result = self.check(exclude_hosts_query=query)
        self.assertEqual(0, result['series'])
        text = self.codes['monitors-none']['text']
        self.assertIn('exclude_hosts_query: reads the', text)
        self.assertNotIn('monitors-missing', self.codes)

    def test_prometheus_does_not_say(self) -> None:
        self.series.pop('cpu_of_host')
        self.wire.post(
            'http://metrics.example.org:9090/api/v1/query', status_code=400
        )
        conf = self.conf()
        _, out, _ = self.run_it('--config-file', conf, '-f', 'json')
        self.assertNotIn('monitors', json.loads(out))


class TestGuests(MonitorsTestCase):
    """A tenant must not have hosts closed by a server that hangs."""

    def told(self, **kronos: Any) -> str:
        self.check(**kronos)
        result = self.codes.get('hosts-by-guests')
        return result['text'] + result['mend'] if result else ''

    def test_queries_that_a_guest_can_answer(self) -> None:
        for query, kinds in (
            ('max by (host) (kronos_vm_failed)', 'hang and panic'),
            ('max by (host) (kronos_vm_failed{kind!="hang"})', 'panic'),
            ('count by (host) (kronos_vm_failed{kind="hang"}) > 9', 'hang'),
            (
                'sum by (host) (increase(kronos_vm_events_total[1h]))',
                'hang and panic',
            ),
            (
                'max by (host) (ALERTS{alertname="KronosInstanceFailed"})',
                'hang and panic',
            ),
        ):
            for option in monitors.OF_HOSTS:
                told = self.told(**{option: query})
                self.assertIn(
                    f'{option} counts servers of kind {kinds}: ', told
                )
                self.assertIn('kronos_vm_failed{kind="io_error"}', told)

    def test_queries_that_it_cannot(self) -> None:
        for query in (
            'max by (host) (kronos_vm_failed{kind=~"crash|memory_error"})',
            'max by (host) (ALERTS{alertname="KronosHostFailing"})',
            'max by (instance) (node_md_disks{state="failed"})',
        ):
            self.assertEqual('', self.told(exclude_hosts_query=query), query)
        self.assertEqual('', self.told())
