# SPDX-License-Identifier: Apache-2.0
"""The Nova client that restarts: stop, cold migrate, confirm, start."""

from typing import Any

from kronos.clients.nova.api import Api, quoted


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
        return self._ask(uuid, {'os-stop': None})

    def start(self, uuid: str) -> str:
        """:returns: as of :meth:`stop`"""
        return self._ask(uuid, {'os-start': None})

    def migrate(self, uuid: str, host: str) -> str:
        """Cold-migrate it; nova-scheduler checks the host.

        :returns: as of :meth:`stop`
        """
        return self._ask(uuid, {'migrate': {'host': host}})

    def confirm(self, uuid: str) -> str:
        """Confirm its cold migration.

        :returns: as of :meth:`stop`
        """
        return self._ask(uuid, {'confirmResize': None})

    def _ask(self, uuid: str, body: dict[str, Any]) -> str:
        response = self._api.wire.send(
            'POST',
            f'/servers/{quoted(uuid)}/action',
            self._api.microversion,
            body,
        )
        return str(response.headers.get('x-compute-request-id') or '')
