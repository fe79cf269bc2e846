# SPDX-License-Identifier: Apache-2.0
"""The lives of servers: when each was created, and when it was deleted.

For loads; planning asks for no server that is gone.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from kronos.clients.nova import rows, schema, server_listing
from kronos.clients.nova.api import Api
from kronos.clients.rest import Json
from kronos.clients.schema import seconds_of
from kronos.engine import types

DELETED = frozenset({'DELETED', 'SOFT_DELETED'})
"""Of a server that may be restored, the guest is off all the same."""


@dataclass
class ServerLife:
    """A server, and when it lived."""

    instance: types.Instance
    """With when it was created; of one that is gone, with the host that it was
    on at the end."""
    gone: float | None = None
    """Unix seconds; None: it lives."""


def listing(api: Api, since: float) -> Iterator[ServerLife]:
    """The servers that were created, changed or deleted since a time.

    Those that Nova's database does not have any more are not among them, nor
    those that never had a host.

    :param since: Unix seconds
    :raises NovaClientError: they cannot be listed
    """
    for row in api.wire.get_all(
        server_listing.PATH,
        server_listing.KEY,
        api.microversion,
        {'all_tenants': '1', 'changes-since': rows.time_of(since)},
        shape=schema.ServerLife,
    ):
        if not rows.is_partial(row) and row['OS-EXT-SRV-ATTR:host']:
            yield _life(row)


def _life(row: Json) -> ServerLife:
    gone = None
    if row['status'] in DELETED:
        # Nova does not tell when the row was deleted; that was its last
        # change.
        ended = row.get('OS-SRV-USG:terminated_at') or row.get('updated')
        gone = seconds_of(ended)
    return ServerLife(rows.instance(row), gone or None)
