# SPDX-License-Identifier: Apache-2.0
"""A Keystone in this process, whose catalog leads to the services of a cloud.

For Watcher before 17, where Kronos has no options for Nova and Placement.
"""

import json

import fixtures
from keystoneauth1 import fixture as ks_fixture
from wsgi_intercept import interceptor

URL = 'http://keystone.example:80'
OPTIONS = f"""
[watcher_clients_auth]
auth_type = v3password
auth_url = {URL}/v3
username = watcher
password = unused
user_domain_id = default
project_name = service
project_domain_id = default
"""


class Keystone(fixtures.Fixture):
    """:param endpoints: service type to address"""

    def __init__(self, endpoints):
        super().__init__()
        self._token = ks_fixture.V3Token()
        self._token.set_project_scope()
        for kind, address in endpoints.items():
            service = self._token.add_service(kind)
            service.add_standard_endpoints(public=address, region='one')

    def _setUp(self):
        intercept = interceptor.RequestsInterceptor(
            lambda: self._application, url=f'{URL}/'
        )
        intercept.install_intercept()
        self.addCleanup(intercept.uninstall_intercept)

    def _application(self, environ, start_response):
        status, headers, body = '200 OK', [], {'version': {'id': 'v3.14'}}
        if environ['PATH_INFO'] == '/v3/auth/tokens':
            status, body = '201 Created', self._token
            headers = [('X-Subject-Token', 'a-token')]
        data = json.dumps(body).encode()
        headers += [
            ('Content-Type', 'application/json'),
            ('Content-Length', str(len(data))),
        ]
        start_response(status, headers)
        return [data]
