# SPDX-License-Identifier: Apache-2.0
"""The actions of a plan, in the order and with the parents they are run by.

Moves to another cell that were left half done are finished first, and what
takes place at the same hosts waits for that. Then hosts at fault are closed.
What leaves one of them waits for that, and is told so: Watcher goes on with a
plan of which an action failed. Moves stand in the order in which they get
their turns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kronos.engine import types
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.audit import cell_actions
from kronos.extensions.cells.cell_drain import UnfinishedMove
from kronos.snapshots import watcher_actions
from kronos.strategies.outcome import status_messages


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
    report: types.CycleReport,
    parents: Sequence[Sequence[int]],
    order: Sequence[int],
) -> list[PlannedAction]:
    """All of a plan.

    :param parents: for each step of the report the indices of its parents
    :param order: indices of all steps, parents first: who is earlier gets
        its turn first. The number that an action tells is that of the report
    """
    begun = enumerate(cell_drain.finishing(*report.scopes), start=1)
    actions = [
        _finishing(number, scope, move) for number, (scope, move) in begun
    ]
    finishing = list(actions)
    emptied = cell_drain.outcomes(report.scopes)
    closed = {}
    for scope, closing in report.closings:
        closed[closing.host] = len(actions)
        actions.append(
            _disabling(closing)
            if scope in emptied
            else _closing(len(actions) + 1, scope, closing)
        )
    first, steps = len(actions), report.steps
    position = {index: first + place for place, index in enumerate(order)}
    for index in order:
        step = steps[index]
        inputs = _step(first + index + 1, step)
        after = sorted(position[parent] for parent in parents[index])
        if step.how is not None:
            inputs |= cell_actions.move(step.how, emptied[step.scope])
            ends = [step.source, step.destination]
            # Nova would resize inside the cell while one of them is open.
            after = [*_beside(ends, finishing), *closed.values(), *after]
            actions.append(
                _move(watcher_actions.CELL_MOVE, inputs, step, after)
            )
            continue
        if step.source in closed:
            inputs['source_closed'] = True
            after = [closed[step.source], *after]
        actions.append(_move(watcher_actions.ACTION_TYPE, inputs, step, after))
    return actions + _restarts(report, actions)


def _restarts(
    report: types.CycleReport, moves: Sequence[PlannedAction]
) -> list[PlannedAction]:
    """Those of a plan, behind all its moves."""
    return [
        PlannedAction(
            watcher_actions.RESTART,
            _restart(number, scope, restart),
            restart.instance,
            _before_restart(restart, moves),
        )
        for number, (scope, restart) in enumerate(
            report.restarts, start=len(moves) + 1
        )
    ]


def _before_restart(
    restart: types.Restart, planned: Sequence[PlannedAction]
) -> list[int]:
    """Its destination was planned with all moves there made."""
    if not restart.is_elsewhere:
        return []
    return _beside([restart.destination], planned)


def _beside(
    hosts: Sequence[str], planned: Sequence[PlannedAction]
) -> list[int]:
    """Positions of the actions that take a server to or from hosts."""
    ends = ('source_node', 'destination_node')
    return [
        position
        for position, action in enumerate(planned)
        if any(action.parameters.get(name) in hosts for name in ends)
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
    inputs: dict[str, Any],
    step: types.MigrationStep,
    after: list[int],
) -> PlannedAction:
    return PlannedAction(kind, inputs, step.instance, after)


def _finishing(
    number: int, scope: str, begun: UnfinishedMove
) -> PlannedAction:
    inputs = cell_actions.finishing(number, scope, begun)
    return PlannedAction(watcher_actions.CELL_MOVE, inputs, begun.instance, [])


def _disabling(closing: types.Closing) -> PlannedAction:
    inputs = cell_actions.closing(closing)
    return PlannedAction(
        watcher_actions.SERVICE_STATE, inputs, closing.host, []
    )


def _closing(number: int, scope: str, closing: types.Closing) -> PlannedAction:
    inputs = {
        'aggregate': scope,
        'sequence': number,
        'resource_name': closing.host,
        'source_node': closing.host,
        'reason': str(closing.reason),
    }
    return PlannedAction(watcher_actions.CLOSE_HOST, inputs, closing.host, [])


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
