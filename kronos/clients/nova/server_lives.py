# SPDX-License-Identifier: Apache-2.0
"""The lives of servers: when each was created, and when it was deleted.

For loads and budgets; nothing else asks for servers that are gone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kronos.clients.nova import (
    instance_actions,
    rows,
    schema,
    server_listing,
)
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


def listing(api: Api, since: float, **filters: str) -> Iterator[ServerLife]:
    """The servers that were created, changed or deleted since a time.

    Those that Nova's database does not have any more are not among them, nor
    those that never had a host.

    :param since: Unix seconds
    :param filters: those of Nova
    :raises NovaClientError: they cannot be listed
    """
    for row in api.wire.get_all(
        server_listing.PATH,
        server_listing.KEY,
        api.microversion,
        {'all_tenants': '1', 'changes-since': rows.time_of(since), **filters},
        shape=schema.ServerLife,
    ):
        if not rows.is_partial(row) and row['OS-EXT-SRV-ATTR:host']:
            yield _life(row)


def past_moves(
    api: Api, lives: Iterable[ServerLife], since: float
) -> Iterator[types.Disruption]:
    """The moves since a time of those servers that are gone.

    With a server, Nova deletes the records of its migrations, but not those
    of the requests.

    :param since: Unix seconds
    :raises NovaClientError: the requests for one cannot be listed
    """
    actions = instance_actions.InstanceActions(api)
    for life in lives:
        if life.gone is None or life.gone < since:
            continue
        server = life.instance
        for started in actions.moves_since(server.uuid, since):
            yield types.Disruption(server.uuid, server.project_id, started)


def _life(row: Json) -> ServerLife:
    gone = None
    if row['status'] in DELETED:
        # Nova does not tell when the row was deleted; that was its last
        # change.
        ended = row.get('OS-SRV-USG:terminated_at') or row.get('updated')
        gone = seconds_of(ended)
    return ServerLife(rows.instance(row), gone or None)
