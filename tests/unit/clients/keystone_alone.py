# SPDX-License-Identifier: Apache-2.0
"""Do version documents that are wrong for a moment stay so, or lead away?

keystoneauth keeps them with the plugin, which Watcher has for as long as its
process lives.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import requests
import requests_mock
from keystoneauth1 import adapter as ks_adapter
from keystoneauth1 import session as ks_session

from kronos.clients import keystone as own
from kronos.clients import masakari, neutron
from kronos.common import exceptions
from tests.fakes import keystone
from tests.unit.clients import every_method, login_alone

EVIL = 'evil.example.org'
SERVICES = {
    'compute': keystone.NOVA,
    'placement': keystone.PLACEMENT,
    'image': keystone.GLANCE,
    'network': keystone.NEUTRON,
}
KINDS = {
    'compute': 'NovaClient',
    'placement': 'PlacementClient',
    'image': 'GlanceClient',
}
_BAD = b'{"version": {"id": "v2.1", "status": "CURRENT", "links": %s}}'
DOCUMENTS = (
    *login_alone.BODIES,
    b'5',
    b'{"versions": 5}',
    b'{"versions": "x"}',
    b'{"versions": [null]}',
    b'{"id": "x"}',
    b'{"version": {"id": "v2.1", "status": null, "links": []}}',
    *(_BAD % links for links in (b'null', b'[]', b'[5]')),
    _BAD % b'[{"rel": "self", "href": "http://["}]',
)


def documents(url: str) -> Iterator[bytes]:
    """What is no description of the versions at a URL, or a wrong one."""
    yield from DOCUMENTS
    host = url.split('/')[2]
    for place in (
        f'http://{EVIL}',
        f'https://{EVIL}/x',
        f'//{EVIL}/x',
        f'http://{host}/x',
        f'https://{host}:8443/x',
        f'https://{host}@{EVIL}/x',
        'x',
    ):
        for name, newest in (
            ('v2.1', '2.1'),
            ('v2.17', ''),
            ('v1.0', '1.39'),
            ('vx', ''),
        ):
            version = keystone._version(name, place, newest)
            yield json.dumps({'versions': [version]}).encode()


class VersionsTestCase(login_alone.KeystoneTestCase):
    def setUp(self) -> None:
        super().setUp()
        wire = self.keystone.wire
        for path, key in (
            (f'{keystone.PLACEMENT}/resource_providers', 'resource_providers'),
            (f'{keystone.GLANCE}/v2/images', 'images'),
            (f'{keystone.NEUTRON}/v2.0/extensions', 'extensions'),
        ):
            wire.get(path, json={key: []})
        # Wherever a wrong link leads.
        wire.register_uri(
            requests_mock.ANY, requests_mock.ANY, status_code=404, json={}
        )
        matchers = wire._adapter._matchers
        matchers.insert(0, matchers.pop())

    def answer(self, url: str, body: bytes) -> Callable[[], None]:
        """Until what it returns is called."""
        wire = self.keystone.wire
        made = [wire.get(one, content=body) for one in (url, f'{url}/')]

        def mend() -> None:
            for matcher in made:
                wire._adapter._matchers.remove(matcher)

        return mend

    def check_addresses(self) -> None:
        """No request has left the addresses of the catalog."""
        allowed = {
            tuple(url.split('/')[:3:2])
            for url in (*SERVICES.values(), keystone.AUTH_URL)
        }
        asked = {
            (f'{one.scheme}:', one.netloc)
            for one in self.keystone.wire.request_history
        }
        self.assertEqual(set(), asked - allowed)


class TestServices(VersionsTestCase):
    """With one plugin, which is never made anew."""

    def test_all_is_well_again(self) -> None:
        for name, url in SERVICES.items():
            plugin = login_alone.PLUGINS['password'](keystone.AUTH_URL)
            session = ks_session.Session(plugin)
            failed = 0
            for body in documents(url):
                with self.subTest(f'{name} {body!r}'):
                    mend = self.answer(url, body)
                    failed += self.told(name, session) != ''
                    mend()
                    self.assertEqual('', self.told(name, session))
                    plugin._discovery_cache.clear()
            # Neutron is asked at its endpoint, whatever it says.
            self.assertEqual(name == 'network', failed == 0)
        self.check_addresses()

    def test_a_client_that_lives_on(self) -> None:
        """As those of sinks do."""
        session = own.own(self.keystone.session)
        for name in KINDS:
            client = every_method.one(KINDS[name], session, max_retries=0)
            for body in documents(SERVICES[name]):
                session._discovery_cache.clear()
                with self.subTest(f'{name} {body!r}'):
                    mend = self.answer(SERVICES[name], body)
                    self.said(name, client)
                    mend()
                    self.assertEqual('', self.said(name, client))

    def test_masakari(self) -> None:
        wire, url = self.keystone.wire, 'https://masakari.example.org/v1'
        wire.get(f'{url}/segments', json={'segments': []})
        version = {'version': keystone._version('v1.0', url, '1.3')}
        for one in (url, f'{url}/'):
            wire.get(one, json=version)
        session = own.own(self.keystone.session)
        for body in documents(url):
            with self.subTest(repr(body)):
                mend = self.answer(url, body)
                self.masakari(session, url)
                mend()
                self.assertEqual('', self.masakari(session, url))

    def masakari(self, session: Any, url: str) -> str:
        try:
            client = masakari.connect(
                session, endpoint_override=url, max_retries=0
            )
            list(client.hosts('cmp1'))
        except exceptions.ClientError as error:
            return str(error)
        return ''

    def told(self, name: str, session: Any) -> str:
        """One line of a client that is made anew; '' if all is well."""
        try:
            if name == 'network':
                client = ks_adapter.Adapter(
                    own.own(session), service_type=name
                )
            else:
                client = every_method.one(KINDS[name], session, max_retries=0)
        except exceptions.ClientError as error:
            return self.line(error)
        return self.said(name, client)

    def said(self, name: str, client: Any) -> str:
        ask: dict[str, Callable[[Any], Any]] = {
            'compute': lambda nova: nova.list_aggregates(),
            'placement': lambda placement: placement.headroom(),
            'image': lambda glance: glance.images_named('cirros'),
            'network': neutron.extensions,
        }
        try:
            ask[name](client)
        except exceptions.ClientError as error:
            return self.line(error)
        return ''

    def line(self, error: exceptions.ClientError) -> str:
        text = str(error)
        self.assertEqual(1, len(text.splitlines()))
        return text

    def test_silence_forgets_nothing(self) -> None:
        """Else each try would ask for the versions, too, and wait twice."""
        client = every_method.one(
            'PlacementClient', self.keystone.session, max_retries=0
        )
        client.headroom()
        cache = self.keystone.session.auth._discovery_cache
        self.assertNotEqual({}, cache)
        self.keystone.wire.get(
            f'{keystone.PLACEMENT}/resource_providers',
            exc=requests.ReadTimeout,
        )
        self.assertRaises(exceptions.PlacementClientError, client.headroom)
        self.assertNotEqual({}, cache)


class TestKeystone(VersionsTestCase):
    def test_the_password_stays(self) -> None:
        """With the generic plugins; and all is well again."""
        for name in ('password', 'token'):
            plugin = login_alone.PLUGINS[name](keystone.AUTH_URL)
            session = self.session(plugin)
            for body in documents(keystone.AUTH_URL):
                for version in ('v3.14', 'v2.0'):
                    with self.subTest(f'{name} {body!r}'):
                        text = body.replace(b'v2.17', version.encode())
                        self.of_versions = (200, text)
                        self.ask(session)
                        self.of_versions = None
                        self.assertEqual('', self.ask(session))
                        plugin.auth_ref = plugin._plugin = None
                        plugin._discovery_cache.clear()
        self.check_addresses()
