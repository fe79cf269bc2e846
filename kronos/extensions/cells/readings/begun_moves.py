# SPDX-License-Identifier: Apache-2.0
"""The begun moves to other cells that Watcher's database tells of."""

import datetime
import types
from typing import Any

import sqlalchemy as sa
from oslo_db.sqlalchemy import enginefacade
from watcher.db.sqlalchemy import models

from kronos.extensions.cells.cell_drain import CELL_MOVE
from kronos.extensions.cells.readings import unfinished_moves
from kronos.extensions.cells.readings.unfinished_moves import BegunMove
from kronos.snapshots.watcher_actions import ActionRow, PlanRow
from kronos.watcher_db import lock, marks
from kronos.watcher_db.publishing import DatabaseUnknown

_Action = models.Action.__table__
_Plan = models.ActionPlan.__table__


def since(seconds: float) -> list[BegunMove]:
    """All of them, those of deleted plans too.

    :param seconds: Unix seconds; rows that were written before are left out
    :raises DatabaseUnknown: the database does not tell
    """
    try:
        rows = lock.read(lambda: _rows(seconds))
    except lock.FAILURES as error:
        raise DatabaseUnknown(reason=lock.reason(error)) from error
    moves = (_begun(row) for row in rows)
    return [move for move in moves if move is not None]


def _rows(seconds: float) -> list[Any]:
    touched = sa.func.coalesce(_Action.c.updated_at, _Action.c.created_at)
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    query = (
        sa.select(
            _Action.c.uuid,
            _Action.c.state,
            _Action.c.status_message,
            _Action.c.created_at,
            _Action.c.updated_at,
            # Not as Watcher's type: one row that is no JSON would spoil all.
            sa.literal_column('actions.input_parameters', sa.Text).label(
                'parameters'
            ),
            _Plan.c.uuid.label('plan'),
            _Plan.c.state.label('plan_state'),
        )
        .join_from(_Action, _Plan, _Action.c.action_plan_id == _Plan.c.id)
        .where(
            _Action.c.action_type == CELL_MOVE,
            # Watcher's columns are in UTC, without a zone.
            touched >= moment.replace(tzinfo=None),
        )
    )
    with enginefacade.reader.using(types.SimpleNamespace()) as session:
        return list(session.execute(query).all())


def _begun(row: Any) -> BegunMove | None:
    touched = _seconds(row.updated_at or row.created_at)
    return unfinished_moves.begun(
        ActionRow(
            row.uuid,
            CELL_MOVE,
            row.state,
            marks.parsed(row.parameters),
            row.status_message or '',
            _seconds(row.created_at),
            touched,
        ),
        PlanRow(row.plan, row.plan_state, touched),
    )


def _seconds(moment: datetime.datetime) -> float:
    return moment.replace(tzinfo=datetime.UTC).timestamp()
