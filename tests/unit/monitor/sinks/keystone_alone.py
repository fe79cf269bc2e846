# SPDX-License-Identifier: Apache-2.0
"""Are credentials read again, is TLS kept to, and are secrets kept?"""

import pathlib
from typing import Any

from kronos.monitor.sinks import keystone
from kronos.monitor.sinks.base import Outcome, Result
from kronos.monitor.sinks.masakari import Masakari
from tests.unit.monitor.certificates import Authority
from tests.unit.monitor.sinks import services
from tests.unit.monitor.sinks.cloud import Cloud


class KeystoneTestCase(services.ServiceTestCase):
    def sink(self, cloud: Cloud, **more: Any) -> Masakari:
        options = services.options('masakari', cloud.url, **more)
        made = Masakari('masakari', options)
        self.addCleanup(made.close)
        return made

    def deliver(self, sink: Masakari) -> Result:
        return sink.deliver(services.message())


class TestSecretFile(KeystoneTestCase):
    def test_it_rotates(self) -> None:
        """The old password ends, and with it its tokens."""
        cloud = self.cloud()
        path = self.folder / 'secret'
        path.write_text(f'{services.SECRET}\n')
        sink = self.sink(cloud, password=None, secret_file=str(path))
        self.assertIs(Outcome.DELIVERED, self.deliver(sink).outcome)
        cloud.passwords = {'an0ther-password'}
        cloud.tokens.clear()
        self.assertIs(Outcome.AWAY, self.deliver(sink).outcome)
        self.assertIs(Outcome.AWAY, self.deliver(sink).outcome)
        path.write_text('an0ther-password')
        self.assertIs(Outcome.DELIVERED, self.deliver(sink).outcome)

    def test_none(self) -> None:
        cloud = self.cloud()
        path = self.folder / 'secret'
        sink = self.sink(cloud, password=None, secret_file=str(path))
        for content, told in (
            (None, 'No such file'),
            (b'', 'it is empty'),
            (b'\xff', 'it is no text'),
        ):
            if content is not None:
                path.write_bytes(content)
            result = self.deliver(sink)
            self.assertIs(Outcome.AWAY, result.outcome)
            self.assertIn(told, result.text)
        self.assertEqual(0, cloud.logins)

    def test_it_is_shown_nowhere(self) -> None:
        """Also where Keystone repeats it."""
        cloud = self.cloud()
        cloud.passwords = set()
        path = self.folder / 'secret'
        path.write_text('wr0ng-but-secret')
        sink = self.sink(cloud, password=None, secret_file=str(path))
        for told in (self.deliver(sink).text, sink.check('node1')):
            self.assertIn('***', told)
            self.assertNotIn('wr0ng', told)
        sink = self.sink(cloud, password='wr0ng-and-inline')
        self.assertNotIn('wr0ng', self.deliver(sink).text)
        self.assertNotIn('wr0ng', self.log.output)


