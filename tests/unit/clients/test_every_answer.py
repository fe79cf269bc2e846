# SPDX-License-Identifier: Apache-2.0
"""Whatever a service answers, is it data or the client's error? (hypothesis)

Every method of every client, every status from 200 to 599; JSON, HTML,
answers that are right but for one place. KRONOS_FUZZ is the number of
answers that each test draws; 1000 take about a minute.
"""

import copy
import json
import os
import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import hypothesis
import requests
import requests_mock
from hypothesis import strategies as st
from oslotest import base

from kronos.common import exceptions
from tests.fakes import keystone
from tests.unit.clients import every_method
from tests.unit.clients.every_method import Method

DRAWN = hypothesis.settings(
    max_examples=int(os.environ.get('KRONOS_FUZZ', '300')),
    derandomize=True,
    database=None,
)
WRITES = ('POST', 'PUT', 'DELETE', 'PATCH')
AETOS = 'https://aetos.example.org'
WATCHER = 'https://watcher.example.org'
METHODS = every_method.methods()

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**400, -(2**63) - 1, float('inf'), float('nan')]),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ['', '²', '\ud800', '2023-99-99', '1e999', 'nan', 'next', 'x' * 9999]
    ),
)
KEYS = st.one_of(
    st.text(max_size=4),
    st.sampled_from(
        ['errors', 'error', 'message', 'detail', 'status', 'data', 'result']
    ),
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=8,
)
BODIES = st.one_of(
    JSON.map(lambda body: json.dumps(body).encode()),
    st.binary(max_size=40),
    st.sampled_from(
        [
            b'',
            b'<html><body><h1>503 Service Unavailable</h1></body></html>',
            b'[' * 100_000,
            b'{"a":' * 100_000,
            b'9' * 5000,
            b'\xff\xfe{}',
            b'{"errors": ["no healthy upstream"]}',
            b'{"error": {"message": null}}',
            b'{"error": {"message": {"text": "no"}}}',
            b'{"errors": {"detail": 1}}',
            b'{"status": "success", "data": {"resultType": "vector"}}',
        ]
    ),
)
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        'Retry-After': st.sampled_from(
            ['²', '-1', '1e9', '0', '9' * 99, 'Mon, 01 Jan 0001 00:00:00 +9']
        ),
        'Date': st.sampled_from(['', 'yesterday', '1', ',,,']),
        'Location': st.sampled_from(
            [f'{keystone.NOVA}/other', '/', 'http://[', '', 'x:y']
        ),
        'Content-Type': st.sampled_from(['text/html', 'a;charset=²', '']),
        'WWW-Authenticate': st.just('Keystone uri="https://k/v3"'),
        'x-compute-request-id': st.just('req-1'),
    },
)
STATUSES = st.one_of(st.integers(200, 599), st.just(200), st.just(401))


@dataclass
class Change:
    """Changes one place of a body into anything, or leaves it out."""

    rng: random.Random
    value: Any

    def __call__(self, body: Any) -> Any:
        holder = {'': copy.deepcopy(body)}
        found: Any = holder
        key: Any = ''
        while found[key] and isinstance(found[key], (dict, list)):
            if self.rng.random() < 0.2:
                break
            found = found[key]
            key = self.rng.choice(list(_keys(found)))
        if self.rng.random() < 0.3 and found is not holder:
            del found[key]
        else:
            found[key] = self.value
        return holder['']


def _keys(found: Any) -> Iterable[Any]:
    return found if isinstance(found, dict) else range(len(found))


CHANGES = st.builds(Change, st.builds(random.Random, st.integers(0)), JSON)


class AnswersTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.keystone = self.useFixture(keystone.Keystone())
        self.wire = self.keystone.wire
        self.give_token()
        self.answer: Any = None
        """A function that takes a request and gives status, headers, body."""
        self.wire.register_uri(
            requests_mock.ANY, requests_mock.ANY, content=self._content
        )
        for url in (keystone.AUTH_URL, f'{keystone.AUTH_URL}/auth/tokens'):
            self.wire.register_uri(
                requests_mock.ANY, url, content=self._of_keystone
            )
        self.of_keystone: Any = None
        self.writes: list[str] = []

    def give_token(self) -> None:
        token = keystone.ks_fixture.V3Token()
        token.set_project_scope()
        for kind, url in (
            ('compute', keystone.NOVA),
            ('placement', keystone.PLACEMENT),
            ('image', keystone.GLANCE),
            ('infra-optim', WATCHER),
            ('metric-storage', AETOS),
        ):
            service = token.add_service(kind)
            service.add_standard_endpoints(public=url, region='one')
        self.token = token

    def _of_keystone(self, request: Any, context: Any) -> bytes:
        if self.of_keystone is not None:
            return self._told(self.of_keystone(request), context)
        context.headers['X-Subject-Token'] = 'ks-token'
        if request.method == 'POST':
            return json.dumps(self.token).encode()
        version = keystone._version('v3.14', keystone.AUTH_URL, '')
        return json.dumps({'version': version}).encode()

    def _content(self, request: Any, context: Any) -> bytes:
        if request.method in WRITES and AETOS not in request.url:
            self.writes.append(request.url)
        given = self.answer and self.answer(request)
        if given is None:
            context.headers['x-compute-request-id'] = 'req-1'
            return self._when_well(request)
        return self._told(given, context)

    def _when_well(self, request: Any) -> bytes:
        url = request.url.rstrip('/')
        if url in (keystone.NOVA, keystone.PLACEMENT):
            newest = '2.100' if url == keystone.NOVA else '1.39'
            name = 'v2.1' if url == keystone.NOVA else 'v1.0'
            version = keystone._version(name, url, newest)
            return json.dumps({'version': version}).encode()
        if url == keystone.GLANCE:
            version = keystone._version('v2.17', f'{url}/v2', '')
            return json.dumps({'versions': [version]}).encode()
        return json.dumps(every_method.answer_to(request.url)).encode()

    @staticmethod
    def _told(given: Any, context: Any) -> bytes:
        status, headers, body = given
        context.status_code = status
        context.headers.update(headers)
        if isinstance(body, Exception):
            raise body
        return bytes(body)

    def clients(self) -> dict[str, Any]:
        """Those that Kronos makes, on a session that nobody used yet."""
        session = every_method.session_at(keystone.AUTH_URL)
        return {
            name: self.client(name, session) for name in every_method.CLIENTS
        }

    @staticmethod
    def client(name: str, session: Any) -> Any:
        return every_method.one(
            name, session, max_retries=1, sleep=lambda seconds: None
        )

    def ask(self, method: Method, clients: dict[str, Any]) -> None:
        """Call it; only its client's own error may come out."""
        self.writes.clear()
        _, error = every_method.CLIENTS[method.client]
        found: Any = None
        try:
            found = method.call(clients)
        except exceptions.KronosException as raised:
            self.assertIsInstance(raised, error)
            self.check_text(str(raised))
        else:
            method.check(found)
        self.assertEqual(len(set(self.writes)), len(self.writes), self.writes)
        self.assertLessEqual(len(self.writes), 1)

    def check_text(self, text: str) -> None:
        """It is one line that a log and a database take, without secrets."""
        self.assertLess(len(text), 1200)
        self.assertNotIn('s3cret', text)
        self.assertEqual(1, len(text.splitlines()), text)
        text.encode()


