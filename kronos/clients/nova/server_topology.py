# SPDX-License-Identifier: Apache-2.0
"""The NUMA topology of a server, with the nodes of its host."""

from kronos.clients.nova import schema
from kronos.clients.nova.api import Api, quoted
from kronos.common import exceptions
from kronos.engine.slots.numa_facts import PlacedNode, ServerTopology

FIRST = (2, 78)
"""The microversion that shows it."""


class ServerTopologies:
    """Asks Nova for them, one server a request: there is no listing.

    :param api: of a :class:`.NovaClient`
    """

    def __init__(self, api: Api) -> None:
        self._api = api

    def get(self, uuid: str) -> ServerTopology | None:
        """The topology of a server; one without nodes if it has none.

        :returns: None: Nova does not show it, or not the nodes of the host,
            which are for administrators
        :raises NovaClientError: Nova is away
        """
        if not self._api.is_at_least(FIRST):
            return None
        path = f'/servers/{quoted(uuid)}/topology'
        try:
            body = self._api.get(path, shape=schema.ServerTopology)
        except exceptions.NovaClientError as error:
            if error.kwargs['transient']:
                raise
            return None
        nodes = body['nodes']
        if any('host_node' not in node for node in nodes):
            return None
        placed = [
            PlacedNode(
                node['host_node'],
                len(node['vcpu_set']),
                node['memory_mb'],
                len(node.get('cpu_pinning') or {}),
            )
            for node in nodes
        ]
        return ServerTopology(placed, body.get('pagesize_kb'))
