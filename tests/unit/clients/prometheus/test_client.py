# SPDX-License-Identifier: Apache-2.0
"""The Prometheus client at the wire."""

import email.utils
import json
import math
from typing import Any
from unittest import mock
from urllib import parse

import fixtures
import requests
import responses
from oslotest import base
from responses import matchers

from kronos.clients.prometheus import client as prometheus
from kronos.common import exceptions
from kronos.engine.types import Health
from tests import places

NOW = 1700000000.0
URL = 'https://metrics.example.org/prom'
QUERY = f'{URL}/api/v1/query'
RUNTIMEINFO = f'{URL}/api/v1/status/runtimeinfo'
FILES = places.FIXTURES / 'prometheus_responses'


def answer(name: str) -> Any:
    return json.loads((FILES / f'{name}.json').read_text())


def vector(*metrics: dict[str, str], at: float = NOW) -> dict[str, Any]:
    """An answer with a series of each label set."""
    rows = [{'metric': metric, 'value': [at, '0.5']} for metric in metrics]
    data = {'resultType': 'vector', 'result': rows}
    return {'status': 'success', 'data': data}


class PrometheusTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.wire = responses.RequestsMock(assert_all_requests_are_fired=False)
        self.wire.start()
        self.addCleanup(self.wire.stop)
        self.addCleanup(self.wire.reset)
        self.slept: list[float] = []

    def client(self, url: str = URL, **kwargs: Any) -> Any:
        kwargs.setdefault('session', requests.Session())
        return prometheus.PrometheusClient(
            url,
            kwargs.pop('session'),
            clock=lambda: NOW,
            sleep=self.slept.append,
            **kwargs,
        )

    def gives(self, name: str, status: int = 200, **kwargs: Any) -> None:
        self.wire.post(QUERY, json=answer(name), status=status, **kwargs)

    def read(self, **kwargs: Any) -> Any:
        return self.client().instant_query('up', **kwargs)

    def unreachable(self, reading: Any, *texts: str) -> None:
        self.assertEqual(Health.UNREACHABLE, reading.health)
        self.assertEqual([], reading.samples)
        for text in texts:
            self.assertIn(text, reading.error)


