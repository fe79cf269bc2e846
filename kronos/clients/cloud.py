# SPDX-License-Identifier: Apache-2.0
"""How do the clients come by their endpoints? From a Keystone session."""

from dataclasses import dataclass
from typing import Any

from openstack import connection

from kronos.clients import nova, placement, prometheus, wire
from kronos.common import exceptions


@dataclass
class Clients:
    """One client for each service that Kronos asks."""

    nova: nova.NovaClient
    placement: placement.PlacementClient
    prometheus: prometheus.PrometheusClient


def connect(
    session: Any,
    region_name: str | None = None,
    interface: str | None = 'public',
) -> connection.Connection:
    """An openstacksdk connection on a keystoneauth1 session.

    The session may be shared, such as that of Watcher's
    ``OpenStackClients().session``.
    """
    return connection.Connection(
        session=session,
        region_name=region_name,
        interface=interface,
        app_name='kronos',
    )


def make_clients(
    session: Any,
    prometheus_options: Any,
    region_name: str | None = None,
    interface: str | None = 'public',
) -> Clients:
    """All clients, on one session.

    :param prometheus_options: the group ``[kronos_prometheus]``
    :raises ConfigurationError: its options contradict each other
    :raises ClientError: Keystone does not lead to Nova or Placement
    """
    cloud = connect(session, region_name, interface)
    return Clients(
        nova=nova_of(cloud),
        placement=placement_of(cloud),
        prometheus=prometheus.from_options(prometheus_options, session),
    )


def nova_of(cloud: connection.Connection) -> nova.NovaClient:
    """Nova's client.

    :raises NovaClientError: Keystone refuses, or knows no such service
    """
    # A proxy is made, and Keystone asked, when the attribute is read.
    try:
        return nova.NovaClient(cloud.compute)
    except wire.FAILURES as error:
        raise exceptions.NovaClientError(
            reason=f'Keystone does not lead to it: {error}',
            **wire.facts(transient=True, sent=False),
        ) from error


def placement_of(cloud: connection.Connection) -> placement.PlacementClient:
    """Placement's client.

    :raises PlacementClientError: Keystone refuses, or knows no such service
    """
    try:
        return placement.PlacementClient(cloud.placement)
    except wire.FAILURES as error:
        raise exceptions.PlacementClientError(
            reason=f'Keystone does not lead to it: {error}',
            **wire.facts(transient=True, sent=False),
        ) from error
