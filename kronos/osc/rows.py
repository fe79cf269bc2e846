# SPDX-License-Identifier: Apache-2.0
"""The rows of the client commands: names of columns, and what is in them."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kronos.engine import wording
from kronos.osc import columns, moves
from kronos.osc.audits import Audit, Audits
from kronos.osc.moves import MoveAction
from kronos.osc.plans import Plan
from kronos.osc.server_history import PlannedMove, ServerHistory

PLAN = (
    'UUID',
    'State',
    'Strategy',
    'Scope',
    'Actions',
    'Done',
    'Failed',
    'Imbalance Before',
    'Imbalance After',
    'Audit Message',
)
MORE = ('Created At', 'Updated At', 'Audit', 'Audit Name', 'Plan Message')
"""What a long list has, too."""


def of_plans(plans: Sequence[Plan], audits: Audits) -> list[tuple[Any, ...]]:
    """A row of :data:`PLAN` and :data:`MORE` for each.

    What an audit says is of its last run, so no older plan of it has that.
    """
    with_message, listed = set(), []
    uuids = wording.ShortUuids(
        uuid for plan in plans for uuid in (plan.uuid, plan.audit)
    )
    for plan in plans:
        audit = audits.get(plan.audit)
        message = '' if plan.audit in with_message else audit.message
        with_message.add(plan.audit)
        before, after = plan.imbalance
        listed.append(
            (
                columns.UuidColumn(plan.uuid, uuids.of(plan.uuid)),
                plan.state,
                plan.strategy,
                columns.NamesColumn(plan.scopes),
                len(plan.moves),
                plan.done,
                plan.failed,
                columns.NumberColumn(before),
                columns.NumberColumn(after),
                message,
                moves.moment(plan.created),
                moves.moment(plan.updated),
                columns.UuidColumn(plan.audit, uuids.of(plan.audit)),
                audit.name,
                plan.message,
            )
        )
    return listed


def of_plan(plan: Plan, audit: Audit) -> dict[str, Any]:
    """All of one plan."""
    before, after = plan.imbalance
    return {
        'uuid': plan.uuid,
        'state': plan.state,
        'status_message': plan.message,
        'strategy': plan.strategy,
        'scope': columns.NamesColumn(plan.scopes),
        'created_at': moves.moment(plan.created),
        'updated_at': moves.moment(plan.updated),
        'audit': plan.audit,
        'audit_name': audit.name,
        'audit_message': audit.message,
        'imbalance_before': columns.NumberColumn(before),
        'imbalance_after': columns.NumberColumn(after),
        'efficacy': columns.NumbersColumn(plan.indicators),
        'global_efficacy': columns.LinesColumn(
            plan.efficacy,
            [
                f'{x["name"]}: {x["value"]:g} {x["unit"]}'
                for x in plan.efficacy
            ],
        ),
        'moves': columns.LinesColumn(
            [_move(move) for move in plan.moves],
            [
                f'{number}. {move.what}: {_outcome(move)}'
                for number, move in enumerate(plan.moves, start=1)
            ],
        ),
    }


def of_server(history: ServerHistory) -> dict[str, Any]:
    """All that is told of one server."""
    return {
        'server': history.server,
        'name': history.name,
        'answer': history.answer,
        'actions': columns.LinesColumn(
            [_planned(row) for row in history.moves],
            [
                f'{row.move.touched_at} {row.move.what}: {_outcome(row.move)}'
                for row in history.moves
            ],
        ),
        'audits': columns.LinesColumn(
            [asdict(audit) for audit in history.audits],
            [f'{x.name or x.uuid}: {x.message}' for x in history.audits],
        ),
        'note': history.note,
    }


def _planned(planned: PlannedMove) -> dict[str, Any]:
    return {
        'at': planned.move.touched_at,
        'plan': planned.move.plan,
        'plan_state': planned.plan_state,
        **_move(planned.move),
    }


def _move(move: MoveAction) -> dict[str, Any]:
    return {
        'action': move.uuid,
        'action_type': move.kind,
        'server': move.server,
        'name': move.name,
        'source': move.source,
        'destination': move.destination,
        'scope': move.scope,
        'phase': move.phase,
        'state': move.state,
        'fault': move.fault,
        'reason': move.reason,
        'means': move.means,
        'remedy': move.remedy,
        'imbalance': move.changes,
    }


def _outcome(move: MoveAction) -> str:
    """Its state, and why; with what to do on a line of its own."""
    text = move.state
    if move.fault:
        text += f' [{move.fault}]'
    if move.reason:
        text += f': {move.reason}'
    return f'{text}\n   remedy: {move.remedy}' if move.remedy else text
