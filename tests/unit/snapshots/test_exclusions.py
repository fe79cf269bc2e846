# SPDX-License-Identifier: Apache-2.0
"""Which hosts does the query of an operator find at fault?"""

import math
from typing import Any

import fixtures
import requests
import responses
from oslotest import base

from kronos.clients.prometheus import client
from kronos.common import exceptions
from kronos.engine.settings import HostMatch
from kronos.engine.types import Health, Host, Reading, Sample, StopReason
from kronos.recordings import load
from kronos.recordings.anonymize import anonymizer
from kronos.recordings.recording import Recording
from kronos.recordings.replay import ReplayOptions, replay
from kronos.snapshots import exclusions
from tests.builders import recordings

URL = 'http://metrics.example.org:9090'
HOSTS = ['a1', 'a2', 'a3']
LONG = ['a1.one', 'a1.two', 'b1.one']


def series(value: float, **labels: str) -> Sample:
    inner = ', '.join(f'{name}="{text}"' for name, text in labels.items())
    return Sample('', value, 1000.0, f'failed{{{inner}}}')


def of(value: float, host: str) -> Sample:
    return series(value, host=host)


class JudgeTestCase(base.BaseTestCase):
    def judge(
        self,
        *samples: Sample,
        hosts: list[str] = HOSTS,
        how: HostMatch = HostMatch.EXACT,
    ) -> dict[str, float]:
        reading = Reading('q', samples=list(samples))
        return exclusions.judge(reading, hosts, how).values

    def refused(self, *samples: Sample, **more: Any) -> str:
        error = self.assertRaises(
            exceptions.PrometheusError, self.judge, *samples, **more
        )
        self.assertFalse(error.kwargs['transient'])
        self.assertTrue(str(error).startswith('exclude_hosts_query: '))
        return str(error)


class TestHosts(JudgeTestCase):
    def test_whatever_is_not_0(self) -> None:
        for value in (1.0, -0.5, 1e-9, math.inf):
            self.assertEqual({'a1': value}, self.judge(of(value, 'a1')))
        self.assertEqual({}, self.judge(of(0.0, 'a1'), of(-0.0, 'a2')))

    def test_not_a_number_is_not_0(self) -> None:
        found = self.judge(of(math.nan, 'a1'), of(0.0, 'a2'))
        self.assertEqual(['a1'], list(found))
        self.assertTrue(math.isnan(found['a1']))

    def test_no_series(self) -> None:
        """Of a host: it is well. Of any: all are."""
        self.assertEqual({}, self.judge())
        self.assertEqual({'a2': 1.0}, self.judge(of(1.0, 'a2')))

    def test_the_label_host_before_instance(self) -> None:
        self.assertEqual(
            {'a1': 1.0, 'a2': 2.0},
            self.judge(
                series(1.0, host='a1', instance='a3'),
                series(2.0, instance='a2'),
            ),
        )

    def test_others_are_left_out(self) -> None:
        """With a word; if that is all there is, nobody knows them."""
        reading = Reading('q', samples=[of(1.0, 'z9'), of(0.0, 'a1')])
        found = exclusions.judge(reading, HOSTS, HostMatch.EXACT)
        self.assertEqual({}, found.values)
        [text] = found.warnings
        self.assertIn('no host of the cloud is called', text)
        self.assertIn("'z9' (1)", text)
        for value in (0.0, 1.0):
            text = self.refused(of(value, 'z9'), of(0.0, '10.0.0.1:9100'))
            self.assertIn('none of its labels is a host of the cloud', text)

    def test_several_series_of_a_host(self) -> None:
        """One that is not 0 is enough; the worst is told."""
        for values in ((0.0, 3.0, 1.0), (3.0, math.nan), (0.0, -3.0, 2.0)):
            for order in (values, values[::-1]):
                found = self.judge(*(of(one, 'a1') for one in order))
                self.assertEqual(3.0, abs(found['a1']))
        found = self.judge(of(0.0, 'a1'), of(math.nan, 'a1'))
        self.assertTrue(math.isnan(found['a1']))


