# SPDX-License-Identifier: Apache-2.0
"""The goals and strategies in Watcher's database, beside those of the code.

When a decision engine starts, it writes those anew that differ, and cancels
every audit and every action plan of theirs. Here it is told beforehand whose
they are, by the same comparison; :mod:`~kronos.watcher_db.service_probe`
asks. Columns are named one by one, so that a database can be read whose
other tables and columns are those of another release.
"""

import ast
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from watcher import objects
from watcher.db.sqlalchemy import models

PREFIX = 'kronos_'
"""Of every name that is ours."""
_Goal = models.Goal.__table__
_Strategy = models.Strategy.__table__
_Audit = models.Audit.__table__
_Plan = models.ActionPlan.__table__
AuditState = objects.audit.State
PlanState = objects.action_plan.State
LIVE = (AuditState.PENDING, AuditState.ONGOING, AuditState.SUSPENDED)
"""Of an audit that is still going to do something."""
WAITING = (PlanState.RECOMMENDED, PlanState.PENDING, PlanState.ONGOING)
"""Of a plan that is still going to, or may."""
GONE = 'it is not there any more, or cannot be loaded'


@dataclass
class Stale:
    """A row that Watcher is going to take for another one."""

    id: int
    name: str
    differs: list[str]
    """In what."""


def compare(
    session: Any, goals: Iterable[Any], strategies: Iterable[Any]
) -> dict[str, Any]:
    """What the next start of a decision engine would do.

    :param goals: classes, all that Watcher finds
    :param strategies: likewise
    :returns: ``goals`` and ``strategies`` that differ, with what of them
        differs, and what would be cancelled of the latter; ``known``, how
        many strategies of ours the database has; and ``new`` ones
    """
    by_goal = {goal.get_name(): goal for goal in goals}
    by_strategy = {strategy.get_name(): strategy for strategy in strategies}
    goal_rows = _rows(session, _Goal)
    stale_goals = _stale_goals(goal_rows, by_goal)
    named = {row.id: row.name for row in goal_rows}
    rows = [
        row
        for row in _rows(session, _Strategy)
        if _is_ours(row.name) or _is_ours(named.get(row.goal_id, ''))
    ]
    stale = _stale_strategies(rows, by_strategy, stale_goals, named)
    audits = _audits(session, stale, stale_goals)
    ours = {row.name for row in rows if _is_ours(row.name)}
    return {
        'goals': [
            {'name': row.name, 'differs': row.differs} for row in stale_goals
        ],
        'strategies': [
            {'name': row.name, 'differs': row.differs} for row in stale
        ],
        'known': len(ours),
        'new': sorted({*filter(_is_ours, by_strategy)} - ours),
        'audits': [
            {'uuid': row.uuid, 'name': row.name or '', 'state': row.state}
            for row in audits
            if _is_live(row)
        ],
        'finished_audits': sum(not _is_live(row) for row in audits),
        'waiting_plans': _waiting_plans(session, stale, audits),
    }


def _is_ours(name: str) -> bool:
    return name.startswith(PREFIX)


def _rows(session: Any, table: Any) -> list[Any]:
    """Those that were not deleted."""
    # Not as Watcher's types: one row that is no JSON would spoil all others.
    columns = [
        sa.type_coerce(column, sa.Text).label(column.name)
        if isinstance(column.type, models.JsonEncodedType)
        else column
        for column in table.c
        if column.name in _COLUMNS[table.name]
    ]
    query = (
        sa.select(*columns).where(table.c.deleted == 0).order_by(table.c.id)
    )
    return list(session.execute(query))


_COLUMNS = {
    'goals': ('id', 'name', 'display_name', 'efficacy_specification'),
    'strategies': (
        'id',
        'name',
        'display_name',
        'goal_id',
        'parameters_spec',
    ),
    'audits': (
        'id',
        'uuid',
        'name',
        'audit_type',
        'state',
        'goal_id',
        'strategy_id',
    ),
}


def _stale_goals(rows: Iterable[Any], goals: Mapping[str, Any]) -> list[Stale]:
    stale = []
    for row in filter(lambda stored: _is_ours(stored.name), rows):
        differs = []
        if row.name not in goals:
            differs.append(GONE)
        else:
            goal = goals[row.name]
            if row.display_name != str(goal.get_translatable_display_name()):
                differs.append('its display name')
            specs = goal.get_efficacy_specification()
            if _json(row.efficacy_specification) != [
                dict(spec) for spec in specs.get_indicators_specs_dicts()
            ]:
                differs.append('its efficacy indicators')
        if differs:
            stale.append(Stale(row.id, row.name, differs))
    return stale


def _json(text: str | None) -> Any:
    """What a column holds; None: no JSON."""
    try:
        return json.loads(text or '')
    except (ValueError, RecursionError):
        return None


def _stale_strategies(
    rows: Iterable[Any],
    by_name: Mapping[str, Any],
    goals: Iterable[Stale],
    named: Mapping[int, str],
) -> list[Stale]:
    changed = {goal.id for goal in goals}
    stale = []
    for row in rows:
        differs = [GONE]
        if row.name in by_name:
            differs = _differences(row, by_name[row.name])
            if row.goal_id in changed:
                differs.append(f'its goal {named[row.goal_id]}')
        if differs:
            stale.append(Stale(row.id, row.name, differs))
    return stale


def _differences(row: Any, strategy: Any) -> list[str]:
    differs = []
    if row.display_name != str(strategy.get_translatable_display_name()):
        differs.append('its display name')
    # Watcher keeps the text, so a tuple in a schema is equal to no list.
    schema = ast.literal_eval(str(strategy.get_schema()))
    stored = _json(row.parameters_spec)
    if stored != schema:
        old, new = _properties(stored), _properties(schema)
        names = sorted(
            name
            for name in old.keys() | new.keys()
            if old.get(name) != new.get(name)
        )
        text = 'its parameters'
        differs.append(f'{text} {", ".join(names)}' if names else text)
    return differs


def _properties(schema: Any) -> dict[str, Any]:
    properties = schema.get('properties') if isinstance(schema, dict) else None
    return properties if isinstance(properties, dict) else {}


def _audits(
    session: Any, stale: Iterable[Stale], goals: Iterable[Stale]
) -> list[Any]:
    """Those that would be cancelled."""
    strategies = {strategy.id for strategy in stale}
    gone = {goal.id for goal in goals if GONE in goal.differs}
    return [
        row
        for row in _rows(session, _Audit)
        if row.strategy_id in strategies or row.goal_id in gone
    ]


def _is_live(audit: Any) -> bool:
    """Whether it is still going to do something."""
    if audit.audit_type == objects.audit.AuditType.EVENT.value:
        # It waits for its next event.
        return audit.state in (*LIVE, AuditState.SUCCEEDED)
    return audit.state in LIVE


def _waiting_plans(
    session: Any, stale: Iterable[Stale], audits: Iterable[Any]
) -> int:
    """How many plans that may still be carried out would be cancelled."""
    query = sa.select(sa.func.count()).where(
        _Plan.c.deleted == 0,
        _Plan.c.state.in_(WAITING),
        sa.or_(
            _Plan.c.strategy_id.in_([strategy.id for strategy in stale]),
            _Plan.c.audit_id.in_([row.id for row in audits]),
        ),
    )
    return int(session.execute(query).scalar() or 0)
