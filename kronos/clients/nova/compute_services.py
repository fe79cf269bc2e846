# SPDX-License-Identifier: Apache-2.0
"""The Nova client that closes and opens hosts: their nova-compute services."""

from typing import Any

from kronos.clients.nova import schema
from kronos.clients.nova.api import Api, quoted

COMPUTE = 'nova-compute'
LONGEST_REASON = 255
"""Characters; Nova refuses a longer one."""


class ComputeServices:
    """The nova-compute services, as far as Kronos changes them.

    :param api: of a :class:`.NovaClient`
    """

    def __init__(self, api: Api) -> None:
        self._api = api

    def disable(self, host: str, reason: str) -> None:
        """Let nova-scheduler place nothing on a host any more.

        Servers there go on. To disable one that is disabled changes its
        reason alone.

        :raises NovaClientError: also when there is no such service
        """
        self._set(
            host,
            {
                'status': 'disabled',
                'disabled_reason': reason[:LONGEST_REASON],
            },
        )

    def enable(self, host: str) -> None:
        """Let nova-scheduler place servers on a host again.

        :raises NovaClientError: also when there is no such service
        """
        self._set(host, {'status': 'enabled'})

    def _set(self, host: str, body: dict[str, Any]) -> None:
        self._api.wire.send(
            'PUT',
            f'/os-services/{quoted(self._id_of(host))}',
            self._api.microversion,
            body,
        )

    def _id_of(self, host: str) -> str:
        body = self._api.get(
            '/os-services',
            {'binary': COMPUTE, 'host': host},
            shape=schema.ServiceIds,
        )
        for service in body['services']:
            if (service['host'], service['binary']) == (host, COMPUTE):
                return str(service['id'])
        raise self._api.wire.failure(f'has no {COMPUTE} service on {host}')