class TestMatching(JudgeTestCase):
    def test_short(self) -> None:
        self.assertEqual(
            {'a1': 1.0, 'a2': 2.0},
            self.judge(
                of(1.0, 'a1.example.org'), of(2.0, 'a2:9177'),
                how=HostMatch.SHORT,
            ),
        )  # fmt: skip

    def test_each_that_a_label_may_mean(self) -> None:
        """It is not known which of them: none is a destination."""
        self.assertEqual(
            {'a1.one': 1.0, 'a1.two': 1.0},
            self.judge(of(1.0, 'a1'), hosts=LONG, how=HostMatch.SHORT),
        )
        self.assertEqual(
            {'a1': 2.0},
            self.judge(
                of(1.0, 'a1.one'), of(2.0, 'a1.two'), of(0.0, 'a2'),
                how=HostMatch.SHORT,
            ),
        )  # fmt: skip

    def test_a_host_by_its_full_name_only(self) -> None:
        self.assertEqual(
            {'a1.two': 1.0},
            self.judge(of(1.0, 'a1.two'), hosts=LONG, how=HostMatch.SHORT),
        )

    def test_exact_takes_no_fault_for_anothers(self) -> None:
        """It is a host but for its port: nothing may be moved at random."""
        for label, hosts, meant in (
            ('a1:9177', HOSTS, 'a1'),
            ('a1.example.org', HOSTS, 'a1'),
            ('a1', LONG, 'a1.one, a1.two'),
        ):
            text = self.refused(of(1.0, label), hosts=hosts)
            self.assertIn(f'label {label!r} is not a host', text)
            self.assertIn(
                f'host_match = short would match it to {meant}', text
            )
            self.assertEqual(
                {},
                self.judge(
                    of(0.0, label), of(0.0, 'b1'), hosts=[*hosts, 'b1']
                ),
            )

    def test_names_do_not_differ_by_case(self) -> None:
        for how in HostMatch:
            for label in ('A1', 'a1'):
                self.assertEqual(
                    {'a1': 1.0}, self.judge(of(1.0, label), how=how)
                )
        self.assertEqual(
            {'A1.One': 1.0},
            self.judge(
                of(1.0, 'a1.ONE:9100'),
                hosts=['A1.One', 'a1.two'],
                how=HostMatch.SHORT,
            ),
        )

    def test_a_short_name_may_be_that_of_a_whole_one(self) -> None:
        """The host was renamed, and Nova still has the old one."""
        hosts = ['cmp3', 'cmp3.example.org', 'cmp4']
        both = {'cmp3': 1.0, 'cmp3.example.org': 1.0}
        for label in ('cmp3:9100', 'CMP3', 'cmp3'):
            for more in ([], [of(0.0, 'cmp4')], [of(0.0, 'cmp3.example.org')]):
                found = self.judge(
                    of(1.0, label), *more, hosts=hosts, how=HostMatch.SHORT
                )
                self.assertEqual(both, found)
        for label, meant in (
            ('cmp3.example.org:9100', ['cmp3.example.org']),
            ('cmp3.elsewhere.org', ['cmp3', 'cmp3.example.org']),
        ):
            found = self.judge(
                of(1.0, label), hosts=hosts, how=HostMatch.SHORT
            )
            self.assertEqual(meant, sorted(found))

    def test_a_whole_name_beside_a_short_one(self) -> None:
        """What is well by its short name may be at fault by its whole one."""
        found = self.judge(
            of(1.0, 'a1.one:9100'), of(0.0, 'a1'), how=HostMatch.SHORT
        )
        self.assertEqual({'a1': 1.0}, found)

    def test_unmatched(self) -> None:
        reading = Reading(
            'q', samples=[of(1.0, 'a1'), of(0.0, 'z9'), series(1.0)]
        )
        self.assertEqual(
            ['z9'], exclusions.unmatched(reading, HOSTS, HostMatch.EXACT)
        )