class TestInstantQuery(PrometheusTestCase):
    def test_samples(self) -> None:
        self.gives('hosts')
        reading = self.read()
        self.assertEqual(Health.HEALTHY, reading.health)
        self.assertEqual('up', reading.query)
        self.assertEqual('', reading.error)
        self.assertEqual(
            [('cmp1', 0.25, NOW), ('cmp2', 0.75, NOW)],
            [(s.label, s.value, s.timestamp) for s in reading.samples],
        )
        self.assertEqual('{host="cmp1"}', reading.samples[0].series)

    def test_the_request(self) -> None:
        query = 'sum by (host) (rate(x{a="b+c"}[5m])) / 2'
        self.gives(
            'hosts',
            match=[
                matchers.urlencoded_params_matcher(
                    {'query': query, 'lookback_delta': '300'}
                ),
                matchers.request_kwargs_matcher({'timeout': (30, 30)}),
            ],
        )
        reading = self.client().instant_query(query)
        self.assertEqual(Health.HEALTHY, reading.health)

    def test_prefix_with_a_slash(self) -> None:
        self.gives('hosts')
        reading = self.client(f'{URL}/').instant_query('up')
        self.assertEqual(Health.HEALTHY, reading.health)

    def test_other_label(self) -> None:
        self.gives('other_label')
        reading = self.read(label_key='instance')
        self.assertEqual(['cmp1:9100'], [s.label for s in reading.samples])
        self.assertEqual(
            'load{instance="cmp1:9100", job="node"}',
            reading.samples[0].series,
        )

    def test_missing_label(self) -> None:
        """An answer of no use, though Prometheus can be reached."""
        self.gives('other_label')
        reading = self.read()
        self.assertEqual(Health.PARTIAL, reading.health)
        self.assertEqual([], reading.samples)
        for text in ('no series has the label "host"', 'instance, job'):
            self.assertIn(text, reading.error)

    def test_one_series_without_the_label(self) -> None:
        """In PromQL a label that is missing is an empty one."""
        for lacking in ({'job': 'db'}, {'job': 'db', 'host': ''}):
            self.wire.reset()
            self.wire.post(
                QUERY, json=vector({'host': 'cmp1', 'job': 'n'}, lacking)
            )
            reading = self.read()
            self.assertEqual(Health.HEALTHY, reading.health)
            self.assertEqual('', reading.error)
            self.assertEqual(['cmp1'], [s.label for s in reading.samples])
            self.assertEqual(1, reading.unlabelled)
            self.assertIn('job="db"', reading.unlabelled_series)

    def test_expected_labels(self) -> None:
        self.gives('hosts')
        whole = self.read(expected_labels={'cmp1', 'cmp2'})
        self.assertEqual(Health.HEALTHY, whole.health)
        part = self.read(expected_labels={'cmp1', 'cmp2', 'cmp3'})
        self.assertEqual(Health.PARTIAL, part.health)
        self.assertEqual(2, len(part.samples))

    def test_nothing(self) -> None:
        self.gives('empty')
        self.assertEqual(Health.HEALTHY, self.read().health)
        reading = self.read(expected_labels=['cmp1'])
        self.assertEqual(Health.PARTIAL, reading.health)
        self.assertEqual([], reading.samples)

    def test_not_a_number_is_passed_on_but_is_no_sample(self) -> None:
        self.gives('not_numbers')
        reading = self.read(expected_labels=['cmp1'])
        values = [sample.value for sample in reading.samples]
        self.assertTrue(math.isnan(values[0]))
        self.assertEqual([math.inf, -math.inf], values[1:])
        self.assertEqual(Health.PARTIAL, reading.health)

    def test_duplicates_are_passed_on(self) -> None:
        self.gives('duplicates')
        self.assertEqual(
            [
                ('cmp1', 'load{host="cmp1", job="a"}'),
                ('cmp1', 'load{host="cmp1", job="b"}'),
            ],
            [(s.label, s.series) for s in self.read().samples],
        )

    def test_stale(self) -> None:
        self.gives('stale')
        reading = self.read()
        self.assertEqual(Health.STALE, reading.health)
        self.assertEqual([], reading.samples)
        self.assertIn('10 min old', reading.error)

    def test_partly_stale(self) -> None:
        self.gives('partly_stale')
        reading = self.read(expected_labels=['cmp1', 'cmp2'])
        self.assertEqual(['cmp2'], [s.label for s in reading.samples])
        self.assertEqual(Health.PARTIAL, reading.health)

    def test_other_types(self) -> None:
        for name in ('scalar', 'matrix', 'histogram'):
            self.wire.reset()
            self.gives(name)
            self.unreachable(self.read(), name)

    def test_warnings_are_logged(self) -> None:
        self.gives('warnings')
        client = self.client()
        with mock.patch('kronos.clients.prometheus.http.LOG') as log:
            for _ in range(3):
                reading = client.instant_query('up')
                self.assertEqual(Health.PARTIAL, reading.health)
                self.assertIn('store gateway 2', reading.incomplete)
        # A client that asks for ever says the same once.
        [told] = log.warning.call_args_list
        self.assertIn('store gateway 2 did not answer', told.args)


