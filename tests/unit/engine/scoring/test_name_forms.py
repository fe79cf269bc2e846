# SPDX-License-Identifier: Apache-2.0
"""Is the option found by which labels would match the hosts?"""

from oslotest import base

from kronos.engine.scoring import name_forms
from kronos.engine.settings import HostMatch
from kronos.engine.types import Sample
from tests.builders import recordings

EXACT, SHORT = HostMatch.EXACT, HostMatch.SHORT
HOSTS = ('a1', 'a2', 'a3')


class TestBetter(base.BaseTestCase):
    def better(
        self,
        *names: str,
        hosts: tuple[str, ...] = HOSTS,
        how: HostMatch = EXACT,
        key: str = 'host',
    ) -> name_forms.NameForm | None:
        series = [{key: name, 'job': 'node'} for name in names]
        return name_forms.better(series, 'host', hosts, how)

    def test_domains_and_ports(self) -> None:
        for form in ('{}.x.org', '{}:9100', '{}.x.org:9100'):
            found = self.better(*(form.format(host) for host in HOSTS))
            self.assertEqual(
                ('host', SHORT, form.format('a1'), 'a1', 3, 3),
                (
                    found.label,
                    found.host_match,
                    found.value,
                    found.host,
                    found.missing,
                    found.hosts,
                ),
            )

    def test_the_domain_is_of_nova(self) -> None:
        hosts = tuple(f'{host}.x.org' for host in HOSTS)
        found = self.better(*HOSTS, hosts=hosts)
        self.assertEqual(
            'no host has a value: Prometheus has the name a1 where Nova has '
            'a1.x.org',
            found.cause,
        )

    def test_some_hosts_alone(self) -> None:
        found = self.better('a1', 'a2', 'a3.x.org')
        self.assertEqual(
            '1 of 3 hosts have no value: Prometheus has the name a3.x.org '
            'where Nova has a3',
            found.cause,
        )

    def test_all_have_a_value(self) -> None:
        self.assertIsNone(self.better(*HOSTS))

    def test_no_form_helps(self) -> None:
        self.assertIsNone(self.better('b1', 'b2'))
        self.assertIsNone(self.better('a1.x.org', 'a1.y.org', hosts=('a1',)))
        self.assertIsNone(self.better())

    def test_one_of_many_is_no_cause(self) -> None:
        """What most hosts lack comes of something else."""
        hosts = tuple(f'a{number}' for number in range(9))
        self.assertIsNone(self.better('a0', 'a1.x.org', hosts=hosts))

    def test_another_label(self) -> None:
        found = self.better(*HOSTS, key='nodename')
        self.assertEqual(('nodename', EXACT), (found.label, found.host_match))
        found = self.better('a1:1', 'a2:1', 'a3:1', key='instance')
        self.assertEqual(('instance', SHORT), (found.label, found.host_match))

    def test_the_label_goes_before_others(self) -> None:
        series = [
            {'host': f'{host}.x.org', 'nodename': host} for host in HOSTS
        ]
        found = name_forms.better(series, 'host', HOSTS, EXACT)
        self.assertEqual(('host', SHORT), (found.label, found.host_match))


class TestSeries(base.BaseTestCase):
    def test_labels(self) -> None:
        """The label that was asked by, whatever text the series has."""
        sample = Sample('a1', 0.5, 0.0, '{host="a1", job="x"}')
        self.assertEqual(
            [{'host': 'a1', 'job': 'x'}],
            name_forms.series_of([sample], 'host'),
        )
        self.assertEqual(
            [{'host': 'a1'}],
            name_forms.series_of([Sample('a1', 0.5, 0.0)], 'host'),
        )
        self.assertEqual(
            [{}], name_forms.series_of([Sample('', 1.0, 0.0)], '')
        )


class TestRemedy(base.BaseTestCase):
    def test_what_differs(self) -> None:
        for label, how, text in (
            ('host', SHORT, 'set [kronos] host_match = short'),
            ('nodename', EXACT, 'write x: nodename into each such policy'),
            (
                'nodename',
                SHORT,
                'write x: nodename into each such policy, and set [kronos] '
                'host_match = short',
            ),
        ):
            form = name_forms.NameForm(label, how, 'a:1', 'a', 1, 1)
            self.assertEqual(text, form.remedy(EXACT, option='x'))


class TestSnapshots(base.BaseTestCase):
    def test_all_scopes_and_policies(self) -> None:
        recording = recordings.metrics_renamed(recordings.small(), '.x.org')
        snapshots = recording.snapshots(
            recording.policies, recording.settings, recording.request
        )
        found = name_forms.of_snapshots(snapshots, recording.policies, EXACT)
        self.assertEqual(
            (SHORT, 5, 5), (found.host_match, found.missing, found.hosts)
        )
        self.assertIsNone(
            name_forms.of_snapshots(snapshots, recording.policies, SHORT)
        )
        self.assertIsNone(name_forms.of_snapshots([], [], EXACT))