class TestUnusable(JudgeTestCase):
    def test_no_label_of_a_host(self) -> None:
        for value in (0.0, 1.0, math.nan):
            text = self.refused(series(value, vm='x'))
            self.assertIn('failed{vm="x"} has neither a label "host"', text)
        self.assertIn('{}', self.refused(series(0.0)))
        self.assertIn('host=""', self.refused(series(1.0, host='')))

    def test_one_of_many_has_none(self) -> None:
        """Of what is well nobody needs to know where it is."""
        self.assertEqual(
            {'a1': 1.0}, self.judge(of(1.0, 'a1'), series(0.0, vm='x'))
        )
        text = self.refused(
            series(0.0, vm='x'), of(1.0, 'a1'), series(1.0, vm='y')
        )
        self.assertIn('vm="y"', text)

    def test_partial(self) -> None:
        """The host at fault may be in the part that is missing."""
        reading = Reading(
            'q', Health.PARTIAL, [of(1.0, 'a1')], incomplete='store 2'
        )
        error = self.assertRaises(
            exceptions.PrometheusError,
            exclusions.judge,
            reading,
            HOSTS,
            HostMatch.EXACT,
        )
        self.assertIn('the answer is partial (store 2)', str(error))
        self.assertTrue(error.kwargs['transient'])

    def test_what_another_try_may_mend(self) -> None:
        for reading, transient in (
            (Reading('q', Health.UNREACHABLE, error='no', is_away=True), True),
            (Reading('q', Health.STALE, error='no'), True),
            (Reading('q', Health.UNREACHABLE, error='no'), False),
        ):
            error = self.assertRaises(
                exceptions.PrometheusError,
                exclusions.judge,
                reading,
                HOSTS,
                HostMatch.EXACT,
            )
            self.assertEqual('exclude_hosts_query: no', str(error))
            self.assertIs(transient, error.kwargs['transient'])


class TestAsk(base.BaseTestCase):
    """At the wire."""

    def setUp(self) -> None:
        super().setUp()
        self.wire = responses.RequestsMock(assert_all_requests_are_fired=False)
        self.wire.start()
        self.addCleanup(self.wire.stop)
        self.addCleanup(self.wire.reset)
        self.client = client.PrometheusClient(
            URL, requests.Session(), max_retries=0, clock=lambda: 1000.0
        )

    def ask(self, query: str = 'q') -> dict[str, float]:
        found = exclusions.ask(self.client, query, HOSTS, HostMatch.EXACT)
        return found.values

    def answer(self, result: Any, kind: str = 'vector') -> None:
        self.wire.post(
            f'{URL}/api/v1/query',
            json={
                'status': 'success',
                'data': {'resultType': kind, 'result': result},
            },
        )

    def test_nothing_is_asked(self) -> None:
        self.assertEqual({}, self.ask(''))
        self.assertEqual(0, len(self.wire.calls))

    def test_an_aggregation_by_host(self) -> None:
        """It has no other label."""
        self.answer(
            [
                {'metric': {'host': 'a1'}, 'value': [1000.0, '2']},
                {'metric': {'instance': 'a2'}, 'value': [1000.0, 'NaN']},
                {'metric': {'host': 'a3'}, 'value': [1000.0, '0']},
            ]
        )
        self.assertEqual(['a1', 'a2'], sorted(self.ask()))

    def test_empty(self) -> None:
        self.answer([])
        self.assertEqual({}, self.ask())

    def refused(self) -> exceptions.PrometheusError:
        return self.assertRaises(exceptions.PrometheusError, self.ask)

    def test_bad_answers(self) -> None:
        self.answer([1000.0, '1'], 'scalar')
        self.assertIn('returns a scalar, not a vector', str(self.refused()))
        self.wire.reset()
        self.answer([{'metric': {'host': 'a1'}, 'value': [1.0, '1']}])
        error = self.refused()
        self.assertIn("999.0 s behind this host's", str(error))
        self.assertTrue(error.kwargs['transient'])

    def test_errors(self) -> None:
        body = {'status': 'error', 'errorType': 'bad_data', 'error': 'parse'}
        self.wire.post(f'{URL}/api/v1/query', status=400, json=body)
        error = self.refused()
        self.assertIn(f'Prometheus at {URL}: ', str(error))
        self.assertIn('bad_data: parse', str(error))
        self.assertFalse(error.kwargs['transient'])
        self.wire.reset()
        self.wire.post(f'{URL}/api/v1/query', status=503, body='down')
        self.assertTrue(self.refused().kwargs['transient'])


