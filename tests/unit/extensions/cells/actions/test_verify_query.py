# SPDX-License-Identifier: Apache-2.0
"""Is a query true that is, for as long as it has to be?"""

from collections.abc import Callable
from typing import Any

import requests
import requests_mock
from oslotest import base

from kronos.actions.core.context import Patience
from kronos.clients.prometheus.client import PrometheusClient
from kronos.common import exceptions
from kronos.extensions.cells.actions import verify_query
from tests.unit.actions.live.base import Clock

URL = 'http://prom.example.org'
UUID = '11111111-1111-1111-1111-111111111111'


class TestFilledIn(base.BaseTestCase):
    def test_both(self) -> None:
        query = 'up{uuid="{uuid}",host=~"{host}:.*"} * on(x) y{u="{uuid}"}'
        self.assertEqual(
            f'up{{uuid="{UUID}",host=~"cmp-1.example.org:.*"}} * on(x) '
            f'y{{u="{UUID}"}}',
            verify_query.filled_in(query, UUID, 'cmp-1.example.org'),
        )

    def test_a_name_that_is_more_than_a_name(self) -> None:
        """None may end the string that it stands in."""
        for host in ('', 'a"} or vector(1) #', "a'", 'a`', 'a\\', 'a\n', 'ä'):
            error = self.assertRaises(
                ValueError, verify_query.filled_in, '{host}', UUID, host
            )
            self.assertIn('cannot be used in a query', str(error))


class TestWhyNotTrue(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.clock = Clock()
        self.wire = requests_mock.Mocker()
        self.wire.start()
        self.addCleanup(self.wire.stop)
        self.cancelled = False
        self.asked = 0
        self.wire.register_uri(
            requests_mock.ANY, f'{URL}/api/v1/query', json=self.answer
        )
        self.values: Callable[[float], list[float] | None] = lambda at: [1]
        """What it gives so many seconds after the first look; None: it is
        away."""

    def answer(self, request: Any, context: Any) -> Any:
        self.asked += 1
        values = self.values(self.clock() - 1000.0)
        if values is None:
            context.status_code = 400
            return {'status': 'error', 'error': 'parse error'}
        rows = [
            {'metric': {'n': str(n)}, 'value': [self.clock(), str(value)]}
            for n, value in enumerate(values)
        ]
        data = {'resultType': 'vector', 'result': rows}
        return {'status': 'success', 'data': data}

    def ask(self, seconds: float = 30, interval: float = 5) -> str:
        return verify_query.why_not_true(
            lambda: PrometheusClient(
                URL,
                requests.Session(),
                max_retries=0,
                clock=self.clock,
                sleep=self.clock.sleep,
            ),
            'up',
            seconds,
            interval,
            Patience(
                is_cancelled=lambda: self.cancelled,
                tell=lambda text: None,
                clock=self.clock,
                sleep=self.clock.sleep,
            ),
        )

    @property
    def passed(self) -> float:
        return self.clock() - 1000.0

    def test_true_throughout(self) -> None:
        self.assertEqual('', self.ask())
        self.assertEqual(30, self.passed)
        self.assertEqual(7, self.asked)

    def test_true_late(self) -> None:
        """The guest has to boot, and exporters to find it."""
        self.values = lambda at: [1, 3] if at >= 20 else []
        self.assertEqual('', self.ask())
        self.assertEqual(50, self.passed)

    def test_never_true(self) -> None:
        for values, told in (
            ([], 'it gives no series'),
            ([1, 0], 'it gives 0 for {n="1"}'),
            ([float('nan')], 'it gives nan for {n="0"}'),
        ):
            self.clock.now, self.values = 1000.0, lambda at, v=values: v
            self.assertEqual(told, self.ask())
            self.assertEqual(30, self.passed)

    def test_true_no_more(self) -> None:
        self.values = lambda at: [0] if at == 25 else [1]
        self.assertEqual('it gives 0 for {n="0"} after 25 s', self.ask())

    def test_true_no_more_at_the_end(self) -> None:
        self.values = lambda at: [0] if at >= 30 else [1]
        self.assertEqual('it gives 0 for {n="0"} after 30 s', self.ask())

    def test_at_once(self) -> None:
        self.assertEqual('', self.ask(seconds=0))
        self.assertEqual(1, self.asked)
        self.values = lambda at: [0]
        self.assertIn('it gives 0', self.ask(seconds=0))
        self.assertEqual(0, self.passed)

    def test_nobody_knows(self) -> None:
        self.values = lambda at: None
        self.assertIn('parse error', self.ask())
        self.values = lambda at: None if at > 35 else [1]
        self.assertIn('not known: Prometheus at', self.ask())

    def test_it_cannot_be_asked(self) -> None:
        def connect() -> PrometheusClient:
            raise exceptions.ConfigurationError(reason='url is not set')

        told = verify_query.why_not_true(
            connect, 'up', 1, 1, Patience(lambda: False, lambda text: None)
        )
        self.assertEqual('Bad configuration: url is not set', told)

    def test_cancelled(self) -> None:
        """Nobody waits for what is taken back in any case."""
        self.clock.at(1010.0, lambda: setattr(self, 'cancelled', True))
        self.assertIn('the plan was cancelled', self.ask())
        self.assertEqual(10, self.passed)
