# SPDX-License-Identifier: Apache-2.0
"""The plans of Kronos in Watcher: their moves, and what they do."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from oslo_utils import uuidutils

from kronos.clients.nova.rows import Row
from kronos.clients.schema import seconds_of
from kronos.clients.watcher import WatcherClient
from kronos.common import exceptions, plain_text, yaml_files
from kronos.common.names import near_names
from kronos.common.shell_commands import ShellCommand
from kronos.engine import wording
from kronos.osc import moves
from kronos.osc.moves import MoveAction
from kronos.snapshots import watcher_actions, watcher_api

PAGE = 100
"""Plans of one request: Watcher asks its database for each row anew."""
_BEGINNING = re.compile(r'[0-9a-f]{8}[0-9a-f-]{0,27}')
_CHANGE = re.compile(r'(\d{1,9}(?:\.\d+)?) -> (\d{1,9}(?:\.\d+)?)')
Change = tuple[float | None, float | None]


@dataclass
class Plan:
    """An action plan; a text is '' where there is none."""

    uuid: str
    state: str
    strategy: str
    """'' where Watcher does not know it any more."""
    audit: str
    """Uuid."""
    message: str
    created: float
    updated: float
    """Unix seconds."""
    indicators: dict[str, float]
    """The numbers of its goal, by name."""
    efficacy: list[dict[str, Any]]
    """What these numbers come to: name, value, unit."""
    moves: list[MoveAction]
    """In the order of the plan."""

    @property
    def scopes(self) -> list[str]:
        return [
            *dict.fromkeys(move.scope for move in self.moves if move.scope)
        ]

    @property
    def done(self) -> int:
        return self._count(watcher_actions.FINISHED)

    @property
    def failed(self) -> int:
        return self._count(watcher_actions.FAILED)

    def _count(self, state: str) -> int:
        return sum(move.state == state for move in self.moves)

    @property
    def imbalance(self) -> Change:
        """The combined one, before and after; of the most uneven scope.

        Where its goal is another one, as its moves tell.
        """
        before = self.indicators.get('combined_imbalance_before')
        if before is not None:
            return before, self.indicators.get('combined_imbalance_after')
        by_scope: dict[str, tuple[float, float]] = {}
        for move in self.moves:
            if change := _CHANGE.fullmatch(move.combined):
                first, last = float(change[1]), float(change[2])
                before = by_scope.get(move.scope, (first, last))[0]
                by_scope[move.scope] = before, last
        if not by_scope:
            return None, None
        befores, afters = zip(*by_scope.values(), strict=True)
        return max(befores), max(afters)


def newest(
    watcher: WatcherClient,
    limit: int,
    strategy: str | None = None,
    state: str | None = None,
) -> list[Plan]:
    """The plans of Kronos' strategies, the newest first.

    :param limit: no more than these
    :param strategy: only plans of this one, whoever wrote it
    :param state: only plans in this one
    :raises ClientError: Watcher is away, or refuses
    """
    matching = (
        read(watcher, row)
        for row in watcher.plans(PAGE)
        if state in (None, row['state']) and _may_be(row, strategy)
    )
    ours = (plan for plan in matching if strategy or _is_ours(plan))
    return list(itertools.islice(ours, limit))


def none(
    watcher: WatcherClient, strategy: str | None, state: str | None
) -> str:
    """What is said where no plan is found.

    :param strategy: as for :func:`newest`, like the other parameters
    :raises KronosException: Watcher does not know the strategy
    :raises ClientError: Watcher is away, or refuses
    """
    if strategy:
        names = watcher.strategies()
        if strategy not in names:
            hint = near_names.of_cloud(strategy, names)
            raise exceptions.KronosException(
                f'Watcher has no strategy {yaml_files.clip(strategy)}; {hint}'
            )
    whose = f'the strategy {strategy}' if strategy else 'Kronos'
    where = f' in the state {state}' if state else ''
    return f'Watcher has no action plan of {whose}{where}.'


def by_uuid(watcher: WatcherClient, uuid: str) -> Plan:
    """A plan by its uuid, or by the beginning that a list shows.

    :raises KronosException: there is none, or it is none of Kronos
    :raises ClientError: Watcher is away, or refuses
    """
    see = f'see {ShellCommand.PLAN_LIST}'
    if _BEGINNING.fullmatch(uuid):
        uuid = _whole(watcher, uuid)
    if not uuidutils.is_uuid_like(uuid):
        raise exceptions.KronosException(
            f'"{uuid}" is not the uuid of an action plan; {see}'
        )
    try:
        row = watcher.plan(uuid)
    except exceptions.ClientError as error:
        if error.kwargs['status'] != 404:
            raise
        raise exceptions.KronosException(
            f'Watcher has no action plan {uuid}; {see}'
        ) from error
    plan = read(watcher, row)
    if not _is_ours(plan):
        raise exceptions.KronosException(
            f'The action plan {uuid} belongs to the strategy '
            f'{plan.strategy or "(unknown)"}, not to Kronos; see '
            + ShellCommand.PLAN_SHOW.of(plan=uuid)
        )
    return plan


def _whole(watcher: WatcherClient, beginning: str) -> str:
    """The uuid that begins so; what was given if none does.

    :raises KronosException: several do
    """
    uuids = [
        row['uuid']
        for row in watcher.plans(PAGE)
        if row['uuid'].startswith(beginning)
    ]
    if len(uuids) > 1:
        raise exceptions.KronosException(
            f'{len(uuids)} action plans begin with "{beginning}": '
            f'{wording.some(uuids)}; use a longer part of the uuid'
        )
    return uuids[0] if uuids else beginning


def is_of_kronos(row: Row) -> bool:
    """By the name of its strategy."""
    return (row.get('strategy_name') or '').startswith(moves.PREFIX)


def _may_be(row: Row, strategy: str | None) -> bool:
    """Of a strategy that Watcher does not know any more, its actions tell."""
    name = row.get('strategy_name')
    if strategy:
        return bool(name == strategy)
    return is_of_kronos(row) or not name


def _is_ours(plan: Plan) -> bool:
    """By its strategy, or by its actions: a strategy may be a deployer's."""
    return plan.strategy.startswith(moves.PREFIX) or any(
        watcher_actions.is_ours(move.kind) for move in plan.moves
    )


