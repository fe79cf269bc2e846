# SPDX-License-Identifier: Apache-2.0
"""Does kronos-test-config see the exporters, and name the sample that fits?"""

from typing import Any
from unittest import mock

from oslotest import base

from kronos.cmd.checks import exporters
from kronos.cmd.checks.cached_clients import OncePrometheus
from kronos.cmd.checks.findings import Findings
from kronos.engine.types import Health, Reading, Sample
from kronos.policies import loader
from tests import places
from tests.unit.cmd.checking import PROMETHEUS, CheckTestCase

NODE, TINKOFF, DEBIAN, INOVEX, CEILOMETER = (
    one.name for one in (exporters.NODE, *exporters.OF_SERVERS)
)
QUERIES = {
    one.name: one.query for one in (exporters.NODE, *exporters.OF_SERVERS)
}
SAMPLES = {
    one.name: f'etc/kronos/{one.sample}'
    for one in (exporters.NODE, *exporters.OF_SERVERS)
}


class TestExporters(base.BaseTestCase):
    def test_samples_are_there(self) -> None:
        """And ask for the series by which their exporter is known."""
        for one in (exporters.NODE, *exporters.OF_SERVERS):
            with self.subTest(one.name):
                path = places.TOP / SAMPLES[one.name]
                queries = ' '.join(
                    str(query)
                    for policy in loader.load(str(path)).policies
                    for query in (
                        policy.vm_profile_query,
                        policy.host_capacity_query,
                    )
                )
                self.assertIn(one.series.split('{')[0], queries)

    def test_no_two_alike(self) -> None:
        for values in (QUERIES.values(), SAMPLES.values()):
            self.assertEqual(5, len(set(values)))