class TestEveryMethod(AnswersTestCase):
    def test_a_service_that_is_well(self) -> None:
        """Else the answers below would test nothing."""
        clients = self.clients()
        for method in METHODS:
            with self.subTest(str(method)):
                method.check(method.call(clients))

    def test_each_client_is_asked(self) -> None:
        self.assertEqual(
            set(every_method.CLIENTS), {method.client for method in METHODS}
        )

    def test_anything(self) -> None:
        clients = self.clients()

        @DRAWN
        @hypothesis.given(
            st.sampled_from(METHODS), STATUSES, HEADERS, BODIES, st.booleans()
        )
        def run(
            method: Method,
            status: int,
            headers: dict[str, str],
            body: bytes,
            always: bool,
        ) -> None:
            given = [(status, headers, body)]
            self.answer = lambda request: (
                given[0] if always else (given.pop() if given else None)
            )
            self.ask(method, clients)

        run()

    def test_right_but_for_one_place(self) -> None:
        clients = self.clients()

        @DRAWN
        @hypothesis.given(st.sampled_from(METHODS), CHANGES)
        def run(method: Method, change: Change) -> None:
            kept: dict[str, Any] = {}

            def answer(request: Any) -> Any:
                if request.url not in kept:
                    kept[request.url] = change(
                        every_method.answer_to(request.url)
                    )
                body = json.dumps(kept[request.url]).encode()
                return 200, {'x-compute-request-id': 'req-1'}, body

            self.answer = answer
            self.ask(method, clients)

        run()

    def test_every_status(self) -> None:
        clients = self.clients()
        body = b'{"errors": ["no healthy upstream"]}'
        for status in range(200, 600):
            self.answer = lambda request, status=status: (status, {}, body)
            for method in METHODS[status % 7 :: 7]:
                self.ask(method, clients)

    def test_a_write_is_sent_once(self) -> None:
        """Whatever libraries take for worth another try."""
        clients, written = self.clients(), set()
        for status in (408, 429, 500, 502, 503, 504):

            def refused(request: Any, status: int = status) -> Any:
                is_write = request.method in WRITES
                return (status, {}, b'') if is_write else None

            self.answer = refused
            for method in METHODS:
                self.ask(method, clients)
                written.update(self.writes)
        self.assertTrue(any(url.endswith('/action') for url in written))

    def test_a_connection_that_breaks(self) -> None:
        clients = self.clients()
        for error in (
            requests.ConnectionError('reset'),
            requests.ReadTimeout('slow'),
            requests.exceptions.ChunkedEncodingError('cut'),
            requests.exceptions.ContentDecodingError('not gzip'),
            requests.exceptions.SSLError('a certificate'),
            requests.exceptions.InvalidURL('http://['),
            OSError('broken'),
        ):
            self.answer = lambda request, error=error: (200, {}, error)
            for method in METHODS:
                with self.subTest(f'{error!r}: {method}'):
                    self.ask(method, clients)


class TestKeystone(AnswersTestCase):
    """It is what comes before every other answer."""

    def setUp(self) -> None:
        super().setUp()
        names = sorted(every_method.CLIENTS)
        self.first = [
            next(one for one in METHODS if one.client == name)
            for name in names
        ]

    def run_once(self, method: Method) -> None:
        _, error = every_method.CLIENTS[method.client]
        session = every_method.session_at(keystone.AUTH_URL)
        try:
            client = self.client(method.client, session)
        except exceptions.KronosException as raised:
            self.assertIsInstance(raised, error)
            self.check_text(str(raised))
        else:
            self.ask(method, {method.client: client})

    def test_anything(self) -> None:
        @hypothesis.settings(DRAWN, max_examples=DRAWN.max_examples // 3)
        @hypothesis.given(
            st.sampled_from(self.first), STATUSES, HEADERS, BODIES
        )
        def run(
            method: Method, status: int, headers: dict[str, str], body: bytes
        ) -> None:
            self.of_keystone = lambda request: (status, headers, body)
            self.run_once(method)

        run()

    def test_right_but_for_one_place(self) -> None:
        @hypothesis.settings(DRAWN, max_examples=DRAWN.max_examples // 3)
        @hypothesis.given(st.sampled_from(self.first), CHANGES)
        def run(method: Method, change: Change) -> None:
            def answer(request: Any) -> Any:
                version = keystone._version('v3.14', keystone.AUTH_URL, '')
                right = (
                    dict(self.token)
                    if request.method == 'POST'
                    else {'version': version}
                )
                body = json.dumps(change(right)).encode()
                return 200, {'X-Subject-Token': 'ks-token'}, body

            self.of_keystone = answer
            self.run_once(method)

        run()

    def test_versions_of_an_endpoint(self) -> None:
        @hypothesis.settings(DRAWN, max_examples=DRAWN.max_examples // 3)
        @hypothesis.given(st.sampled_from(self.first), CHANGES)
        def run(method: Method, change: Change) -> None:
            def answer(request: Any) -> Any:
                right = json.loads(self._when_well(request))
                body = change(right)
                return 200, {}, json.dumps(body).encode()

            self.answer = answer
            self.run_once(method)

        run()

    def test_no_token_for_a_write(self) -> None:
        """Keystone goes away after the endpoint was found."""
        clients = self.clients()
        for method in METHODS:
            self.answer = lambda request: (401, {}, b'')
            self.of_keystone = lambda request: (503, {}, b'<html>')
            with self.subTest(str(method)):
                self.ask(method, clients)