class TestWarnings(base.BaseTestCase):
    def test_of_those_at_fault(self) -> None:
        self.assertEqual([], exclusions.warnings([Host('a1')]))
        hosts = [Host('b', excluded=math.nan), Host('a', excluded=2.0)]
        self.assertEqual(
            ['1 host takes no instance (a: exclude_hosts_query gives 2 for '
             'it)'],
            exclusions.warnings(hosts[1:]),
        )  # fmt: skip
        self.assertEqual(
            ['2 hosts take no instance (a: exclude_hosts_query gives 2 for '
             'it, b: exclude_hosts_query gives nan for it)'],
            exclusions.warnings(hosts),
        )  # fmt: skip

    def test_a_snapshot_has_them(self) -> None:
        """Each scope those of its own hosts."""
        was = recordings.small()
        was.gathered.cloud.hosts['b1'].excluded = 1.0
        was.gathered.exclusions_unknown = 'why'
        a, b = was.snapshots()
        self.assertEqual(1, sum('b1' in one for one in b.warnings))
        self.assertNotIn('b1', ''.join(a.warnings))
        for one in (a, b):
            self.assertEqual('why', one.exclusions_unknown)


class TestRecordings(base.BaseTestCase):
    """A plan of a recording has the very reasons of the audit."""

    def kept(self, was: Recording) -> Recording:
        folder = self.useFixture(fixtures.TempDir()).path
        load.write(f'{folder}/one', was)
        return load.read(f'{folder}/one')

    def test_a_host_at_fault(self) -> None:
        """With other names, too; without it, it is a destination."""
        was = recordings.small()
        open_ = replay(was, ReplayOptions()).report
        [at] = {one.destination for one in open_.steps}
        was.gathered.cloud.hosts[at].excluded = math.nan
        was.gathered.cloud.other_hosts['metal'].excluded = 1.0
        first = replay(was, ReplayOptions()).report
        self.assertEqual(['a2'], [one.destination for one in first.steps])
        again = replay(self.kept(was), ReplayOptions()).report
        self.assertEqual(first.steps, again.steps)
        self.assertEqual(first.scopes[0].stayed, again.scopes[0].stayed)
        self.assertIn('gives nan for it', str(again.scopes[0].warnings))
        found = replay(
            self.kept(anonymizer.anonymized(was)), ReplayOptions()
        ).report
        self.assertEqual(len(first.steps), len(found.steps))
        self.assertIn('gives nan for it', str(found.scopes[0].warnings))

    def test_a_query_that_failed(self) -> None:
        was = recordings.small()
        was.gathered.exclusions_unknown = (
            'exclude_hosts_query: Prometheus at http://prom.acme.lan: HTTP 503'
        )
        first = replay(was, ReplayOptions()).report
        again = replay(self.kept(was), ReplayOptions()).report
        for one, other in zip(first.scopes, again.scopes, strict=True):
            self.assertIs(StopReason.EXCLUSIONS_UNKNOWN, one.stopped)
            self.assertEqual([], one.steps)
            self.assertEqual(one.reason, other.reason)
        found = self.kept(anonymizer.anonymized(was)).gathered
        self.assertNotIn('acme', found.exclusions_unknown)
        for told in ('exclude_hosts_query', 'HTTP 503'):
            self.assertIn(told, found.exclusions_unknown)
