# SPDX-License-Identifier: Apache-2.0
"""The Nova client that restarts: stop, cold migrate, confirm, start."""

from kronos.clients.nova.api import Api

FINISHED = 'finished'
"""Status of a cold migration that waits to be confirmed."""


class ServerPower:
    """Requests to Nova for one server at a time; none is waited for.

    Every method raises :class:`~kronos.common.exceptions.NovaClientError`. An
    error whose ``kwargs['sent']`` is None may hide a request that Nova did
    get.

    :param api: of a :class:`.NovaClient`
    """

    def __init__(self, api: Api) -> None:
        self._api = api

    def stop(self, uuid: str) -> str:
        """:returns: the request id; '' if the answer has none"""
        return self._api.act(uuid, {'os-stop': None})

    def start(self, uuid: str) -> str:
        """:returns: as of :meth:`stop`"""
        return self._api.act(uuid, {'os-start': None})

    def migrate(self, uuid: str, host: str) -> str:
        """Cold-migrate it; nova-scheduler checks the host.

        :returns: as of :meth:`stop`
        """
        return self._api.act(uuid, {'migrate': {'host': host}})

    def confirm(self, uuid: str) -> str:
        """Confirm its cold migration.

        :returns: as of :meth:`stop`
        """
        return self._api.act(uuid, {'confirmResize': None})

    def may_be_confirmed(self, uuid: str) -> bool:
        """Whether its cold migration waits for that; Nova may be at it."""
        rows = self._api.cold_migrations(instance_uuid=uuid)
        return not rows or any(status.status == FINISHED for status in rows)