class TestHowFarItCanBeTrusted(PrometheusTestCase):
    """What the answer, and its time stamps, say of themselves."""

    def of(self, *, age: float = 0.0, date: float = 0.0, **more: Any) -> Any:
        self.wire.reset()
        self.wire.post(
            QUERY,
            json=vector({'host': 'cmp1'}, {'host': 'cmp2'}, at=NOW - age)
            | more,
            headers={'Date': email.utils.formatdate(NOW - date, usegmt=True)},
        )
        return self.read()

    def test_partial(self) -> None:
        for more, text in (
            ({'isPartial': True}, 'isPartial'),
            ({'isPartial': 'yes'}, 'isPartial'),
            ({'warnings': ['store 2 is away']}, 'store 2 is away'),
            ({'warnings': 'store 2 is away'}, 'store 2 is away'),
            ({'warnings': {'store': 2}}, 'store'),
            (
                {'warnings': ['PromQL info: a', 'PromQL warning: b']},
                'PromQL warning: b',
            ),
        ):
            reading = self.of(**more)
            self.assertEqual(Health.PARTIAL, reading.health, more)
            self.assertIn(text, reading.incomplete)
            self.assertEqual('', reading.error)
            self.assertEqual(2, len(reading.samples))

    def test_whole(self) -> None:
        for more in (
            {'isPartial': False},
            {'isPartial': None},
            {'warnings': []},
            {'warnings': None},
            {'infos': ['PromQL info: metric might not be a counter']},
            # Those of Prometheus 2.48 to 2.54.
            {'warnings': ['PromQL info: metric might not be a counter']},
        ):
            reading = self.of(**more)
            self.assertEqual(Health.HEALTHY, reading.health, more)
            self.assertEqual('', reading.incomplete)

    def test_a_clock_that_is_behind(self) -> None:
        """All samples have the moment of the query by that clock."""
        reading = self.of(age=437.8)
        self.assertEqual(Health.STALE, reading.health)
        self.assertEqual([], reading.samples)
        self.assertIn(
            "its clock is 437.8 s behind this host's (22:06:02 there, "
            '22:13:20 here, UTC)',
            reading.error,
        )
        self.assertIn('(NTP)', reading.error)
        reading = self.of(age=200)
        self.assertEqual(Health.HEALTHY, reading.health)
        self.assertAlmostEqual(-200.0, reading.clock.seconds, 3)

    def test_a_clock_that_is_ahead(self) -> None:
        reading = self.of(age=-3600)
        self.assertEqual(Health.HEALTHY, reading.health)
        self.assertAlmostEqual(3600.0, reading.clock.seconds, 3)
        self.assertEqual(2, len(reading.samples))

    def test_clocks_that_agree(self) -> None:
        for age in (-4.9, 0.0, 4.9):
            self.assertIsNone(self.of(age=age).clock)

    def test_the_date_of_an_empty_answer(self) -> None:
        for behind, health in (
            (0.0, Health.HEALTHY),
            (200.0, Health.HEALTHY),
            (400.0, Health.STALE),
            (-400.0, Health.HEALTHY),
        ):
            self.wire.reset()
            date = email.utils.formatdate(NOW - behind, usegmt=True)
            self.wire.post(QUERY, json=vector(), headers={'Date': date})
            reading = self.read()
            self.assertEqual(health, reading.health, behind)
            self.assertEqual(bool(behind), reading.clock is not None)
        for date in ('', 'yesterday', '1', 'Thu, 99 Nov 2026 99:99:99 GMT'):
            self.wire.reset()
            self.wire.post(QUERY, json=vector(), headers={'Date': date})
            self.assertEqual(Health.HEALTHY, self.read().health)

    def test_a_slow_query_is_no_clock(self) -> None:
        """It was evaluated at some moment between request and answer."""
        times = iter([NOW - 20, NOW])
        client = prometheus.PrometheusClient(
            URL, requests.Session(), clock=lambda: next(times)
        )
        self.wire.post(QUERY, json=vector({'host': 'a'}, at=NOW - 19))
        self.assertIsNone(client.instant_query('up').clock)

    def test_old_samples_are_no_clock(self) -> None:
        """Of a server that gives each sample a time of its own."""
        self.gives('partly_stale')
        self.assertIsNone(self.read().clock)


