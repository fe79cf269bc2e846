# SPDX-License-Identifier: Apache-2.0
"""The migrations that Nova knows: one listing for all who read them."""

from collections.abc import Iterator

from kronos.clients import rest
from kronos.clients.nova import rows, schema
from kronos.clients.nova.api import Api
from kronos.clients.nova.rows import MigrationStatus

COLD = frozenset({'migration', 'resize'})
"""Types of a migration that waits to be confirmed."""


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


def cold(api: Api, **filters: str) -> list[MigrationStatus]:
    """The cold ones, the newest first, each uuid once.

    A move between cells has a row in either, and both have its uuid.

    :param filters: as of :func:`listing`
    """
    by_uuid: dict[str, MigrationStatus] = {}
    for row in listing(api, **filters):
        if row.get('migration_type') in COLD:
            by_uuid.setdefault(row['uuid'], rows.migration(row))
    return sorted(
        by_uuid.values(), key=lambda status: status.created_at, reverse=True
    )
