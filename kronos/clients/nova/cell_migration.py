# SPDX-License-Identifier: Apache-2.0
"""The Nova client that moves servers to other cells: it asks and follows.

Nova does it by a cold migration or a resize, which wait for somebody to
confirm or to revert them.
"""

from kronos.clients.nova.api import Api, quoted
from kronos.clients.nova.instance_actions import (
    MIGRATE,
    RESIZE,
    InstanceActions,
)
from kronos.clients.nova.rows import MigrationStatus
from kronos.clients.nova.server_power import ServerPower

PINNING = '2.104'
"""The first microversion that pins servers to a zone, and unpins them."""


class CellMigration(ServerPower):
    """Cold migrations and resizes: asked for, followed and ended here.

    Every method raises :class:`~kronos.common.exceptions.NovaClientError`. An
    error whose ``kwargs['sent']`` is None may hide a request that Nova did
    get.

    :param api: of a :class:`.NovaClient`
    """

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.actions = InstanceActions(api)

    def migrate(self, uuid: str, host: str) -> str:
        """Ask Nova to move a server to a host; its scheduler checks it.

        :returns: the request id
        :raises NovaClientError: refused at once: HTTP 400 (no such host, or
            it may not leave its cell), 404, 409 (the server's state)
        """
        return self._api.begin_move(uuid, {'migrate': {'host': host}})

    def resize(self, uuid: str, flavor: str) -> str:
        """Ask Nova for another flavor; it chooses the host.

        :param flavor: its id
        :returns: the request id
        :raises NovaClientError: as of :meth:`migrate`; 403: over quota
        """
        body = {'resize': {'flavorRef': flavor}}
        return self._api.begin_move(uuid, body)

    def revert(self, uuid: str) -> str:
        """:returns: as of :meth:`.ServerPower.confirm`"""
        return self._api.act(uuid, {'revertResize': None})

    def set_active(self, uuid: str) -> str:
        """Set the row of a server to ACTIVE, without a task.

        :returns: as of :meth:`.ServerPower.confirm`
        """
        return self._api.act(uuid, {'os-resetState': {'state': 'active'}})

    def reboot(self, uuid: str) -> str:
        """Make its guest anew, from its disks.

        :returns: as of :meth:`.ServerPower.confirm`
        """
        return self._api.act(uuid, {'reboot': {'type': 'HARD'}})

    def pin(self, uuid: str, zone: str | None) -> None:
        """Pin a server to an availability zone, or to none (None).

        :raises NovaClientError: also where Nova is older than 2.104
        """
        self._api.wire.send(
            'PUT',
            f'/servers/{quoted(uuid)}',
            PINNING,
            {'server': {'pinned_availability_zone': zone}},
        )

    def migrations_of(self, uuid: str) -> list[MigrationStatus]:
        """The cold ones of a server, the newest first, each uuid once."""
        return self._api.cold_migrations(instance_uuid=uuid)

    def requests_of(self, uuid: str) -> list[str]:
        """Ids of all requests for such a move, the newest first."""
        return self.actions.requests(uuid, (MIGRATE, RESIZE))

    def own_requests(self, uuid: str, is_resize: bool) -> list[str]:
        """Ids of those of one kind by Kronos' own user, the newest first.

        A request whose answer was lost is among them once Nova took it. If
        Kronos has no user they are of anybody.
        """
        kind = RESIZE if is_resize else MIGRATE
        return self.actions.requests(uuid, (kind,), self._api.user_id)

    def has_failed(self, uuid: str, request_id: str) -> bool:
        """Whether a part of a request failed after Nova had accepted it."""
        action = self.actions.action(uuid, request_id)
        return any(
            event.get('result') == 'Error' for event in action['events']
        )
