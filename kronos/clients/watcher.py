# SPDX-License-Identifier: Apache-2.0
"""What do plans and actions say? Watcher's API, only read."""

from collections.abc import Iterator
from typing import Any

from keystoneauth1 import adapter
from keystoneauth1 import exceptions as ks_exceptions

from kronos.clients import wire
from kronos.common import exceptions

SERVICE_TYPES = ('infra-optim', 'resource-optimization')
MICROVERSION = '1.5'
"""The first that tells the message of an action; Watcher 15 has it."""
_PAGE = 1000
"""Rows; Watcher's own limit is the same unless it was changed."""


class WatcherClient:
    """Watcher's plans and actions.

    Every method raises :class:`~kronos.common.exceptions.ClientError`, whose
    ``kwargs`` are those of :class:`~kronos.clients.wire.Wire`.

    :param asked: a keystoneauth1 Adapter for Watcher's endpoint
    :param options: of :class:`~kronos.clients.wire.Wire`
    """

    def __init__(self, asked: Any, **options: Any) -> None:
        self._wire = wire.Wire(asked, exceptions.ClientError, **options)
        everything = adapter.Adapter(
            asked.session,
            service_type=asked.service_type,
            region_name=asked.region_name,
            endpoint_override=asked.endpoint_override,
            additional_headers={'X-Show-Deleted': 'true'},
        )
        self._with_deleted = wire.Wire(
            everything, exceptions.ClientError, **options
        )

    def plans(self) -> Iterator[wire.Json]:
        """All action plans that were not deleted, the newest first."""
        newest = {'sort_key': 'id', 'sort_dir': 'desc'}
        return self._all(self._wire, 'action_plans', newest)

    def audit(self, uuid: str) -> wire.Json:
        return self._wire.get(f'/v1/audits/{uuid}', MICROVERSION)

    def actions_of(self, plan: str) -> Iterator[wire.Json]:
        return self._all(self._wire, 'actions', {'action_plan_uuid': plan})

    def actions(self) -> Iterator[wire.Json]:
        """All actions, deleted ones too, the last written first."""
        last = {'sort_key': 'updated_at', 'sort_dir': 'desc'}
        return self._all(self._with_deleted, 'actions', last)

    def _all(
        self, asked: wire.Wire, key: str, params: wire.Json
    ) -> Iterator[wire.Json]:
        """The rows of all pages; Watcher ends with a page that is not full.

        The link to the next one names a host that need not be Watcher's
        public one, and lacks the filters.
        """
        query = {**params, 'limit': _PAGE}
        seen: set[str] = set()
        while True:
            page = asked.get(f'/v1/{key}/detail', MICROVERSION, query)
            rows = [row for row in page[key] if row['uuid'] not in seen]
            yield from rows
            if not rows or not page.get('next'):
                return
            seen.update(row['uuid'] for row in rows)
            query['marker'] = rows[-1]['uuid']


def find(session: Any, region_name: str | None = None) -> WatcherClient:
    """The Watcher of the Keystone catalog.

    :raises ClientError: there is none, or Keystone refuses
    """
    for kind in SERVICE_TYPES:
        asked = adapter.Adapter(
            session, service_type=kind, region_name=region_name
        )
        try:
            if asked.get_endpoint() is not None:
                return WatcherClient(asked)
        except ks_exceptions.EndpointNotFound:
            continue
        except wire.FAILURES as error:
            raise exceptions.ClientError(
                reason=f'Keystone: {error}', **wire.facts()
            ) from error
    raise exceptions.ClientError(
        reason='the Keystone catalog has no endpoint of type '
        f'{SERVICE_TYPES[0]}',
        **wire.facts(),
    )
