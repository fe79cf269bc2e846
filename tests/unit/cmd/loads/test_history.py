# SPDX-License-Identifier: Apache-2.0
"""Does the check of windows say which forecasts best, where it can know?"""

import json
import random
from collections.abc import Callable
from typing import Any
from unittest import mock

import requests
import responses
from oslotest import base

from kronos.clients.prometheus.client import PrometheusClient
from kronos.cmd.checks.findings import Findings
from kronos.cmd.loads import history
from tests.builders import policies as build
from tests.fakes.past_prometheus import URL, PastPrometheus, Value

NOW = 1_700_000_100.0
QUERY = 'max by (uuid) (rate(cpu[2m]))'
RAW = 'max by (uuid) (rate(cpu[5m]))'


def noise(number: int) -> Value:
    """No two moments have to do with each other, but servers differ."""

    def value(moment: float) -> float:
        choice = random.Random(f'{number} {moment}')
        return 1 + number + choice.uniform(-0.9, 0.9) * (1 + number)

    return value


def ramp(number: int) -> Value:
    """The newest value is the best of all."""
    return lambda moment: 1 + number + (moment - NOW + 40000) / 1000


class TestCheck(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.prometheus = PastPrometheus(NOW)
        self.wire = responses.RequestsMock(assert_all_requests_are_fired=False)
        self.wire.start()
        self.addCleanup(self.wire.stop, False)
        self.prometheus.at(self.wire)
        self.client = PrometheusClient(
            URL, requests.Session(), max_retries=0, clock=lambda: NOW
        )
        self.policy = build.policy(
            vm_profile_query=QUERY,
            vm_profile_label='uuid',
            vm_profile_label_type='nova_instance_uuid',
        )
        self.findings = Findings()

    def has(
        self, value: Callable[[int], Value], servers: int = 5, raw: str = RAW
    ) -> None:
        """Let there be servers with such a past."""
        values = {f'u{number}': value(number) for number in range(servers)}
        self.prometheus.add(QUERY, 'uuid', values)
        every = max(1, servers // history.SERVERS)
        names = sorted(values)[::every][: history.SERVERS]
        self.prometheus.add(
            history.only(raw, 'uuid', names),
            'uuid',
            {name: values[name] for name in names},
        )

    def check(self) -> list[dict[str, Any]]:
        return history.check(
            [self.policy],
            self.client,
            self.client,
            self.findings,
            lambda: NOW,
        )

    def test_noise(self) -> None:
        """Its average is what is to be expected of it."""
        self.has(noise)
        [row] = self.check()
        self.assertEqual(('now', 5), (row['window'], row['servers_asked']))
        self.assertIn(
            row['best_window'], ('avg:3600', 'avg:7200', 'avg:14400')
        )
        self.assertLess(row['best_forecast_error'], row['forecast_error'] / 2)
        [finding] = self.findings.items
        self.assertEqual('window-forecast', finding.code)
        self.assertRegex(
            finding.text,
            'policy cpu: in the last 8 h, the average of .* min predicted the '
            'next 30 min best, with an error of .* % of the mean usage; the '
            'error of the values of the moment was',
        )

    def test_a_window_that_is_right(self) -> None:
        self.has(ramp)
        [row] = self.check()
        self.assertEqual(('now', 'now'), (row['window'], row['best_window']))
        self.assertEqual([], self.findings.items)

    def test_the_query_is_short(self) -> None:
        """Of many servers a few are asked for, once."""
        self.has(ramp, servers=200)
        [row] = self.check()
        self.assertEqual(history.SERVERS, row['servers_asked'])
        [query] = self.prometheus.ranges
        steps = (float(query['end']) - float(query['start'])) / 300
        self.assertEqual(8 * 12 - 1, steps)

    def test_too_many(self) -> None:
        self.has(ramp, servers=200)
        with mock.patch.object(history, 'MOST_SERIES', 100):
            self.assertEqual([], self.check())
        self.assertEqual([], self.prometheus.ranges)

    def test_wider_where_there_are_too_few_samples(self) -> None:
        wide = 'max by (uuid) (rate(cpu[20m]))'
        self.has(ramp, raw=wide)
        self.assertEqual(1, len(self.check()))
        self.assertEqual(3, len(self.prometheus.ranges))

    def test_a_short_history(self) -> None:
        """Nothing is said by it, nor by too few servers."""

        def young(number: int) -> Value:
            value = ramp(number)
            return lambda at: value(at) if at > NOW - 3 * 3600 else None

        self.has(young)
        self.assertEqual([], self.check())
        self.has(ramp, servers=2)
        self.assertEqual([], self.check())

    def test_some_are_young(self) -> None:
        def one_is(number: int) -> Value:
            value = ramp(number)
            born = NOW - 3600 if number == 1 else 0
            return lambda at: value(at) if at > born else None

        self.has(one_is)
        self.assertEqual(1, len(self.check()))

    def test_no_history(self) -> None:
        """Such as where the API is another one; that is no fault."""
        self.has(ramp)
        self.prometheus.most_samples = 0
        self.assertEqual([], self.check())
        self.assertEqual([], self.findings.items)


class TestOnly(base.BaseTestCase):
    def test_names_of_tenants(self) -> None:
        """They get out of no string, and match nothing but themselves."""
        query = history.only('x # all', 'name', ['a.b', '"} or y{a="', 'ü\n'])
        self.assertNotIn('#', query)
        text = query[query.index('"name", ') + 8 : query.index(') and on')]
        self.assertEqual('a\\.b|"\\}\\ or\\ y\\{a="|ü\\\n', json.loads(text))
