# SPDX-License-Identifier: Apache-2.0
"""The Neutron client: API extensions, and the ports that tie servers."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NotRequired

from typing_extensions import TypedDict

from kronos.clients import rest
from kronos.clients.schema import Text
from kronos.common import exceptions

VERSION = '/v2.0'
"""The only one; some catalogs have it in the endpoint already."""


REQUEST, VNIC_TYPE = 'resource_request', 'binding:vnic_type'
"""What Neutron shows of a port to administrators alone."""
ACCELERATED = frozenset({'accelerator-direct', 'accelerator-direct-physical'})
RESOURCES, ACCELERATOR = 'a resource request', 'an accelerator'
"""What a port has with which Nova takes no server to another cell."""
PER_CALL = 50
"""So many servers are asked for at a time, which an URL has room for."""


class _Extension(TypedDict):
    alias: str


class _Extensions(TypedDict):
    extensions: list[_Extension]


Port = TypedDict(
    'Port',
    {
        'id': str,
        'device_id': Text,
        # Any mapping, or none: its form depends on Neutron's release.
        'resource_request': NotRequired[dict[str, Any] | None],
        'binding:vnic_type': NotRequired[Text],
    },
)


def extensions(adapter: Any) -> set[str]:
    """Their aliases.

    :param adapter: any keystoneauth1 adapter for the service type
        ``network``
    :raises ClientError: it cannot be asked
    """
    wire, root = _reached(adapter)
    body = wire.get(f'{root}/extensions', '', shape=_Extensions)
    return {extension['alias'] for extension in body['extensions']}


def tied(adapter: Any, servers: Collection[str]) -> dict[str, str]:
    """What ties servers to their cell, by uuid; of most nothing does.

    :param adapter: as of :func:`extensions`
    :param servers: uuids
    :raises ClientError: it cannot be asked
    """
    if not servers:
        return {}
    wire, root = _reached(adapter)
    ties: dict[str, str] = {}
    for uuids in _batches(sorted(servers)):
        query = {
            'device_id': uuids,
            'fields': ['id', 'device_id', REQUEST, VNIC_TYPE],
        }
        for port in wire.get_all(
            f'{root}/ports', 'ports', '', query, shape=Port
        ):
            server = port['device_id']
            if server not in uuids:
                continue
            if port.get(REQUEST):
                ties[server] = RESOURCES
            elif port.get(VNIC_TYPE) in ACCELERATED:
                ties.setdefault(server, ACCELERATOR)
    return ties


def _reached(adapter: Any) -> tuple[rest.Wire, str]:
    """The wire, and what paths begin with."""
    wire = rest.Wire(adapter, exceptions.ClientError)
    with wire.guard('its endpoint cannot be found', sent=False):
        endpoint = adapter.get_endpoint()
    if not endpoint:
        raise wire.failure('the Keystone catalog has no endpoint for it')
    return wire, '' if endpoint.rstrip('/').endswith(VERSION) else VERSION


def _batches(uuids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(uuids), PER_CALL):
        yield uuids[start : start + PER_CALL]
