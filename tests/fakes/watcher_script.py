# SPDX-License-Identifier: Apache-2.0
"""A Watcher, and a Nova beside it, that act out a script, look by look.

An audit and a plan go on by one state whenever they are read, so that no
test waits for time. Nothing here depends on how the requests arrive.
"""

import dataclasses
import datetime
import json
import re
from typing import Any
from urllib import parse

PLAN = '0c3b6f52-7a1e-4d0c-9d3e-2f1b8c5a7e64'
AUDIT = '9d1f0b7e-11aa-4c52-8f4e-5b1f7f3a9c10'
GOALS = {
    'kronos_spread': 'kronos_balance',
    'kronos_cell_drain': 'kronos_cell',
    'dummy': 'dummy',
}
Answer = tuple[int, Any]


@dataclasses.dataclass
class Script:
    """What happens; the last row of a list goes on for ever."""

    audit: list[str] = dataclasses.field(
        default_factory=lambda: ['PENDING', 'ONGOING', 'SUCCEEDED']
    )
    """States of the audit, by look."""
    message: str = 'alpha: 2 migrations, combined imbalance 0.60 -> 0.20'
    plan: list[str] = dataclasses.field(
        default_factory=lambda: ['PENDING', 'ONGOING', 'ONGOING', 'SUCCEEDED']
    )
    """States of the plan once it was started, by look."""
    cancelled: list[str] = dataclasses.field(
        default_factory=lambda: ['CANCELLED']
    )
    """Likewise, once its cancellation has begun."""
    moves: list[list[str]] = dataclasses.field(
        default_factory=lambda: [
            ['PENDING', 'PENDING'],
            ['ONGOING', 'PENDING'],
            ['SUCCEEDED', 'ONGOING'],
            ['SUCCEEDED', 'SUCCEEDED'],
        ]
    )
    """States of its actions, likewise; none: it plans nothing."""
    names: list[str] = dataclasses.field(
        default_factory=lambda: ['web-1', 'web-2']
    )
    """Of the servers."""
    reasons: dict[str, str] = dataclasses.field(default_factory=dict)
    """Messages of actions, by the name of the server."""
    forecast: float = 0.0
    """Seconds of each move; 0: its action has none."""
    refusals: dict[str, int] = dataclasses.field(default_factory=dict)
    """Statuses by a pattern of method and path."""
    percent: float | None = None
    """Of each move, as Nova has it; None: Nova refuses."""
    others: list[str] = dataclasses.field(default_factory=list)
    """States of other plans."""


