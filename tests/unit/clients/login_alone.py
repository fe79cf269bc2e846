# SPDX-License-Identifier: Apache-2.0
"""Does every login end, and is all well again when Keystone is?

With the plugins that operators have: the generic ones ask Keystone for its
versions while they hold a lock.
"""

import json
import threading
from collections.abc import Callable
from typing import Any

from keystoneauth1 import adapter as ks_adapter
from keystoneauth1 import exceptions as ks_exceptions
from keystoneauth1 import http_basic
from keystoneauth1 import session as ks_session
from keystoneauth1.identity import generic, v3
from keystoneauth1.identity.v3 import k2k
from oslotest import base

from kronos.clients import connection, login
from kronos.clients import keystone as own
from kronos.clients.nova import client as nova_client
from kronos.common import deadline, exceptions
from tests.fakes import keystone
from tests.unit.clients import deadlines, every_method

SECRET = 's3cret'
HANGS = 60.0
"""Seconds after which a test gives up."""
ROOT = keystone.AUTH_URL.removesuffix('/v3')
_PASSWORD = {
    'username': 'kronos',
    'password': SECRET,
    'user_domain_id': 'default',
    'project_name': 'service',
    'project_domain_id': 'default',
}
PLUGINS: dict[str, Callable[[str], Any]] = {
    'password': lambda url: generic.Password(url, **_PASSWORD),
    'token': lambda url: generic.Token(
        url, SECRET, project_name='service', project_domain_id='default'
    ),
    'v3password': lambda url: v3.Password(url, **_PASSWORD),
    'v3applicationcredential': lambda url: v3.ApplicationCredential(
        url,
        application_credential_id='a',
        application_credential_secret=SECRET,
    ),
}
BODIES = (
    b'',
    b'{}',
    b'[]',
    b'null',
    b'<html><h1>It works!</h1></html>',
    b'{"error": {"code": 401, "message": "no"}}',
    b'{"versions": []}',
    b'{"versions": null}',
    b'{"versions": {"values": []}}',
    b'{"version": {}}',
    json.dumps(
        {'version': keystone._version('v2.0', f'{ROOT}/v2.0', '')}
    ).encode(),
)


class KeystoneTestCase(base.BaseTestCase):
    """Keystone answers its versions or its tokens in another way."""

    def setUp(self) -> None:
        super().setUp()
        self.keystone = self.useFixture(keystone.Keystone())
        wire = self.keystone.wire
        wire.get(f'{keystone.NOVA}/os-aggregates', json={'aggregates': []})
        version = keystone._version('v3.14', keystone.AUTH_URL, '')
        self.versions = {
            keystone.AUTH_URL: {'version': version},
            ROOT: {'versions': {'values': [version]}},
        }
        for url in self.versions:
            wire.get(url, content=self._versions)
        self.of_versions: tuple[int, bytes] | None = None

    def _versions(self, request: Any, context: Any) -> bytes:
        if self.of_versions is None:
            url = request.url.rstrip('/')
            return json.dumps(self.versions[url]).encode()
        context.status_code, body = self.of_versions
        return body

    def refuse_tokens(self, status: int, body: bytes) -> Any:
        """Until what it returns is removed."""
        return self.keystone.wire.post(
            f'{keystone.AUTH_URL}/auth/tokens',
            status_code=status,
            content=body,
            headers={'Content-Type': 'application/json'},
        )

    def session(self, plugin: Any) -> Any:
        """A session that Watcher made."""
        return ks_session.Session(plugin)

    def ask(self, session: Any) -> str:
        """One line, and '' if all is well.

        :raises DeadlinePassed: it hangs
        """
        return deadline.within(HANGS, lambda _: self._ask(session))

    def _ask(self, session: Any) -> str:
        adapter = ks_adapter.Adapter(own.own(session), service_type='compute')
        try:
            nova_client.NovaClient(adapter, max_retries=0).list_aggregates()
        except exceptions.ClientError as error:
            text = str(error)
            self.assertEqual(1, len(text.splitlines()), text)
            self.assertNotIn(SECRET, text)
            return text
        return ''


