# SPDX-License-Identifier: Apache-2.0
"""Is it seen on a socket what is wrong with Keystone, or with a service?"""

import socket
from typing import Any

from kronos.monitor.sinks import remedies
from kronos.monitor.sinks.base import Outcome
from kronos.monitor.sinks.masakari import Masakari
from kronos.monitor.sinks.watcher import Watcher
from tests.unit.monitor.certificates import Authority
from tests.unit.monitor.sinks import services
from tests.unit.monitor.sinks.cloud import Cloud


class RemedyTestCase(services.ServiceTestCase):
    def text(self, driver: str, cloud: Cloud, **more: Any) -> str:
        """What is logged of a message; ``--check`` says the same."""
        options = services.options(driver, cloud.url, **more)
        sink: Masakari | Watcher
        if driver == 'watcher':
            sink = Watcher(driver, options)
        else:
            sink = Masakari(driver, options)
        self.addCleanup(sink.close)
        result = sink.deliver(services.message())
        self.assertIs(Outcome.AWAY, result.outcome)
        self.assertNotIn('\n', result.text)
        remedy = result.text.rpartition('; ')[2]
        self.assertIn(remedy, sink.check('node1'))
        return result.text

    def each(self, words: str, cloud: Cloud, **more: Any) -> None:
        for driver in ('masakari', 'watcher'):
            text = self.text(driver, cloud, **more)
            self.assertIn(words, text)
            self.assertEqual(1, text.count(words), text)

    def free(self) -> int:
        """A port where nothing listens."""
        with socket.socket() as unused:
            unused.bind(('127.0.0.1', 0))
            return int(unused.getsockname()[1])


class TestKeystone(RemedyTestCase):
    def test_a_name_that_dns_does_not_know(self) -> None:
        self.each(
            'correct the host in auth_url',
            self.cloud(),
            auth_url='http://keystone.invalid/v3',
        )

    def test_nothing_listens(self) -> None:
        self.each(
            'start Keystone, or correct host and port in auth_url',
            self.cloud(),
            auth_url=f'http://127.0.0.1:{self.free()}/v3',
        )

    def test_silence(self) -> None:
        cloud = self.cloud()
        cloud.silent = '/v3'
        self.each('no firewall blocks auth_url', cloud, timeout=0.3)

    def test_http_instead_of_tls(self) -> None:
        cloud = self.cloud()
        url = cloud.url.replace('http://', 'https://')
        self.each(
            'write http:// instead of https:// in auth_url',
            cloud,
            auth_url=f'{url}/v3',
        )

    def test_certificates(self) -> None:
        authority = Authority(self.folder)
        other = Authority(self.folder, 'other')
        files = {
            'good': authority.issue('good'),
            'named': authority.issue('named', host='example.org'),
            'old': authority.issue('old', expired=True),
        }
        for name, cafile, words in (
            ('good', other.path, 'set cafile to the CA that signed the'),
            ('named', authority.path, 'use in auth_url the host name'),
            ('old', authority.path, 'renew the certificate of Keystone'),
        ):
            cloud = self.cloud(files[name])
            self.each(words, cloud, cafile=cafile, insecure=False)

    def test_no_certificate_of_ours(self) -> None:
        """What OpenSSL says of it depends on who is quicker."""
        authority = Authority(self.folder)
        cloud = self.cloud(authority.issue('server'), authority.path)
        self.each(
            'set certfile and keyfile to a certificate that Keystone accepts',
            cloud,
            cafile=authority.path,
            insecure=False,
        )

    def test_a_password_that_it_does_not_take(self) -> None:
        self.each(remedies.CREDENTIALS, self.cloud(), password='wr0ng')

    def test_no_such_endpoint(self) -> None:
        self.each(remedies.CATALOG, self.cloud(), region_name='two')


class TestService(RemedyTestCase):
    def test_nothing_listens(self) -> None:
        url = f'http://127.0.0.1:{self.free()}/v1'
        for driver, name in (('masakari', 'Masakari'), ('watcher', 'Watcher')):
            self.assertIn(
                f'start {name}, or correct host and port in endpoint_override',
                self.text(driver, self.cloud(), endpoint_override=url),
            )

    def test_a_name_that_dns_does_not_know(self) -> None:
        self.each(
            'correct the host in endpoint_override',
            self.cloud(),
            endpoint_override='http://service.invalid/v1',
        )

    def test_silence(self) -> None:
        for driver, name, path in (
            ('masakari', 'Masakari', '/ha'),
            ('watcher', 'Watcher', '/optim'),
        ):
            cloud = self.cloud()
            cloud.silent = path
            text = self.text(driver, cloud, timeout=0.3)
            self.assertIn(
                'no firewall blocks the endpoint of '
                f'{name} in the Keystone catalog',
                text,
            )

    def test_another_thing_answers(self) -> None:
        """A 404 that is not of an audit, for one."""
        for status in (302, 404, 405):
            for driver in ('masakari', 'watcher'):
                cloud = self.cloud()
                cloud.errors = [(status, 'no page')] * 9
                text = self.text(driver, cloud)
                self.assertIn('another program answers there', text)
                self.assertNotIn('there is no audit', text)
