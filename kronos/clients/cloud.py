# SPDX-License-Identifier: Apache-2.0
"""How do the clients come by their endpoints? From a Keystone session."""

from dataclasses import dataclass
from typing import Any

from openstack import connection

from kronos.clients import nova, placement, prometheus


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
    """
    cloud = connect(session, region_name, interface)
    return Clients(
        nova=nova.NovaClient(cloud.compute),
        placement=placement.PlacementClient(cloud.placement),
        prometheus=prometheus.from_options(prometheus_options, session),
    )
