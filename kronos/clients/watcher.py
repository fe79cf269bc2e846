# SPDX-License-Identifier: Apache-2.0
"""The Watcher client: plans, actions and audits, which it may also begin."""

from collections.abc import Iterator
from typing import Any, NotRequired
from urllib import parse

from keystoneauth1 import adapter
from keystoneauth1 import exceptions as ks_exceptions
from typing_extensions import TypedDict

from kronos.clients import keystone, paging, rest
from kronos.clients.schema import Moment, Text
from kronos.common import exceptions

SERVICE_TYPES = ('infra-optim', 'resource-optimization')
MICROVERSION = '1.5'
"""The first that tells the message of an action; Watcher 15 has it."""
OLDEST = '1.0'
WITH_WEBHOOKS = '1.4'
_PAGE = 1000
"""Rows; Watcher's own limit is the same unless it was changed."""


class _Plan(TypedDict):
    uuid: str
    state: str
    audit_uuid: NotRequired[Text]
    strategy_name: NotRequired[Text]
    status_message: NotRequired[Text]
    efficacy_indicators: NotRequired[Any]
    global_efficacy: NotRequired[Any]
    created_at: Moment
    updated_at: NotRequired[Moment]


class _Plans(TypedDict):
    action_plans: list[_Plan]
    next: NotRequired[Text]


class _Audit(TypedDict):
    uuid: NotRequired[Text]
    auto_trigger: NotRequired[bool | None]
    audit_type: NotRequired[Text]
    name: NotRequired[Text]
    state: NotRequired[Text]
    status_message: NotRequired[Text]
    updated_at: NotRequired[Text]


class _ListedAudit(TypedDict):
    uuid: str
    audit_type: NotRequired[Text]
    name: NotRequired[Text]
    state: NotRequired[Text]
    status_message: NotRequired[Text]
    strategy_name: NotRequired[Text]
    parameters: NotRequired[Any]
    created_at: Moment


class _Audits(TypedDict):
    audits: list[_ListedAudit]
    next: NotRequired[Text]


class _Action(TypedDict):
    uuid: str
    action_type: str
    state: str
    input_parameters: Any
    status_message: NotRequired[Text]
    created_at: Moment
    updated_at: NotRequired[Moment]


class _Actions(TypedDict):
    actions: list[_Action]
    next: NotRequired[Text]


class _Strategy(TypedDict):
    name: str
    goal_name: NotRequired[Text]


class _Strategies(TypedDict):
    strategies: list[_Strategy]


_SHAPES = {'action_plans': _Plans, 'actions': _Actions, 'audits': _Audits}
"""Of a page, by the key of its rows."""


