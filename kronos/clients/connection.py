# SPDX-License-Identifier: Apache-2.0
"""The connection of the clients to their endpoints, by a Keystone session."""

from collections.abc import Callable, Collection
from typing import Any

from keystoneauth1 import adapter as ks_adapter
from openstack import connection

from kronos.clients import (
    glance,
    keystone,
    neutron,
    placement,
    rest,
    transport,
)
from kronos.clients.nova import client as nova_client
from kronos.common import exceptions

GROUPS = ('nova', 'placement')
"""Where Watcher has each service's interface, region and override; the
names are those that openstacksdk looks for."""

IMAGE, NETWORK = 'image', 'network'
VERSIONS: dict[str, dict[str, str]] = {
    IMAGE: {'min_version': '2', 'max_version': '2.latest'},
    NETWORK: {},
}
"""Of the services that Watcher has no options for."""


def connect(
    session: Any,
    region_name: str | None = None,
    interface: str | None = 'public',
) -> connection.Connection:
    """An openstacksdk connection on a keystoneauth1 session.

    :param session: may be shared, such as that of Watcher's
        ``OpenStackClients().session``: its credentials are taken
    """
    return connection.Connection(
        session=keystone.own(session),
        region_name=region_name,
        interface=interface,
        app_name='kronos',
    )


LOST = 'Keystone does not lead to its endpoint'


class Clients:
    """Clients of one cloud.

    :param connect: gives an openstacksdk connection, anew or the same
    """

    def __init__(self, connect: Callable[[], connection.Connection]) -> None:
        self._connect = connect

    def nova(self) -> nova_client.NovaClient:
        """:raises NovaClientError: Keystone does not lead to it"""
        return nova_client.NovaClient(
            self.adapter('compute', exceptions.NovaClientError)
        )

    def placement(self) -> placement.PlacementClient:
        """:raises PlacementClientError: Keystone does not lead to it"""
        return placement.PlacementClient(
            self.adapter('placement', exceptions.PlacementClientError)
        )

    def glance(self) -> glance.GlanceClient:
        """:raises GlanceClientError: Keystone does not lead to it"""
        return glance.GlanceClient(
            self.adapter('image', exceptions.GlanceClientError)
        )

    def tied_ports(self, servers: Collection[str]) -> dict[str, str]:
        """As :func:`.neutron.tied`.

        :raises ClientError: Neutron cannot be asked
        """
        network = self.adapter(NETWORK, exceptions.ClientError)
        return neutron.tied(network, servers)

    def adapter(self, name: str, error: type[exceptions.ClientError]) -> Any:
        """What a client speaks through.

        :param name: of the connection's proxy
        :raises ClientError: of the type given: no endpoint is found
        """
        with rest.guarded(error, LOST, sent=False, passing=True):
            cloud = self._connect()
        with rest.guarded(
            error, LOST, sent=False, passing=True, adapter=cloud
        ):
            return getattr(cloud, name)


class HostProcess(Clients):
    """Clients with the session and the endpoints of the host process.

    :param get_session: gives its keystoneauth1 session
    :param conf: its configuration; without the groups ``nova`` and
        ``placement`` (Watcher before 17) it is the public endpoints
    :param limits: of each request to Keystone and for versions
    """

    def __init__(
        self,
        get_session: Callable[[], Any],
        conf: Any,
        limits: transport.Limits | None = None,
    ) -> None:
        self._get_session = get_session
        self._conf = conf
        self._limits = limits
        super().__init__(self._connection)

    def _connection(self) -> connection.Connection:
        session = keystone.own(self._get_session(), self._limits)
        if not self._has_groups():
            return connect(session)
        return connection.Connection(
            session=session,
            oslo_conf=self._conf,
            service_types={'compute', 'placement'},
            app_name='kronos',
        )

    def adapter(self, name: str, error: type[exceptions.ClientError]) -> Any:
        """As of :class:`Clients`; Glance and Neutron by those of ``[nova]``.

        Watcher has none for them. Nor is it a proxy of openstacksdk: one that
        found no service at first would never look again.
        """
        if name not in VERSIONS:
            return super().adapter(name, error)
        interfaces, region = ['public'], None
        if self._has_groups():
            nova = self._conf.nova
            interfaces, region = nova.valid_interfaces, nova.region_name
        with rest.guarded(error, LOST, sent=False, passing=True):
            adapter = ks_adapter.Adapter(
                keystone.own(self._get_session(), self._limits),
                service_type=name,
                interface=interfaces,
                region_name=region,
                **VERSIONS[name],
            )
            # So that a Keystone that is away is told as such.
            adapter.get_token()
            return adapter

    def _has_groups(self) -> bool:
        return all(group in self._conf for group in GROUPS)