class TestEveryAnswer(KeystoneTestCase):
    def test_every_status(self) -> None:
        for status in range(300, 600):
            name = list(PLUGINS)[status % len(PLUGINS)]
            url = (keystone.AUTH_URL, ROOT)[status // 4 % 2]
            self.check(name, url, status, BODIES[status % len(BODIES)])

    def test_every_body(self) -> None:
        for name in PLUGINS:
            for url in (keystone.AUTH_URL, ROOT):
                for status in (200, 300, 401):
                    for body in BODIES:
                        self.check(name, url, status, body)

    def check(self, name: str, url: str, status: int, body: bytes) -> None:
        """It ends; and then it goes well, with the same plugin."""
        session = self.session(PLUGINS[name](url))
        with self.subTest(f'{name} {url} {status} {body!r}'):
            self.of_versions = (status, body)
            text = self.ask(session)
            if status == 401 and name in ('password', 'token'):
                self.assertIn(f'{url} answers 401', text)
                self.assertIn('Correct auth_url', text)
            self.of_versions = None
            self.assertEqual('', self.ask(session))

    def test_no_token(self) -> None:
        for status in range(300, 600):
            name = list(PLUGINS)[status % len(PLUGINS)]
            with self.subTest(f'{name} {status}'):
                session = self.session(PLUGINS[name](keystone.AUTH_URL))
                matcher = self.refuse_tokens(status, b'{"a": 1}')
                self.assertNotEqual('', self.ask(session))
                self.keystone.wire._adapter._matchers.remove(matcher)
                self.assertEqual('', self.ask(session))

    def test_http_basic(self) -> None:
        """It logs in nowhere, and every answer is that of the service."""
        wire = self.keystone.wire
        plugin = http_basic.HTTPBasicAuth(keystone.NOVA, 'kronos', SECRET)
        session = self.session(plugin)
        for status in range(300, 600):
            with self.subTest(str(status)):
                made = [
                    wire.get(
                        f'{keystone.NOVA}{path}',
                        status_code=status,
                        content=BODIES[status % len(BODIES)],
                    )
                    for path in ('', '/', '/os-aggregates')
                ]
                self.assertNotEqual('', self.ask(session))
                for matcher in made:
                    wire._adapter._matchers.remove(matcher)
                self.assertEqual('', self.ask(session))

    def test_whose_answer_it_is(self) -> None:
        """Of what else than Keystone answers, the remedy is auth_url."""
        url = keystone.AUTH_URL
        own_404 = b'{"error": {"message": "Could not find it", "code": 404}}'
        for status, body, text in (
            (503, b'{}', f'(HTTP 503) from Keystone at {url}'),
            (401, b'{"error": {"message": "no"}}', f'from Keystone at {url}'),
            (404, own_404, f'from Keystone at {url}'),
            (400, b'<html>', f'{url} does not answer as Keystone does'),
            (404, b'<html>', f'{url} does not answer as Keystone does'),
            (200, b'<html>', f'{url} does not answer as Keystone does'),
            (200, b'[]', f'{url} does not answer as Keystone does'),
        ):
            session = self.session(PLUGINS['password'](url))
            matcher = self.refuse_tokens(status, body)
            result = self.ask(session)
            self.assertIn(text, result)
            self.assertEqual(
                text.endswith('does'), 'Correct auth_url' in result
            )
            self.keystone.wire._adapter._matchers.remove(matcher)

    def test_a_token_that_is_none(self) -> None:
        """It would be taken for a valid one, or raise, for ever."""
        for body in (b'{"token": {}}', b'{"token": {"expires_at": 1}}'):
            session = self.session(PLUGINS['password'](ROOT))
            matcher = self.refuse_tokens(201, body)
            self.assertNotEqual('', self.ask(session))
            self.keystone.wire._adapter._matchers.remove(matcher)
            self.assertEqual('', self.ask(session))

    def test_no_password_for_what_wants_a_login(self) -> None:
        self.of_versions = (401, b'{}')
        self.ask(self.session(PLUGINS['password'](keystone.AUTH_URL)))
        asked = {one.method for one in self.keystone.wire.request_history}
        self.assertEqual({'GET'}, asked)

    def test_a_plugin_that_logs_in_with_another(self) -> None:
        self.of_versions = (401, b'{}')
        inner = PLUGINS['password'](keystone.AUTH_URL)
        outer = k2k.Keystone2Keystone(inner, 'sp', project_name='service')
        self.assertIn('answers 401', self.ask(self.session(outer)))

    def test_the_session_of_the_host_process(self) -> None:
        """Its requests end, too, once Kronos has asked."""
        self.of_versions = (401, b'{}')
        plugin = PLUGINS['password'](keystone.AUTH_URL)
        self.ask(self.session(plugin))
        self.assertRaises(
            ks_exceptions.AuthorizationFailure,
            plugin.get_token,
            ks_session.Session(plugin),
        )

    def test_plugins_without_a_login(self) -> None:
        for plugin in (None, object(), own.ks_session.Session()):
            login.guard(plugin, 1.0)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class TestLock(base.BaseTestCase):
    """Of a plugin that has no answer."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = Clock()
        plugin = PLUGINS['password'](keystone.AUTH_URL)
        self.lock = login.Lock(plugin, 30.0, self.clock)

    def fail(self) -> None:  # type: ignore[override]
        with self.lock:
            raise ks_exceptions.ConnectTimeout('silence')

    def test_keystone_is_left_alone_for_a_while(self) -> None:
        self.assertRaises(ks_exceptions.ConnectTimeout, self.fail)
        self.clock.now = 9.0
        error = self.assertRaises(
            ks_exceptions.ConnectTimeout, self.lock.__enter__
        )
        self.assertIn('has not answered within 30 s', str(error))
        self.clock.now = 10.0
        with self.lock:
            self.assertTrue(login.is_under_way())
        self.assertFalse(login.is_under_way())

    def test_other_failures_are_no_reason_to_wait(self) -> None:
        with self.assertRaises(ks_exceptions.Forbidden), self.lock:
            raise ks_exceptions.Forbidden
        with self.lock:
            pass

    def test_another_thread_has_no_answer(self) -> None:
        self.lock = login.Lock(None, 0.01)
        begun, gone = threading.Event(), threading.Event()

        def hang() -> None:
            with self.lock:
                begun.set()
                gone.wait(HANGS)

        thread = threading.Thread(target=hang)
        thread.start()
        begun.wait(HANGS)
        self.assertRaises(ks_exceptions.ConnectTimeout, self.lock.__enter__)
        gone.set()
        thread.join()
        with self.lock:
            pass


class TestSilence(deadlines.DeadlineTestCase):
    """Versions and token together take no longer than one silence."""

    def test_all_threads_end(self) -> None:
        plugin = PLUGINS['password'](self.server.at_url)
        session = ks_session.Session(plugin)
        self.begin('silent', '/keystone')

        def ask(_: int) -> str:
            host = connection.HostProcess(
                lambda: session, every_method.conf(), deadlines.LIMITS
            )
            error = self.assertRaises(exceptions.NovaClientError, host.nova)
            return str(error)

        for text in deadlines.at_once(ask, range(8)):
            self.assertRegex(text, 'has not answered within|timed out')
        # Of one login, and of one that began when it was over.
        self.assertLessEqual(len(self.server.troubled), 4)
        self.server.gone.set()

    def test_it_is_well_again(self) -> None:
        plugin = PLUGINS['password'](self.server.at_url)
        session = own.KeystoneSession(plugin, deadlines.LIMITS)
        self.begin('silent', '/keystone')
        self.assertRaises(ks_exceptions.ClientException, session.get_token)
        self.server.trouble = ''
        lock = plugin._lock
        lock._failed -= 1.0
        self.assertEqual('ks-token', session.get_token())
