# SPDX-License-Identifier: Apache-2.0
"""A real Nova and Placement in this process, and Kronos' clients on it."""

import sys
import time
from collections.abc import Callable
from typing import Any

import fixtures
import nova.conf
from keystoneauth1 import adapter, plugin, session
from nova import context
from nova.tests.functional import integrated_helpers
from openstack import connection

from kronos.clients import placement as placement_client
from kronos.clients.nova import client as nova_client
from kronos.clients.nova import live_migration

CONF = nova.conf.CONF
PATIENCE_SECONDS = 90


class NoKeystone(plugin.BaseAuthPlugin):
    """Tells Nova's stubbed Keystone middleware who asks."""

    def __init__(self, api: Any) -> None:
        super().__init__()
        self._api = api

    def get_token(self, session: Any, **kwargs: Any) -> str:
        return 'unused'

    def get_headers(self, session: Any, **kwargs: Any) -> dict[str, str]:
        return {
            'X-Auth-User': self._api.auth_user,
            'X-Auth-Project-Id': self._api.project_id,
            'X-Roles': ','.join(self._api.roles),
        }

    def get_endpoint(self, session: Any, **kwargs: Any) -> str:
        return str(self._api.base_url)


class NovaTestCase(integrated_helpers.ProviderUsageBaseTestCase):
    """Three hosts, ``self.nova`` and ``self.placement_client``."""

    compute_driver = 'fake.MediumFakeDriver'
    hosts = ('host1', 'host2', 'host3')

    def setUp(self) -> None:
        # The wheel puts it below the prefix, Nova's fixture looks beside
        # the package.
        CONF.set_override(
            'api_paste_config',
            f'{sys.prefix}/etc/nova/api-paste.ini',
            group='wsgi',
        )
        super().setUp()
        self.flags(instances=-1, cores=-1, ram=-1, group='quota')
        for host in self.hosts:
            self._start_compute(host)
        # Nova's stub of the Keystone middleware forgets the request id.
        self.useFixture(
            fixtures.MonkeyPatch(
                'nova.api.auth.NovaKeystoneContext._create_context',
                _context_of,
            )
        )
        cloud = connection.Connection(
            session=session.Session(auth=NoKeystone(self.admin_api)),
            compute_endpoint_override=self.admin_api.base_url,
            force_ipv4=True,
        )
        self.nova = nova_client.NovaClient(cloud.compute, retry_backoff=0)
        self.live_migration = live_migration.LiveMigration(self.nova.api)
        self.placement_client = placement_client.PlacementClient(
            adapter.Adapter(
                session.Session(auth=plugin_for(self.placement.fixture)),
                service_type='placement',
                endpoint_override=self.placement.fixture.endpoint,
            ),
            retry_backoff=0,
        )

    def boot(self, host: str | None = None, **kwargs: Any) -> dict[str, Any]:
        """A server that is ACTIVE, on the host if one is named."""
        server: dict[str, Any] = self._create_server(
            host=host, networks='none', **kwargs
        )
        return server

    def flavor(self, **extra_specs: str) -> str:
        """Id of a new flavor: 2 VCPUs, 512 MiB, 3 GB with everything."""
        return str(
            self._create_flavor(
                vcpu=2,
                memory_mb=512,
                disk=1,
                ephemeral=1,
                swap=1000,
                extra_spec=extra_specs,
            )
        )

    def set_service(self, host: str, **changes: Any) -> None:
        """Change the nova-compute of a host, as an operator does."""
        [service] = self.admin_api.get_services(
            binary='nova-compute', host=host
        )
        self.admin_api.put_service(service['id'], changes)

    def until(self, what: str, condition: Callable[[], Any]) -> Any:
        """Wait for a condition; fail by name if it never comes true."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            result = condition()
            if result:
                return result
            time.sleep(0.05)
        return self.fail(f'never: {what}')


class _Token(plugin.BaseAuthPlugin):
    def __init__(self, token: str) -> None:
        super().__init__()
        self._token = token

    def get_token(self, session: Any, **kwargs: Any) -> str:
        return self._token


def _context_of(env: dict[str, Any], **kwargs: Any) -> Any:
    return context.RequestContext(
        env['HTTP_X_AUTH_USER'],
        env['HTTP_X_AUTH_PROJECT_ID'],
        is_admin=env['HTTP_X_AUTH_USER'] == 'admin',
        roles=env['HTTP_X_ROLES'].split(','),
        request_id=env['openstack.request_id'],
        **kwargs,
    )


def plugin_for(fixture: Any) -> plugin.BaseAuthPlugin:
    """Credentials for a Placement fixture."""
    return _Token(fixture.token)