class WatcherScript:
    """Answers requests by a script."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.audit: dict[str, Any] = {}
        """What was asked for; empty before."""
        self.plan_state = 'RECOMMENDED'
        self.requests: list[str] = []
        self._audit_look = self._plan_look = -1

    def answer(self, method: str, path: str, body: Any) -> Answer:
        """Status and document."""
        parts = parse.urlsplit(path)
        line = f'{method} {parts.path}'
        self.requests.append(line)
        for pattern, status in self.script.refusals.items():
            if re.fullmatch(pattern, line):
                return status, _fault(f'refused with {status}')
        if method == 'GET':
            return self._read(parts.path, dict(parse.parse_qsl(parts.query)))
        return self._write(method, parts.path, body)

    def _write(self, method: str, path: str, body: Any) -> Answer:
        if path == '/v1/audits':
            self.audit = body
            return 201, {'uuid': AUDIT}
        if path == f'/v1/action_plans/{PLAN}/start':
            self.plan_state = 'PENDING'
            return 200, {'uuid': PLAN}
        [change] = body
        if path == f'/v1/audits/{AUDIT}':
            self.script.audit = [change['value']]
        elif path == f'/v1/action_plans/{PLAN}':
            if (
                change['value'] == 'CANCELLING'
                and self.plan_state != 'ONGOING'
            ):
                return 400, _fault('State transition not allowed')
            self.script.plan = [change['value'], *self.script.cancelled]
            states = self.script.moves[self._at(self.script.moves)]
            self.script.moves = [
                states,
                [x if x == 'SUCCEEDED' else 'CANCELLED' for x in states],
            ]
            self._plan_look = -1
        else:
            return 404, _fault(f'{method} {path}: no such thing')
        return 200, {}

    def _read(self, path: str, query: dict[str, str]) -> Answer:
        if path == '/':
            return 200, _versions()
        if path == '/v1/strategies':
            rows = [{'name': x, 'goal_name': y} for x, y in GOALS.items()]
            return 200, {'strategies': rows}
        if path.startswith('/v1/audits/'):
            return self._read_audit()
        if path == '/v1/action_plans/detail':
            return 200, {'action_plans': self._plans(query)}
        if path == f'/v1/action_plans/{PLAN}':
            return 200, self._plan(advances=True)
        if path == '/v1/actions/detail':
            return 200, {'actions': self._actions()}
        if path.endswith('/migrations') and self.script.percent is not None:
            return 200, {'migrations': [_migration(self.script.percent)]}
        return 403, _fault("Policy doesn't allow it to be performed.")

    def _read_audit(self) -> Answer:
        if not self.audit:
            return 404, _fault('Audit could not be found.')
        self._audit_look += 1
        states = self.script.audit
        state = states[min(self._audit_look, len(states) - 1)]
        is_over = state not in ('PENDING', 'ONGOING')
        return 200, {
            'uuid': AUDIT,
            'name': self.audit['name'],
            'state': state,
            'status_message': self.script.message if is_over else None,
        }

    def _plans(self, query: dict[str, str]) -> list[dict[str, Any]]:
        if query.get('audit_uuid') == AUDIT:
            return [self._plan(advances=False)]
        others = enumerate(self.script.others)
        return [
            {**self._plan(advances=False), 'uuid': f'other-{x}', 'state': y}
            for x, y in others
        ]

    def _at(self, rows: list[Any]) -> int:
        return min(max(self._plan_look, 0), len(rows) - 1)

    def _plan(self, advances: bool) -> dict[str, Any]:
        if advances and self.plan_state != 'RECOMMENDED':
            self._plan_look += 1
            self.plan_state = self.script.plan[self._at(self.script.plan)]
        return {
            'uuid': PLAN,
            'state': self.plan_state,
            'strategy_name': 'kronos_spread',
            'audit_uuid': AUDIT,
            'status_message': None,
            'efficacy_indicators': [
                {'name': 'combined_imbalance_before', 'value': 0.6},
                {'name': 'combined_imbalance_after', 'value': 0.2},
            ],
            'global_efficacy': [
                {'name': 'imbalance_removed', 'value': 66.7, 'unit': '%'}
            ],
            'created_at': _now(),
            'updated_at': None,
        }

    def _actions(self) -> list[dict[str, Any]]:
        rows = self.script.moves
        states = rows[self._at(rows)] if rows else []
        if self.plan_state == 'RECOMMENDED':
            states = ['PENDING'] * len(states)
        return [
            self._action(number, *pair)
            for number, pair in enumerate(
                zip(self.script.names, states, strict=False), start=1
            )
        ]

    def _action(self, number: int, name: str, state: str) -> dict[str, Any]:
        forecast = self.script.forecast
        return {
            'uuid': f'{number:08d}-2222-4222-8222-222222222222',
            'action_plan_uuid': PLAN,
            'action_type': 'kronos_live_migrate',
            'state': state,
            'input_parameters': {
                'resource_id': f'{number:08d}-1111-4111-8111-111111111111',
                'resource_name': name,
                'aggregate': 'alpha',
                'phase': 'spread',
                'sequence': number,
                'source_node': 'cmp1',
                'destination_node': f'cmp{number + 1}',
                'imbalance': 'cpu 0.600 -> 0.400',
                'combined_imbalance': '0.600 -> 0.400',
                'action_plan_uuid': PLAN,
                'audit_uuid': AUDIT,
                **({'forecast_seconds': forecast} if forecast else {}),
            },
            'status_message': self.script.reasons.get(name),
            'created_at': _now(),
            'updated_at': None,
        }


def _now() -> str:
    now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    return now.isoformat()


def _migration(percent: float) -> dict[str, Any]:
    return {
        'uuid': '77777777-1111-4111-8111-111111111111',
        'memory_total_bytes': 1000,
        'memory_processed_bytes': 0,
        'memory_remaining_bytes': round(1000 - 10 * percent),
    }


def _versions() -> dict[str, Any]:
    """Of Nova: Watcher's are not asked for."""
    return {
        'versions': [
            {
                'id': 'v2.1',
                'status': 'CURRENT',
                'version': '2.96',
                'min_version': '2.1',
                'links': [{'rel': 'self', 'href': '/'}],
            }
        ]
    }


def _fault(text: str) -> dict[str, Any]:
    """As Watcher words an error: a document within a document."""
    document = {'faultcode': 'Client', 'faultstring': text, 'debuginfo': None}
    return {'error_message': json.dumps(document)}