class TestFailures(PrometheusTestCase):
    def test_a_bad_query_is_not_tried_again(self) -> None:
        self.gives('bad_data', status=400)
        self.unreachable(self.read(), 'HTTP 400', 'bad_data', 'parse error')
        self.wire.reset()
        self.gives('execution', status=422)
        self.unreachable(self.read(), 'execution', 'match group')
        self.assertEqual([], self.slept)

    def test_it_comes_back(self) -> None:
        self.wire.post(QUERY, status=503)
        self.wire.post(QUERY, status=500)
        self.gives('hosts')
        self.assertEqual(Health.HEALTHY, self.read().health)
        self.assertEqual([1, 2], self.slept)

    def test_it_does_not_come_back(self) -> None:
        self.wire.post(QUERY, status=503, body='no\nstore')
        reading = self.client(max_retries=4, retry_backoff=0.5).instant_query(
            'up'
        )
        self.unreachable(
            reading, 'metrics.example.org', 'HTTP 503', 'no store'
        )
        self.assertEqual([0.5, 1, 2, 4], self.slept)
        self.assertEqual(5, len(self.wire.calls))

    def test_away_or_only_refused(self) -> None:
        """Whether another query would fare better."""
        for broken, is_away in (
            ({'status': 503}, True),
            ({'status': 500}, True),
            ({'status': 429}, True),
            ({'body': requests.ReadTimeout('slow')}, True),
            ({'body': requests.ConnectionError('no')}, True),
            ({'status': 400}, False),
            ({'status': 422}, False),
            ({'status': 200, 'body': 'no JSON'}, False),
        ):
            self.wire.reset()
            self.wire.post(QUERY, **broken)
            reading = self.client(max_retries=1).instant_query('up')
            self.assertEqual(Health.UNREACHABLE, reading.health)
            self.assertEqual(is_away, reading.is_away, broken)

    def test_retry_after(self) -> None:
        self.wire.post(QUERY, status=429, headers={'Retry-After': '7'})
        self.wire.post(QUERY, status=429, headers={'Retry-After': '9999'})
        self.gives('hosts')
        self.assertEqual(Health.HEALTHY, self.read().health)
        self.assertEqual([7, 60], self.slept)

    def test_no_retries(self) -> None:
        self.wire.post(QUERY, status=503)
        self.client(max_retries=0).instant_query('up')
        self.assertEqual(1, len(self.wire.calls))

    def test_timeout(self) -> None:
        self.wire.post(QUERY, body=requests.ReadTimeout('slow'))
        reading = self.client(timeout=2.5).instant_query('up')
        self.unreachable(reading, 'no answer within 2.5 s')
        self.assertEqual(3, len(self.slept))

    def test_refused_connection(self) -> None:
        inner = ConnectionRefusedError(111, 'Connection refused')
        self.wire.post(QUERY, body=requests.ConnectionError(inner))
        self.gives('hosts')
        self.assertEqual(Health.HEALTHY, self.read().health)
        self.wire.reset()
        self.wire.post(QUERY, body=requests.ConnectionError(inner))
        self.unreachable(self.read(), 'cannot connect: Connection refused')

    def test_a_bad_certificate_is_not_tried_again(self) -> None:
        error = requests.exceptions.SSLError('unable to get local issuer')
        self.wire.post(QUERY, body=error)
        self.unreachable(self.read(), 'TLS')
        self.assertEqual([], self.slept)

    def test_not_json(self) -> None:
        self.wire.post(
            QUERY, body='<html>Grafana</html>', content_type='text/html'
        )
        self.unreachable(self.read(), 'not JSON', 'text/html', 'prefix')

    def test_json_of_something_else(self) -> None:
        self.wire.post(QUERY, json=['hello'])
        self.unreachable(self.read(), 'does not come from Prometheus')

    def test_redirect(self) -> None:
        self.wire.post(
            QUERY,
            status=301,
            headers={'Location': 'https://u:secret@new.example.org/p?x=1'},
        )
        reading = self.read()
        self.unreachable(reading, 'https://new.example.org/p', 'url')
        self.assertNotIn('secret', reading.error)

    def test_unauthorized(self) -> None:
        self.wire.post(QUERY, status=401, body='Unauthorized')
        self.unreachable(self.read(), 'HTTP 401', '[kronos_prometheus]')

    def test_no_tenant(self) -> None:
        """Mimir, and Cortex: no credentials would help."""
        for status in (401, 403):
            self.wire.reset()
            self.wire.post(QUERY, status=status, body='no org id')
            reading = self.read()
            self.unreachable(reading, 'headers = X-Scope-OrgID: TENANT')
            self.assertNotIn('credentials', reading.error)

    def test_only_get(self) -> None:
        self.wire.post(QUERY, status=405)
        self.wire.get(QUERY, json=answer('hosts'))
        client = self.client()
        for _ in range(2):
            reading = client.instant_query('up{a="ü"}')
            self.assertEqual(Health.HEALTHY, reading.health)
        methods = [call.request.method for call in self.wire.calls]
        self.assertEqual(['POST', 'GET', 'GET'], methods)
        sent = parse.urlsplit(str(self.wire.calls[2].request.url)).query
        self.assertEqual(['up{a="ü"}'], parse.parse_qs(sent)['query'])

    def test_secrets_of_the_address(self) -> None:
        self.wire.post(QUERY, status=403, body='s3cret is not welcome')
        client = self.client('https://bob:s3cret@metrics.example.org/prom')
        reading = client.instant_query('up')
        self.unreachable(reading, 'HTTP 403', '*** is not welcome')
        self.assertNotIn('s3cret', reading.error)
        self.assertNotIn('bob', reading.error)
        self.assertNotIn('bob', client.address)
        (call,) = self.wire.calls
        self.assertEqual(
            'Basic Ym9iOnMzY3JldA==', call.request.headers['Authorization']
        )

    def test_secrets_in_what_is_repeated(self) -> None:
        """A gateway that shows the request, or warns of it."""
        for body in (
            'Authorization: Basic Ym9iOnMzY3JldA== is refused',
            'no Ym9iOnMzY3JldA== here',
            'X-Auth-Token: gAAAAsecret is old',
            'GET https://joe:hunter2@inner:9090/ failed',
        ):
            self.wire.post(QUERY, status=403, body=body)
            client = self.client('https://bob:s3cret@metrics.example.org/prom')
            error = client.instant_query('up').error
            self.assertIn('***', error)
            for secret in ('Ym9i', 'gAAAA', 'joe', 'hunter2'):
                self.assertNotIn(secret, error)

    def test_secrets_in_warnings(self) -> None:
        log = self.useFixture(fixtures.FakeLogger())
        answer = {
            'status': 'success',
            'data': {'resultType': 'vector', 'result': []},
            'warnings': ['https://joe:hunter2@remote is slow, s3cret'],
        }
        self.wire.post(QUERY, json=answer)
        client = self.client('https://bob:s3cret@metrics.example.org/prom')
        client.instant_query('up')
        self.assertIn('https://***@remote is slow, ***', log.output)

    def test_addresses(self) -> None:
        for url, text in (
            ('metrics.example.org:9090', 'http://HOST'),
            ('ftp://metrics.example.org', 'http://HOST'),
            ('http://', 'http://HOST'),
            ('http://h/?a=b', '"?"'),
            ('http://h/api/v1', '/api/v1'),
        ):
            error = self.assertRaises(
                exceptions.ConfigurationError, self.client, url
            )
            self.assertIn(text, str(error))
            self.assertIn('[kronos_prometheus] url', str(error))


