# SPDX-License-Identifier: Apache-2.0
"""A Watcher at the wire: the reads of its API that clients of Kronos make."""

import json
import re
from typing import Any
from urllib import parse

import fixtures

from tests.fakes import keystone

WATCHER = 'https://watcher.example.org'
STRATEGIES = ('kronos_spread', 'kronos_pack', 'dummy')
_NEWEST = 6
"""The minor version that it knows."""


class WatcherApi(fixtures.Fixture):
    """Plans, actions and audits, as pages and one by one.

    :param wire: of a Keystone; its catalog gets this service
    """

    def __init__(self, wire: Any) -> None:
        self._wire = wire
        self.plans: list[dict[str, Any]] = []
        """In the order in which they were made, as the actions are."""
        self.actions: list[dict[str, Any]] = []
        self.audits: dict[str, dict[str, Any]] = {}
        self.newest = _NEWEST
        self.refusal: tuple[int, Any] | None = None
        """Status and body of every answer."""
        self.requests: list[str] = []

    def _setUp(self) -> None:
        token = keystone.ks_fixture.V3Token()
        token.set_project_scope()
        service = token.add_service('infra-optim')
        service.add_standard_endpoints(public=WATCHER, region='one')
        self._wire.post(
            f'{keystone.AUTH_URL}/auth/tokens',
            json=token,
            headers={'X-Subject-Token': 'ks-token'},
        )
        self._wire.get(
            f'{WATCHER}/',
            json={'versions': [{'id': 'v1', 'status': 'CURRENT'}]},
        )
        self._wire.get(f'{WATCHER}/v1', json={'id': 'v1'})
        self._wire.get(
            f'{WATCHER}/v1/strategies',
            json={'strategies': [{'name': name} for name in STRATEGIES]},
        )
        self._wire.get(re.compile(f'^{WATCHER}/v1/.+/'), text=self._answer)

    def _answer(self, request: Any, context: Any) -> str:
        parts = parse.urlsplit(request.url)
        self.requests.append(f'{parts.path}?{parts.query}'.rstrip('?'))
        status, body = self.refusal or self._answer_of(request, parts)
        context.status_code = status
        return body if isinstance(body, str) else json.dumps(body)

    def _answer_of(self, request: Any, parts: Any) -> tuple[int, Any]:
        version = request.headers.get('OpenStack-API-Version', '')
        minor = int(version.rpartition('.')[2] or 0)
        if minor > self.newest:
            return 406, (
                '<html><head><title>406 Not Acceptable</title></head><body>'
                f'Version 1.{minor} was requested but the minor version is '
                'not supported by this service.</body></html>'
            )
        _, _, kind, which = parts.path.split('/')
        query = dict(parse.parse_qsl(parts.query))
        if which == 'detail':
            return 200, self._page(kind, query)
        rows: dict[str, dict[str, Any]] = self.audits
        if kind == 'action_plans':
            rows = {row['uuid']: row for row in self.plans}
        if which not in rows:
            return 404, fault(f'{kind} {which} could not be found.')
        return 200, rows[which]

    def _page(self, kind: str, query: dict[str, str]) -> dict[str, Any]:
        """A page that is full has a link to the next one."""
        rows = {
            'action_plans': self.plans,
            'actions': self.actions,
            'audits': list(self.audits.values()),
        }[kind]
        if audit := query.get('audit_uuid'):
            rows = [row for row in rows if row['audit_uuid'] == audit]
        if plan := query.get('action_plan_uuid'):
            rows = [row for row in rows if row['action_plan_uuid'] == plan]
        if query.get('sort_key') == 'updated_at':
            rows = sorted(rows, key=lambda row: row['updated_at'] or '')
        if query.get('sort_dir') == 'desc':
            rows = rows[::-1]
        uuids = [row['uuid'] for row in rows]
        first = uuids.index(query['marker']) + 1 if 'marker' in query else 0
        limit = int(query['limit'])
        page = rows[first : first + limit]
        more = {'next': 'http://elsewhere/'} if len(page) == limit else {}
        return {kind: page, **more}


def fault(text: str) -> dict[str, Any]:
    """As Watcher words an error: a document within a document."""
    document = {'faultcode': 'Client', 'faultstring': text, 'debuginfo': None}
    return {'error_message': json.dumps(document)}