class TestTls(KeystoneTestCase):
    """Whatever is wrong, the message is kept until it was mended."""

    def setUp(self) -> None:
        super().setUp()
        self.authority = Authority(self.folder)
        self.server = self.authority.issue('server')
        self.client = self.authority.issue('client')

    def check(self, **more: str | None) -> Masakari:
        """Nothing is delivered with these files."""
        given = {
            'cafile': self.authority.path,
            'certfile': self.client[0],
            'keyfile': self.client[1],
            'insecure': False,
            **more,
        }
        self.cloud_ = self.cloud(self.server, self.authority.path)
        sink = self.sink(self.cloud_, **given)
        for _ in range(2):
            result = self.deliver(sink)
            self.assertIs(Outcome.AWAY, result.outcome, result.text)
            self.assertNotEqual('', result.text)
        self.assertEqual([], self.cloud_.notifications)
        return sink

    def mended(self, sink: Masakari) -> None:
        result = self.deliver(sink)
        self.assertIs(Outcome.DELIVERED, result.outcome, result.text)
        self.assertEqual(1, len(self.cloud_.notifications))

    def test_a_wrong_authority(self) -> None:
        other = Authority(self.folder, 'other')
        sink = self.check(cafile=other.path)
        pathlib.Path(self.authority.path).replace(other.path)
        self.mended(sink)

    def test_a_wrong_name(self) -> None:
        self.server = self.authority.issue('server', host='example.org')
        sink = self.check()
        self.cloud_.rotate(self.authority.issue('server'))
        self.mended(sink)

    def test_expired(self) -> None:
        self.server = self.authority.issue('server', expired=True)
        sink = self.check()
        self.cloud_.rotate(self.authority.issue('server'))
        self.mended(sink)

    def test_a_client_certificate_that_expired(self) -> None:
        self.client = self.authority.issue('client', expired=True)
        sink = self.check()
        self.authority.issue('client')
        self.mended(sink)

    def test_no_client_certificate(self) -> None:
        self.check(certfile=None, keyfile=None)

    def test_files_that_are_none(self) -> None:
        for name in ('cafile', 'certfile', 'keyfile'):
            self.check(**{name: '/nowhere'})
            bad = self.folder / 'bad'
            bad.write_text('no certificate')
            self.check(**{name: str(bad)})

    def test_an_endpoint_without_tls(self) -> None:
        cloud = self.cloud(self.server, self.authority.path)
        cloud.catalog_scheme = 'http'
        sink = self.sink(
            cloud,
            insecure=False,
            cafile=self.authority.path,
            certfile=self.client[0],
            keyfile=self.client[1],
        )
        told = self.deliver(sink).text
        self.assertIn('set insecure = true', told)
        self.assertIn(f'http://127.0.0.1:{cloud.port}', told)
        self.assertEqual([], cloud.requests)


class TestFaults(KeystoneTestCase):
    def faults(self, **more: Any) -> list[str]:
        url = 'https://keystone.example.org'
        options = services.options('masakari', url, insecure=False)
        return keystone.faults({**options, **more})

    def test_each(self) -> None:
        there = self.folder / 'there'
        there.touch()
        for more, wanted in (
            ({}, []),
            ({'password': None, 'secret_file': str(there)}, []),
            ({'password': None}, ['password: is not set, nor is secret_file']),
            ({'username': None}, ['username: is not set']),
            ({'auth_url': None}, ['auth_type password: Auth plugin requires']),
            ({'auth_url': 'http://k/v3'}, ['auth_url: it is http://']),
            ({'auth_url': 'k'}, ['auth_url: it must be https://HOST']),
            ({'endpoint_override': 'http://m'}, ['endpoint_override: it is']),
            ({'auth_url': 'http://k', 'insecure': True}, []),
            (
                {'auth_type': 'passwort'},
                ['auth_type: there is no passwort, d'],
            ),
            (
                {'cafile': '/no'},
                ['cafile: /no cannot be read: No such file or directory'],
            ),
            ({'keyfile': str(there)}, ['keyfile: is set, but certfile is']),
            ({'secret_file': str(there)}, ['secret_file: is set, and so is']),
            (
                {'auth_type': 'none', 'secret_file': str(there)},
                ['secret_file: auth_type none has no secret'],
            ),
        ):
            faults = self.faults(**more)
            self.assertEqual(len(wanted), len(faults), faults)
            for start, told in zip(wanted, faults, strict=True):
                self.assertTrue(told.startswith(start), told)
                self.assertNotIn(services.SECRET, told)

    def test_an_application_credential(self) -> None:
        given = {
            'auth_type': 'v3applicationcredential',
            'application_credential_id': 'a',
            'password': None,
        }
        (told,) = self.faults(**given)
        self.assertIn('application_credential_secret: is not set', told)
        there = self.folder / 'there'
        there.touch()
        self.assertEqual([], self.faults(**given, secret_file=str(there)))