class TestQueryAt(PrometheusTestCase):
    URL = f'{URL}/api/v1/query'

    def test_a_moment_of_the_past(self) -> None:
        self.wire.post(
            self.URL,
            json=answer('hosts'),
            match=[
                matchers.urlencoded_params_matcher(
                    {'query': 'up', 'time': '1600000000.250'}
                )
            ],
        )
        samples = self.client().query_at('up', 1600000000.25)
        self.assertIn('cmp1', [sample.label for sample in samples])
        for sample in samples:
            self.assertTrue(math.isfinite(sample.value))

    def test_refused(self) -> None:
        self.wire.post(self.URL, json=answer('bad_data'), status=400)
        self.assertRaises(
            exceptions.PrometheusError, self.client().query_at, 'up', NOW
        )


class TestRangeQuery(PrometheusTestCase):
    URL = f'{URL}/api/v1/query_range'

    def test_series(self) -> None:
        self.wire.post(
            self.URL,
            json=answer('matrix'),
            match=[
                matchers.urlencoded_params_matcher(
                    {
                        'query': 'up',
                        'start': '1700000000.000',
                        'end': '1700000600.000',
                        'step': '60',
                    }
                )
            ],
        )
        (series,) = self.client().range_query('up', NOW, NOW + 600, 60)
        self.assertEqual('cmp1', series.label)
        self.assertEqual((NOW, 0.1), series.points[0])
        self.assertTrue(math.isnan(series.points[1][1]))

    def test_refused(self) -> None:
        self.wire.post(self.URL, json=answer('bad_data'), status=400)
        error = self.assertRaises(
            exceptions.PrometheusError,
            self.client().range_query,
            'up',
            NOW,
            NOW,
            60,
        )
        self.assertIn('parse error', str(error))

    def test_too_much(self) -> None:
        """A shorter time may be answered; what is away is another error."""
        for kwargs, is_size in (
            ({'json': answer('bad_data'), 'status': 422}, True),
            ({'body': 'too large', 'status': 413}, True),
            ({'body': 'query timed out', 'status': 503}, True),
            ({'body': requests.ReadTimeout()}, True),
            ({'json': answer('bad_data'), 'status': 400}, False),
            ({'body': requests.ConnectionError()}, False),
        ):
            with self.subTest(kwargs=kwargs):
                self.wire.reset()
                self.wire.post(self.URL, **kwargs)
                client = self.client(max_retries=0)
                error = self.assertRaises(
                    exceptions.PrometheusError,
                    client.range_query,
                    'up',
                    NOW,
                    NOW,
                    60,
                )
                kind = exceptions.PrometheusSizeError
                self.assertEqual(is_size, isinstance(error, kind), error)

    def test_a_vector_is_refused(self) -> None:
        self.wire.post(self.URL, json=answer('hosts'))
        error = self.assertRaises(
            exceptions.PrometheusError,
            self.client().range_query,
            'up',
            NOW,
            NOW,
            60,
        )
        self.assertIn('a vector, not a matrix', str(error))


class TestHealth(PrometheusTestCase):
    def test_healthy(self) -> None:
        self.wire.get(RUNTIMEINFO, json=answer('runtimeinfo'))
        self.assertEqual(Health.HEALTHY, self.client().health())

    def test_without_runtimeinfo(self) -> None:
        self.wire.get(RUNTIMEINFO, status=404)
        self.gives(
            'empty',
            match=[matchers.urlencoded_params_matcher({'query': 'vector(1)'})],
        )
        self.assertEqual(Health.HEALTHY, self.client().health())
        self.wire.reset()
        self.wire.get(RUNTIMEINFO, status=404)
        self.wire.post(QUERY, status=404)
        self.assertEqual(Health.UNREACHABLE, self.client().health())

    def test_unreachable(self) -> None:
        self.wire.get(RUNTIMEINFO, status=503)
        self.assertEqual(Health.UNREACHABLE, self.client().health())
        self.assertEqual([1, 2, 4], self.slept)