class TestCheck(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.readings: dict[str, Reading] = {}
        """By query; else there is no series."""
        self.findings = Findings()
        self.asked: list[str] = []

    def give(self, name: str, **series: int) -> None:
        """So many series of each target."""
        self.readings[QUERIES[name]] = Reading(
            QUERIES[name],
            samples=[Sample(f'{h}:9177', n, 0.0) for h, n in series.items()],
        )

    def answer(self, query: str, label: str) -> Reading:
        self.assertEqual('instance', label)
        self.asked.append(query)
        return self.readings.get(query, Reading(query))

    def rows(self) -> dict[str, dict[str, Any]]:
        prometheus = mock.Mock(spec_set=['instant_query'])
        prometheus.instant_query.side_effect = self.answer
        once = OncePrometheus(prometheus)
        result = exporters.check(once, self.findings)
        return {row['name']: row for row in result}

    def fitting(self, rows: dict[str, dict[str, Any]]) -> list[str]:
        return [name for name, row in rows.items() if row['fits']]

    def test_one_of_servers(self) -> None:
        self.give(NODE, a1=1, a2=1, a3=1)
        self.give(DEBIAN, a1=4, a2=3)
        rows = self.rows()
        self.assertEqual(
            (2, 7), (rows[DEBIAN]['targets'], rows[DEBIAN]['series'])
        )
        self.assertEqual((3, 3), (rows[NODE]['targets'], rows[NODE]['series']))
        self.assertEqual([DEBIAN], self.fitting(rows))
        remedy = exporters.remedy([*rows.values()])
        self.assertIn(
            f'{SAMPLES[DEBIAN]} for {DEBIAN} (7 series of 2 targets)', remedy
        )
        self.assertNotIn(SAMPLES[NODE], remedy)
        self.assertEqual([], self.findings.items)

    def test_each_is_asked_once(self) -> None:
        self.rows()
        self.assertEqual([*QUERIES.values()], self.asked)

    def test_several_of_servers(self) -> None:
        """Some hosts may have another one."""
        self.give(NODE, a1=1)
        self.give(TINKOFF, a1=1)
        self.give(INOVEX, a2=1)
        rows = self.rows()
        self.assertEqual([TINKOFF, INOVEX], self.fitting(rows))
        remedy = exporters.remedy([*rows.values()])
        for name in (TINKOFF, INOVEX):
            self.assertIn(f'{SAMPLES[name]} for {name}', remedy)
        self.assertIn('1 series of 1 target)', remedy)

    def test_hosts_alone(self) -> None:
        self.give(NODE, a1=1)
        rows = self.rows()
        self.assertEqual([NODE], self.fitting(rows))
        remedy = exporters.remedy([*rows.values()])
        self.assertIn('no exporter of servers', remedy)
        self.assertIn(f'{SAMPLES[NODE]} estimates', remedy)

    def test_none(self) -> None:
        rows = self.rows()
        self.assertEqual([], self.fitting(rows))
        self.assertEqual('', exporters.remedy([*rows.values()]))

    def test_a_refused_query(self) -> None:
        """That nothing tells of servers is not known then."""
        self.give(NODE, a1=1)
        self.readings[QUERIES[CEILOMETER]] = Reading(
            'x', Health.UNREACHABLE, error='has no label "instance"'
        )
        rows = self.rows()
        self.assertEqual([], self.fitting(rows))
        self.assertIn('no label', rows[CEILOMETER]['error'])
        self.assertEqual([], self.findings.items)

    def test_prometheus_is_away(self) -> None:
        """It is told once, and nothing more is asked."""
        self.readings[QUERIES[NODE]] = Reading(
            'x', Health.UNREACHABLE, error='it is away', is_away=True
        )
        rows = self.rows()
        self.assertEqual([QUERIES[NODE]], self.asked)
        self.assertEqual([], self.fitting(rows))
        [found] = self.findings.items
        self.assertEqual(
            ('prometheus-away', 'it is away'), (found.code, found.text)
        )


class TestReport(CheckTestCase):
    """The fault is told where it was told before, with another remedy."""

    def setUp(self) -> None:
        super().setUp()
        self.roles('admin')
        for name in (NODE, DEBIAN):
            self.labels[QUERIES[name]] = 'instance'
        self.series[QUERIES[NODE]] = [(f'a{n}:9100', 1) for n in (1, 2, 3)]
        self.series[QUERIES[DEBIAN]] = [('a1:9177', 2), ('a2:9177', 1)]

    def test_servers_without_series(self) -> None:
        self.series['cpu_of_vm'] = []
        report = self.check()
        codes = {'query-empty': 'error', 'watcher-unasked': 'note'}
        self.assertEqual(codes, self.causes(report))
        finding = self.finding(report, 'query-empty')
        self.assertIn(f'{SAMPLES[DEBIAN]} for {DEBIAN}', finding['mend'])
        self.assertIn('3 series of 2 targets', finding['mend'])
        [effect] = finding['follows']
        self.assertEqual('servers-unknown', effect['code'])

    def test_what_they_weigh_is_guessed(self) -> None:
        self.series['cpu_of_vm'] = []
        self.write_policies(self.guessing())
        report = self.check()
        finding = self.finding(report, 'query-empty')
        self.assertIn(SAMPLES[DEBIAN], finding['mend'])
        [effect] = finding['follows']
        self.assertEqual('servers-without', effect['code'])

    def guessing(self) -> dict[str, Any]:
        [row] = loader.load(str(self.folder / 'policies.yaml')).policies
        return row.model_dump(mode='json', exclude_none=True) | {
            'vm_profile_fallback': 'host_average'
        }

    def test_scopes_are_not_known(self) -> None:
        """What is wrong with hosts has the old remedy."""
        self.series['cpu_of_vm'] = []
        self.series['cpu_of_host'] = []
        conf = self.conf(aggregates='b')
        report = self.check('--config-file', conf)
        mends = {
            finding['text'].split()[2]: finding['mend']
            for finding in report['findings']
            if finding['code'] == 'query-empty'
        }
        self.assertIn(SAMPLES[DEBIAN], mends['vm_profile_query'])
        self.assertIn('the name cpu_of_host', mends['imbalance_query'])

    def test_no_exporter_is_seen(self) -> None:
        self.series = {'cpu_of_host': self.series['cpu_of_host']}
        finding = self.finding(self.check(), 'query-empty')
        self.assertIn('have its exporter scraped', finding['mend'])
        self.assertNotIn('etc/kronos', finding['mend'])

    def test_series_of_other_names(self) -> None:
        """The exporter is the right one: it is the label that is not."""
        self.series['cpu_of_vm'] = [('nobody', 0.1)]
        result = self.finding(self.check(), 'servers-unknown')
        self.assertNotIn('etc/kronos', result['mend'])

    def test_a_table_for_people(self) -> None:
        _, out, _ = self.run_it('--config-file', self.conf())
        sample = SAMPLES[DEBIAN].rpartition('/')[2]
        self.assertIn('\nExporters\n', out)
        self.assertRegex(out, rf'prometheus.*Debian\) +2 +3 +{sample}')
        self.assertRegex(out, r'node_exporter +3 +3 +-')
        self.assertRegex(out, r'ceilometer +0 +0 +-')

    def test_prometheus_is_away(self) -> None:
        """Told without any policy, too."""
        self.wire.post(f'{PROMETHEUS}/api/v1/query', status_code=503)
        self.write('policies.yaml', 'policies: []\n')
        report = self.check()
        self.assertIn('503', self.finding(report, 'prometheus-away')['text'])
        self.assertEqual(1, len(self.queries()))
        _, out, _ = self.run_it('--config-file', self.conf())
        self.assertNotIn('Exporters', out)