def read(watcher: WatcherClient, row: Row) -> Plan:
    """A plan with its moves.

    :param row: of Watcher's API
    :raises ClientError: Watcher is away, or refuses
    """
    rows = map(watcher_api.action_row, watcher.actions_of(row['uuid']))
    indicators = {
        indicator['name']: indicator['value']
        for indicator in _numbers(row.get('efficacy_indicators'))
    }
    return Plan(
        uuid=plain_text.line(row['uuid']),
        state=plain_text.line(row['state']),
        strategy=plain_text.line(row.get('strategy_name') or ''),
        audit=plain_text.line(row.get('audit_uuid') or ''),
        message=plain_text.line(row.get('status_message') or ''),
        created=seconds_of(row['created_at']),
        updated=seconds_of(row.get('updated_at') or row['created_at']),
        indicators=indicators,
        efficacy=[*_numbers(row.get('global_efficacy'))],
        moves=sorted(map(moves.of, rows), key=lambda move: move.sequence),
    )


def _numbers(rows: Any) -> Iterator[dict[str, Any]]:
    """The indicators of a plan, whatever another strategy put there."""
    for row in rows if isinstance(rows, list) else []:
        fields = row if isinstance(row, dict) else {}
        name, value = (fields.get('name'), moves.number(fields.get('value')))
        if isinstance(name, str) and value is not None:
            unit = fields.get('unit')
            yield {
                'name': plain_text.line(name),
                'value': value,
                'unit': plain_text.line(unit) if isinstance(unit, str) else '',
            }
