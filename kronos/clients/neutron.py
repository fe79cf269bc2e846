# SPDX-License-Identifier: Apache-2.0
"""The Neutron client: which extensions of its API it has."""

from typing import Any

from typing_extensions import TypedDict

from kronos.clients import rest
from kronos.common import exceptions

VERSION = '/v2.0'
"""The only one; some catalogs have it in the endpoint already."""


class _Extension(TypedDict):
    alias: str


class _Extensions(TypedDict):
    extensions: list[_Extension]


def extensions(adapter: Any) -> set[str]:
    """Their aliases.

    :param adapter: any keystoneauth1 adapter for the service type
        ``network``
    :raises ClientError: it cannot be asked
    """
    wire = rest.Wire(adapter, exceptions.ClientError)
    with wire.guard('its endpoint cannot be found', sent=False):
        endpoint = adapter.get_endpoint()
    if not endpoint:
        raise wire.failure('the Keystone catalog has no endpoint of it')
    is_whole = endpoint.rstrip('/').endswith(VERSION)
    path = '/extensions' if is_whole else f'{VERSION}/extensions'
    body = wire.get(path, '', shape=_Extensions)
    return {one['alias'] for one in body['extensions']}
