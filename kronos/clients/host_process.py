# SPDX-License-Identifier: Apache-2.0
"""Which endpoints does the process that loaded Kronos use? The same ones.

Watcher has the interface, the region and the endpoint override of each
service in the service's own group; openstacksdk knows how to read them.
"""

from collections.abc import Callable
from typing import Any

from openstack import connection

from kronos.clients import cloud, nova, placement, wire
from kronos.common import exceptions

GROUPS = ('nova', 'placement')


class HostProcess:
    """Clients with the session and the endpoints of the host process.

    :param get_session: gives its keystoneauth1 session
    :param conf: its configuration; without the groups ``nova`` and
        ``placement`` (Watcher before 17) it is the public endpoints
    """

    def __init__(self, get_session: Callable[[], Any], conf: Any) -> None:
        self._get_session = get_session
        self._conf = conf

    def nova(self) -> nova.NovaClient:
        """:raises NovaClientError: Keystone does not lead to it"""
        return nova.NovaClient(
            self._adapter('compute', exceptions.NovaClientError)
        )

    def placement(self) -> placement.PlacementClient:
        """:raises PlacementClientError: Keystone does not lead to it"""
        return placement.PlacementClient(
            self._adapter('placement', exceptions.PlacementClientError)
        )

    def _adapter(self, name: str, error: type[exceptions.ClientError]) -> Any:
        try:
            return getattr(self._connect(), name)
        except wire.FAILURES as failure:
            raise error(
                reason=f'Keystone does not lead to its endpoint: {failure}',
                status=None,
                transient=True,
                sent=False,
            ) from failure

    def _connect(self) -> connection.Connection:
        session = self._get_session()
        if not all(group in self._conf for group in GROUPS):
            return cloud.connect(session)
        return connection.Connection(
            session=session,
            oslo_conf=self._conf,
            service_types={'compute', 'placement'},
            app_name='kronos',
        )
