# SPDX-License-Identifier: Apache-2.0
"""The migrations that Nova knows: one listing for all who read them."""

from collections.abc import Iterator

from kronos.clients import rest
from kronos.clients.nova import schema
from kronos.clients.nova.api import Api


def listing(api: Api, **filters: str) -> Iterator[rest.Json]:
    """Migrations of any type, the newest first.

    :param filters: Nova's, such as ``status``
    """
    return api.wire.get_all(
        '/os-migrations',
        'migrations',
        api.microversion,
        filters,
        id_field='uuid',
        shape=schema.Migration,
    )
