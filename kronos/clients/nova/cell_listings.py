# SPDX-License-Identifier: Apache-2.0
"""The listings that only a cell drain needs: flavors, quotas, shares.

And the servers that are on no host, of which no API tells the cell, and the
cold migrations that are not over.
"""

from collections.abc import Collection

from kronos.clients.nova import rows, schema
from kronos.clients.nova.api import Api, quoted
from kronos.clients.nova.instance_actions import InstanceActions
from kronos.clients.nova.rows import MigrationStatus
from kronos.engine.types import Flavor

SHARES = '2.97'
"""The first microversion that tells the shares of a server."""
KEEPS_KEYS = (2, 104)
"""The first microversion of Nova 34, which takes key pairs to another cell."""
OFFLOADED = 'SHELVED_OFFLOADED'
UNCONFIRMED = 'finished'
"""Status of a cold migration that waits to be confirmed."""


class CellListings:
    """Asks Nova for them.

    What it raises is a
    :class:`~kronos.common.exceptions.NovaClientError`.
    """

    def __init__(self, api: Api) -> None:
        self._api = api

    def flavors(self) -> list[Flavor]:
        """All of the cloud, public or not."""
        listing = self._api.wire.get_all(
            '/flavors/detail',
            'flavors',
            self._api.microversion,
            {'is_public': 'None'},
            shape=schema.FlavorDetail,
        )
        return [rows.flavor(row) for row in listing]

    def flavor(self, flavor_id: str) -> Flavor | None:
        """The flavor of an id; None if there is none (any more)."""
        path = f'/flavors/{quoted(flavor_id)}'
        body = self._api.find(path, shape=schema.OneFlavor)
        return body and rows.flavor(body['flavor'])

    def quota_left(self, project: str) -> dict[str, int]:
        """What a project may still use, of ``cores`` and ``ram`` (MiB).

        What has no limit is not in it.
        """
        body = self._api.get(
            f'/os-quota-sets/{quoted(project)}/detail', shape=schema.Quotas
        )
        return {
            name: row['limit'] - row['in_use'] - row.get('reserved', 0)
            for name, row in body['quota_set'].items()
            if row['limit'] >= 0
        }

    def has_shares(self, uuid: str) -> bool:
        """Whether Manila shares are attached to a server.

        A Nova that knows none has none.
        """
        if _number(self._api.microversion) < _number(SHARES):
            return False
        path = f'/servers/{quoted(uuid)}/shares'
        body = self._api.find(path, shape=schema.Shares)
        return bool(body and body['shares'])

    def loses_keys(self) -> bool:
        """Whether its release takes no key pair to another cell.

        The API shows the name of the key all the same.
        """
        return not self._api.is_at_least(KEEPS_KEYS)

    def offloaded(self) -> dict[str, str]:
        """Names of the servers that are SHELVED_OFFLOADED, by uuid."""
        listing = self._api.wire.get_all(
            '/servers/detail',
            'servers',
            self._api.microversion,
            {'all_tenants': '1', 'status': OFFLOADED},
            shape=schema.Server,
        )
        return {
            row['id']: row.get('name') or ''
            for row in listing
            if row['status'] == OFFLOADED
        }

    def cold_migrations(self, uuid: str) -> list[MigrationStatus]:
        """The cold migrations of a server, the newest first."""
        return self._api.cold_migrations(instance_uuid=uuid)

    def is_moved_by(self, uuid: str, requests: Collection[str]) -> bool:
        """As :meth:`.InstanceActions.is_moved_by`."""
        return InstanceActions(self._api).is_moved_by(uuid, requests)

    def unconfirmed(self) -> list[MigrationStatus]:
        """All cold migrations that wait to be confirmed, the newest first."""
        return [
            status
            for status in self._api.cold_migrations(status=UNCONFIRMED)
            if status.status == UNCONFIRMED
        ]


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split('.')))
