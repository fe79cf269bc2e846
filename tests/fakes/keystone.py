# SPDX-License-Identifier: Apache-2.0
"""A Keystone at the wire, and adapters that found their service there."""

from typing import Any

import fixtures
import requests_mock
from keystoneauth1 import fixture as ks_fixture
from keystoneauth1 import session
from keystoneauth1.identity import v3

AUTH_URL = 'https://keystone.example.org/v3'
NOVA = 'https://nova.example.org/v2.1'
PLACEMENT = 'https://placement.example.org/placement'
GLANCE = 'https://glance.example.org'
NEUTRON = 'https://neutron.example.org'


class Keystone(fixtures.Fixture):
    """``wire`` is a requests_mock mocker, ``session`` a session on it."""

    def __init__(self, newest: str = '2.104') -> None:
        self._newest = newest

    def _setUp(self) -> None:
        self.wire = requests_mock.Mocker()
        self.wire.start()
        self.addCleanup(self.wire.stop)
        token = ks_fixture.V3Token()
        token.set_project_scope()
        for kind, url in (
            ('compute', NOVA),
            ('placement', PLACEMENT),
            ('image', GLANCE),
            ('network', NEUTRON),
        ):
            service = token.add_service(kind)
            service.add_standard_endpoints(public=url, region='one')
        self.wire.get(
            AUTH_URL, json={'version': _version('v3.14', AUTH_URL, '')}
        )
        self.wire.post(
            f'{AUTH_URL}/auth/tokens',
            json=token,
            headers={'X-Subject-Token': 'ks-token'},
        )
        versions = {'version': _version('v2.1', NOVA, self._newest)}
        for url in (NOVA, f'{NOVA}/'):
            self.wire.get(url, json=versions)
        self.wire.get(
            PLACEMENT,
            json={'versions': [_version('v1.0', PLACEMENT, '1.39')]},
        )
        self.wire.get(
            GLANCE,
            status_code=300,
            json={'versions': [_version('v2.17', f'{GLANCE}/v2', '')]},
        )
        self.session = session.Session(
            v3.Password(
                AUTH_URL,
                username='kronos',
                password='s3cret',
                user_domain_id='default',
                project_name='service',
                project_domain_id='default',
            )
        )

    def requests(self, path: str = '') -> list[Any]:
        """The requests so far whose path ends so, but for Keystone's."""
        return [
            request
            for request in self.wire.request_history
            if request.path.endswith(path)
            and 'keystone' not in request.hostname
        ]


def _version(name: str, url: str, newest: str) -> dict[str, Any]:
    return {
        'id': name,
        'status': 'CURRENT',
        'version': newest,
        'max_version': newest,
        'min_version': newest and '1.0',
        'links': [{'rel': 'self', 'href': f'{url}/'}],
    }
