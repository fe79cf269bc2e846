# SPDX-License-Identifier: Apache-2.0
"""Watcher's API in process, at an address for the openstack client."""

from typing import Any

import fixtures
from watcher.api import app
from wsgi_intercept import interceptor

from tests import openstack_client

API = 'http://watcher.example.org:80/'
ROLES = {'of-an-admin': 'admin', 'of-a-reader': 'reader'}
"""By token."""


class Gate:
    """Tells Watcher the roles of a token, as keystonemiddleware would."""

    def __init__(self) -> None:
        self._api = app.VersionSelectorApplication()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        environ['HTTP_X_ROLES'] = ROLES[environ['HTTP_X_AUTH_TOKEN']]
        environ['HTTP_X_USER_ID'] = environ['HTTP_X_PROJECT_ID'] = 'x'
        return self._api(environ, start_response)


class ClientApi(fixtures.Fixture):
    def _setUp(self) -> None:
        api = interceptor.RequestsInterceptor(Gate, url=API)
        api.install_intercept()
        self.addCleanup(api.uninstall_intercept)

    def client(
        self, token: str, **options: str
    ) -> openstack_client.OpenStackClient:
        """:param options: more that its clouds.yaml has"""
        cloud = {
            'auth_type': 'admin_token',
            'auth': {'endpoint': API, 'token': token},
            **options,
        }
        return openstack_client.OpenStackClient(cloud)
