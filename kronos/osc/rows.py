# SPDX-License-Identifier: Apache-2.0
"""The rows of the client commands: names of columns, and what is in them."""

from collections.abc import Sequence
from typing import Any

from kronos.engine import wording
from kronos.osc import columns, moves
from kronos.osc.audits import Audit, Audits
from kronos.osc.moves import Move
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


def of_plans(found: Sequence[Plan], known: Audits) -> list[tuple[Any, ...]]:
    """A row of :data:`PLAN` and :data:`MORE` for each.

    What an audit says is of its last run, so no older plan of it has that.
    """
    told, listed = set(), []
    uuids = wording.ShortUuids(
        uuid for plan in found for uuid in (plan.uuid, plan.audit)
    )
    for plan in found:
        audit = known.get(plan.audit)
        message = '' if plan.audit in told else audit.message
        told.add(plan.audit)
        before, after = plan.imbalance
        listed.append(
            (
                columns.Uuid(plan.uuid, uuids.of(plan.uuid)),
                plan.state,
                plan.strategy,
                columns.Names(plan.scopes),
                len(plan.moves),
                plan.done,
                plan.failed,
                columns.Number(before),
                columns.Number(after),
                message,
                moves.moment(plan.created),
                moves.moment(plan.updated),
                columns.Uuid(plan.audit, uuids.of(plan.audit)),
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
        'scope': columns.Names(plan.scopes),
        'created_at': moves.moment(plan.created),
        'updated_at': moves.moment(plan.updated),
        'audit': plan.audit,
        'audit_name': audit.name,
        'audit_message': audit.message,
        'imbalance_before': columns.Number(before),
        'imbalance_after': columns.Number(after),
        'efficacy': columns.Numbers(plan.indicators),
        'global_efficacy': columns.Lines(
            plan.efficacy,
            [
                f'{x["name"]}: {x["value"]:g} {x["unit"]}'
                for x in plan.efficacy
            ],
        ),
        'moves': columns.Lines(
            [_move(one) for one in plan.moves],
            [
                f'{number}. {one.what}: {_outcome(one)}'
                for number, one in enumerate(plan.moves, start=1)
            ],
        ),
    }


def of_server(found: ServerHistory) -> dict[str, Any]:
    """All that is told of one server."""
    return {
        'server': found.server,
        'name': found.name,
        'answer': found.answer,
        'actions': columns.Lines(
            [_planned(one) for one in found.moves],
            [
                f'{one.move.at} {one.move.what}: {_outcome(one.move)}'
                for one in found.moves
            ],
        ),
        'audits': columns.Lines(
            [
                {'uuid': x.uuid, 'name': x.name, 'message': x.message}
                for x in found.audits
            ],
            [f'{x.name or x.uuid}: {x.message}' for x in found.audits],
        ),
        'note': found.note,
    }


def _planned(one: PlannedMove) -> dict[str, Any]:
    return {
        'at': one.move.at,
        'plan': one.move.plan,
        'plan_state': one.plan_state,
        **_move(one.move),
    }


def _move(one: Move) -> dict[str, Any]:
    return {
        'action': one.uuid,
        'action_type': one.kind,
        'server': one.server,
        'name': one.name,
        'source': one.source,
        'destination': one.destination,
        'scope': one.scope,
        'phase': one.phase,
        'state': one.state,
        'fault': one.fault,
        'reason': one.reason,
        'means': one.means,
        'remedy': one.remedy,
        'imbalance': one.changes,
    }


def _outcome(one: Move) -> str:
    """Its state, and why; with what to do on a line of its own."""
    told = one.state
    if one.fault:
        told += f' [{one.fault}]'
    if one.reason:
        told += f': {one.reason}'
    return f'{told}\n   remedy: {one.remedy}' if one.remedy else told
