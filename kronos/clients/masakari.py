# SPDX-License-Identifier: Apache-2.0
"""The Masakari client: notifications, and the segments of hosts."""

import datetime
from collections.abc import Iterator, Mapping
from typing import Any
from urllib import parse

from openstack import connection
from openstack import exceptions as sdk_exceptions
from typing_extensions import TypedDict

from kronos.clients import keystone, paging, rest, schema
from kronos.common import exceptions

MICROVERSION = '1.0'
_PAGE = 1000
"""Rows that Masakari gives at once, unless its ``osapi_max_limit`` is less."""
SERVICE_TYPE = 'instance-ha'
TYPE = 'VM'
"""Of a notification of a server."""


class _Segment(TypedDict):
    uuid: str


class _Host(TypedDict):
    uuid: str
    name: str
    on_maintenance: bool


class MasakariClient:
    """Masakari's notifications and segments.

    Every method raises :class:`~kronos.common.exceptions.ClientError`, whose
    ``kwargs`` are those of :class:`~kronos.clients.rest.Wire`.

    :param asked: openstacksdk's proxy of the service ``instance-ha``
    :param options: of :class:`~kronos.clients.rest.Wire`
    """

    def __init__(self, endpoint: Any, **options: Any) -> None:
        self._wire = rest.Wire(endpoint, exceptions.ClientError, **options)

    @property
    def endpoint(self) -> str:
        """As Keystone's catalog, or its override, has it."""
        with self._wire.guard('Keystone', sent=False):
            return str(self._wire.adapter.get_endpoint() or '')

    def notify(
        self,
        host: str,
        failed_at: datetime.datetime,
        payload: Mapping[str, str],
    ) -> None:
        """Tell of a server.

        :param host: as its segment names it
        :param failed_at: when it failed, in UTC
        :param payload: Masakari takes ``event``, ``instance_uuid`` and
            ``vir_domain_event``, and no other key
        """
        notification = {
            'type': TYPE,
            'hostname': host,
            'generated_time': failed_at.strftime('%Y-%m-%dT%H:%M:%S.%f'),
            'payload': dict(payload),
        }
        self._wire.send(
            'POST',
            '/notifications',
            MICROVERSION,
            {'notification': notification},
        )

    def hosts(self, name: str) -> Iterator[rest.Json]:
        """The hosts of that name in all segments, with ``on_maintenance``."""
        for segment in self._all('/segments', 'segments', _Segment):
            path = f'/segments/{parse.quote(segment["uuid"], safe="")}/hosts'
            for host in self._all(path, 'hosts', _Host):
                # Its database does not tell them apart by case.
                if host['name'].lower() == name.lower():
                    yield host

    def _all(self, path: str, key: str, shape: Any) -> Iterator[rest.Json]:
        """The rows of all pages: Masakari tells no next one.

        Its 22nd release refuses a marker of hosts, so none is sent in vain.
        """
        marker: dict[str, str] = {}
        for _ in range(paging.MOST_PAGES):
            page = self._wire.get(
                path, MICROVERSION, marker, shape=schema.page(key, shape)
            )
            yield from page[key]
            if len(page[key]) < _PAGE:
                return
            marker = {'marker': page[key][-1]['uuid']}
        raise self._wire.failure(f'GET {path}: it has no last page')


def connect(
    session: keystone.KeystoneSession,
    region_name: str | None = None,
    interface: str = 'public',
    endpoint_override: str | None = None,
    **options: Any,
) -> MasakariClient:
    """The Masakari of the Keystone catalog.

    :param endpoint_override: used instead of the catalog's
    :param options: of :class:`~kronos.clients.rest.Wire`
    :raises ClientError: there is none, or Keystone refuses, or Masakari does
        not answer
    """
    with rest.guarded(exceptions.ClientError, 'Keystone', sent=False):
        session.get_token()
        url = endpoint_override or session.get_endpoint(
            service_type=SERVICE_TYPE,
            region_name=region_name,
            interface=interface,
            skip_discovery=True,
        )
    if not url:
        raise exceptions.ClientError(
            reason='the Keystone catalog has no endpoint of type '
            f'{SERVICE_TYPE}',
            **rest.facts(),
        )
    cloud = connection.Connection(
        session=session,
        region_name=region_name,
        interface=interface,
        instance_ha_endpoint_override=endpoint_override,
        app_name='kronos',
    )
    with rest.guarded(
        exceptions.ClientError, 'Masakari', sent=False, adapter=cloud
    ):
        try:
            return MasakariClient(cloud.instance_ha, **options)
        except sdk_exceptions.NotSupported:
            # So says openstacksdk also of one that does not answer.
            session.get(url, authenticated=False, raise_exc=False, log=False)
            raise
