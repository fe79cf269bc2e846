# SPDX-License-Identifier: Apache-2.0
"""The actions of a plan, in the order and with the parents they are run by.

Hosts at fault are closed first. What leaves one of them waits for that, and
is told so: Watcher goes on with a plan of which an action failed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kronos.engine import types
from kronos.snapshots import watcher_actions
from kronos.strategies.outcome import cell_actions, status_messages


@dataclass
class PlannedAction:
    """An action of a solution of Watcher."""

    action_type: str
    parameters: dict[str, Any]
    resource: str
    """Uuid of its server, or name of its host."""
    parents: list[int]
    """Positions of those that must end before it."""


def of(
    report: types.CycleReport, parents: Sequence[Sequence[int]]
) -> list[PlannedAction]:
    """All of a plan.

    :param parents: for each step of the report the indices of its parents
    """
    emptied = {one.name: one.cell for one in report.scopes if one.cell}
    found = [
        _disabling(one) if scope in emptied else _closing(number, scope, one)
        for number, (scope, one) in enumerate(report.closings, start=1)
    ]
    first = len(found)
    closed = {
        one.host: position for position, (_, one) in enumerate(report.closings)
    }
    for step, earlier in zip(report.steps, parents, strict=True):
        told = _step(len(found) + 1, step)
        after = [first + parent for parent in earlier]
        if step.cell_move is not None:
            # Nova would resize inside the cell while one of them is open.
            after = [*range(first), *after]
            told |= cell_actions.move(step.cell_move, emptied[step.scope])
            found.append(_move(watcher_actions.CELL_MOVE, told, step, after))
            continue
        if step.source in closed:
            told['source_closed'] = True
            after = [closed[step.source], *after]
        found.append(_move(watcher_actions.ACTION_TYPE, told, step, after))
    moves = list(found)
    for scope, restart in report.restarts:
        after = _before_restart(restart, moves)
        told = _restart(len(found) + 1, scope, restart)
        found.append(
            PlannedAction(
                watcher_actions.RESTART, told, restart.instance, after
            )
        )
    return found


def _before_restart(
    restart: types.Restart, planned: Sequence[PlannedAction]
) -> list[int]:
    """Its destination was planned with all moves there made."""
    ends = ('source_node', 'destination_node')
    if not restart.is_elsewhere:
        return []
    return [
        at
        for at, one in enumerate(planned)
        if restart.destination in [one.parameters.get(name) for name in ends]
    ]


def _restart(
    number: int, scope: str, restart: types.Restart
) -> dict[str, Any]:
    return {
        'aggregate': scope,
        'sequence': number,
        'resource_name': restart.instance_name,
        'source_node': restart.host,
        'destination_node': restart.destination,
        'attempt': restart.attempt,
        'failure': restart.failure,
        'failed_at': restart.failed_at,
        'stopped': restart.stopped,
        'reason': restart.reason,
    }


def _move(
    kind: str,
    told: dict[str, Any],
    step: types.MigrationStep,
    after: list[int],
) -> PlannedAction:
    return PlannedAction(kind, told, step.instance, after)


def _disabling(closing: types.Closing) -> PlannedAction:
    told = cell_actions.closing(closing)
    return PlannedAction(watcher_actions.SERVICE_STATE, told, closing.host, [])


def _closing(number: int, scope: str, closing: types.Closing) -> PlannedAction:
    told = {
        'aggregate': scope,
        'sequence': number,
        'resource_name': closing.host,
        'source_node': closing.host,
        'reason': str(closing.reason),
    }
    return PlannedAction(watcher_actions.CLOSE_HOST, told, closing.host, [])


def _step(number: int, step: types.MigrationStep) -> dict[str, Any]:
    requires = {'requires': step.requires} if step.requires else {}
    return {
        **requires,
        'aggregate': step.scope,
        'phase': step.phase.value,
        'sequence': number,
        'resource_name': step.instance_name,
        'source_node': step.source,
        'destination_node': step.destination,
        'imbalance': status_messages.change(
            step.imbalance_before, step.imbalance_after
        ),
        'combined_imbalance': (
            f'{step.combined_before:.3f} -> {step.combined_after:.3f}'
        ),
    }
