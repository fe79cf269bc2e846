# SPDX-License-Identifier: Apache-2.0
"""Nova's API: the wire to it, its microversion, and what all clients ask."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib import parse

from kronos.clients import rest
from kronos.clients.nova import rows, schema
from kronos.common import exceptions

MINIMUM = (2, 68)
"""Live migration without ``force``: the scheduler always checks."""
WANTED = (2, 100)
"""2.84 tells refusals, 2.96 pinned zones, 2.98 image properties."""
COLD = frozenset({'migration', 'resize'})
"""Types of a migration that waits to be confirmed."""


class Api:
    """The way to Nova that all its clients share: wire and microversion.

    Every method raises :class:`~kronos.common.exceptions.NovaClientError`
    whose ``kwargs`` are those of :class:`~kronos.clients.rest.Wire`.

    :param compute: an openstacksdk compute proxy, or any keystoneauth1
        adapter for the service type ``compute``
    :param options: of :class:`~kronos.clients.rest.Wire`
    """

    def __init__(self, compute: Any, **options: Any) -> None:
        self.wire = rest.Wire(compute, exceptions.NovaClientError, **options)
        self._version = ''
        self._user: str | None = None

    @property
    def microversion(self) -> str:
        """The one in use: Nova's newest, at most 2.100.

        :raises NovaClientError: Nova's newest is older than 2.68
        """
        if not self._version:
            newest = self._newest()
            if newest < MINIMUM:
                raise self.wire.failure(
                    f'its newest microversion is {_dotted(newest)}; Kronos '
                    f'needs {_dotted(MINIMUM)} (the scheduler must check '
                    'the destination); upgrade Nova'
                )
            self._version = _dotted(min(newest, WANTED))
        return self._version

    @property
    def user_id(self) -> str:
        """Id of the user as whom Kronos asks; '' if there is none.

        :raises NovaClientError: Keystone is away
        """
        if self._user is None:
            adapter = self.wire.adapter
            with self.wire.guard('its user is not known', sent=False):
                is_known = adapter.session.auth or adapter.auth
                self._user = is_known and adapter.get_user_id() or ''
        return self._user

    def is_at_least(self, microversion: tuple[int, int]) -> bool:
        """Whether Nova has a microversion, spoken or not.

        :raises NovaClientError: Nova does not tell its newest
        """
        return self._newest() >= microversion

    def get(
        self, path: str, query: Mapping[str, Any] | None = None, *, shape: Any
    ) -> Any:
        """As :meth:`.Wire.get`."""
        return self.wire.get(path, self.microversion, query, shape=shape)

    def find(
        self, path: str, query: Mapping[str, Any] | None = None, *, shape: Any
    ) -> Any:
        """As :meth:`get`; None if Nova has nothing of that name (404)."""
        try:
            return self.get(path, query, shape=shape)
        except exceptions.NovaClientError as error:
            if error.kwargs['status'] == 404:
                return None
            raise

    def act(self, uuid: str, body: dict[str, Any]) -> str:
        """Ask for an action of a server.

        :returns: the request id; '' if the answer has none
        """
        return self._act(uuid, body)[0]

    def begin_move(self, uuid: str, body: dict[str, Any]) -> str:
        """As :meth:`act`; an answer that has no id was lost."""
        request, status = self._act(uuid, body)
        if not request:
            # It came from something in between that gave up on Nova.
            raise self.wire.failure(
                f'request to move server {uuid}: the answer was lost (HTTP '
                f'{status} without a request id)',
                transient=True,
            )
        return request

    def _act(self, uuid: str, body: dict[str, Any]) -> tuple[str, int]:
        path = f'/servers/{quoted(uuid)}/action'
        response = self.wire.send('POST', path, self.microversion, body)
        request = response.headers.get('x-compute-request-id')
        return str(request or ''), response.status_code

    def migrations(self, **filters: str) -> Iterator[rest.Json]:
        """Migrations of any type, the newest first.

        :param filters: Nova's, such as ``status``
        """
        return self.wire.get_all(
            '/os-migrations',
            'migrations',
            self.microversion,
            filters,
            id_field='uuid',
            shape=schema.Migration,
        )

    def cold_migrations(self, **filters: str) -> list[rows.MigrationStatus]:
        """The cold ones, the newest first, each uuid once.

        A move between cells has a row in either, and both have its uuid.

        :param filters: as of :meth:`migrations`
        """
        by_uuid: dict[str, rows.MigrationStatus] = {}
        for row in self.migrations(**filters):
            if row.get('migration_type') in COLD:
                by_uuid.setdefault(row['uuid'], rows.migration(row))
        return sorted(
            by_uuid.values(),
            key=lambda status: status.created_at,
            reverse=True,
        )

    def untold(self, uuid: str) -> exceptions.ClientError:
        """The error of a server whose host Nova does not tell."""
        return self.wire.failure(
            f'does not show the host of server {uuid}: its cell is down, or '
            'the user of Kronos is no administrator',
            transient=True,
        )

    def _newest(self) -> tuple[int, int]:
        newest = self._discovered()
        if not newest:
            # keystoneauth does not say why; Nova may be away for a moment.
            self._require_answer()
            newest = self._discovered()
        if not newest:
            raise self.wire.failure(
                'the compute endpoint reports no microversions; does the '
                'Keystone catalog have an endpoint of type compute that ends '
                'in /v2.1?'
            )
        return newest[0], newest[1]

    def _discovered(self) -> Any:
        with self.wire.guard('its endpoint cannot be found', passing=True):
            data = self.wire.adapter.get_endpoint_data()
            newest = data.max_microversion if data else None
            return tuple(map(int, newest[:2])) if newest else None

    def _require_answer(self) -> None:
        """:raises NovaClientError: Nova is away, which may pass"""
        try:
            self.wire.get('/', '2.1', shape=dict[str, Any])
        except exceptions.NovaClientError as error:
            if error.kwargs['transient']:
                raise


def _dotted(version: tuple[int, int]) -> str:
    return f'{version[0]}.{version[1]}'


def quoted(part: str) -> str:
    return parse.quote(part, safe='')