class WatcherClient:
    """Watcher's plans, actions and audits.

    Every method raises :class:`~kronos.common.exceptions.ClientError`, whose
    ``kwargs`` are those of :class:`~kronos.clients.rest.Wire`.

    :param asked: a keystoneauth1 Adapter for Watcher's endpoint
    :param options: of :class:`~kronos.clients.rest.Wire`
    """

    def __init__(self, endpoint: Any, **options: Any) -> None:
        self._wire = rest.Wire(endpoint, exceptions.ClientError, **options)
        everything = adapter.Adapter(
            endpoint.session,
            service_type=endpoint.service_type,
            region_name=endpoint.region_name,
            interface=endpoint.interface,
            endpoint_override=endpoint.endpoint_override,
            additional_headers={'X-Show-Deleted': 'true'},
        )
        self._with_deleted = rest.Wire(
            everything, exceptions.ClientError, **options
        )

    def plans(self, page: int = _PAGE) -> Iterator[rest.Json]:
        """All action plans that were not deleted, the newest first.

        :param page: rows of one request; each takes Watcher several queries
        """
        newest = {'sort_key': 'id', 'sort_dir': 'desc', 'limit': page}
        return self._all(self._wire, 'action_plans', newest)

    def plan(self, uuid: str) -> rest.Json:
        path = f'/v1/action_plans/{parse.quote(uuid, safe="")}'
        plan: rest.Json = self._wire.get(path, MICROVERSION, shape=_Plan)
        return plan

    @property
    def endpoint(self) -> str:
        """As Keystone's catalog, or its override, has it."""
        with self._wire.guard('Keystone', sent=False):
            return str(self._wire.adapter.get_endpoint() or '')

    def audit(self, uuid: str) -> rest.Json:
        """An audit by its UUID or name."""
        path = f'/v1/audits/{parse.quote(uuid, safe="")}'
        audit: rest.Json = self._wire.get(path, MICROVERSION, shape=_Audit)
        return audit

    def audits(self) -> Iterator[rest.Json]:
        """All audits that were not deleted, the newest first."""
        newest = {'sort_key': 'id', 'sort_dir': 'desc'}
        return self._all(self._wire, 'audits', newest)

    def trigger(self, audit: str) -> None:
        """Ask for a run of an EVENT audit.

        That Watcher takes this says nothing of whether the audit runs: while
        any action plan does, it is passed over.
        """
        path = f'/v1/webhooks/{parse.quote(audit, safe="")}'
        self._wire.send('POST', path, WITH_WEBHOOKS, {})

    def strategies(self) -> list[str]:
        """Names of those that it knows."""
        return list(self.goals())

    def goals(self) -> dict[str, str]:
        """The goal of each strategy that it knows, by name."""
        body = self._wire.get('/v1/strategies', OLDEST, shape=_Strategies)
        return {
            row['name']: row.get('goal_name') or ''
            for row in body['strategies']
        }

    def create_audit(self, fields: rest.Json) -> None:
        """Have an audit begin; it is then found by its name.

        :param fields: those of Watcher's API
        """
        self._wire.send('POST', '/v1/audits', MICROVERSION, fields)

    def set_audit_state(self, uuid: str, state: str) -> None:
        """Have an audit end, pause or go on.

        :param state: CANCELLED, SUSPENDED or ONGOING
        """
        self._set_state('audits', uuid, state)

    def start(self, plan: str) -> None:
        path = f'/v1/action_plans/{parse.quote(plan, safe="")}/start'
        self._wire.send('POST', path, MICROVERSION, {})

    def set_plan_state(self, plan: str, state: str) -> None:
        """Have an applier end a plan, or let none begin it.

        :param state: CANCELLING for a plan that is ONGOING, and CANCELLED
            for one that no applier has begun
        """
        self._set_state('action_plans', plan, state)

    def _set_state(self, kind: str, uuid: str, state: str) -> None:
        path = f'/v1/{kind}/{parse.quote(uuid, safe="")}'
        patch = [{'op': 'replace', 'path': '/state', 'value': state}]
        self._wire.send('PATCH', path, MICROVERSION, patch)

    def plans_of(self, audit: str) -> Iterator[rest.Json]:
        return self._all(self._wire, 'action_plans', {'audit_uuid': audit})

    def actions_of(self, plan: str) -> Iterator[rest.Json]:
        return self._all(self._wire, 'actions', {'action_plan_uuid': plan})

    def actions(self) -> Iterator[rest.Json]:
        """All actions, deleted ones too, the last written first."""
        last = {'sort_key': 'updated_at', 'sort_dir': 'desc'}
        return self._all(self._with_deleted, 'actions', last)

    def _all(
        self, wire: rest.Wire, key: str, params: rest.Json
    ) -> Iterator[rest.Json]:
        """The rows of all pages; Watcher ends with a page that is not full.

        The link to the next one names a host that need not be Watcher's
        public one, and lacks the filters.
        """
        query = {'limit': _PAGE, **params}
        seen: set[str] = set()
        path, shape = f'/v1/{key}/detail', _SHAPES[key]
        for _ in range(paging.MOST_PAGES):
            page = wire.get(path, MICROVERSION, query, shape=shape)
            rows = [row for row in page[key] if row['uuid'] not in seen]
            yield from rows
            if not rows or not page.get('next'):
                return
            seen.update(row['uuid'] for row in rows)
            query['marker'] = rows[-1]['uuid']
        raise wire.failure(f'GET {path}: it has no last page')


def find(
    session: Any,
    region_name: str | None = None,
    interface: str | None = None,
    endpoint_override: str | None = None,
    **options: Any,
) -> WatcherClient:
    """The Watcher of the Keystone catalog.

    :param session: of keystoneauth, whose credentials are taken
    :param interface: None: the public one
    :param endpoint_override: used instead of the catalog's
    :param options: of :class:`~kronos.clients.rest.Wire`
    :raises ClientError: there is none, or Keystone refuses
    """
    session = keystone.own(session)
    for kind in SERVICE_TYPES:
        endpoint = adapter.Adapter(
            session,
            service_type=kind,
            region_name=region_name,
            interface=interface,
            endpoint_override=endpoint_override,
        )
        with rest.guarded(exceptions.ClientError, 'Keystone', sent=False):
            try:
                if endpoint.get_endpoint() is not None:
                    return WatcherClient(endpoint, **options)
            except ks_exceptions.EndpointNotFound:
                continue
    raise exceptions.ClientError(
        reason='the Keystone catalog has no endpoint of type '
        f'{SERVICE_TYPES[0]}',
        **rest.facts(),
    )
