# SPDX-License-Identifier: Apache-2.0
"""The actions of a plan, in the order and with the parents they are run by.

Moves stand in the order in which they get their turns. What an extension
does beside them, or has them wait for, it says itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kronos.engine import types
from kronos.engine.types import MigrationStep
from kronos.snapshots import watcher_actions
from kronos.strategies.outcome import status_messages
from kronos.strategies.outcome.additions import PLAIN, Additions


@dataclass(eq=False)
class PlannedAction:
    """An action of a solution of Watcher."""

    action_type: str
    parameters: dict[str, Any]
    resource: str
    """Uuid of its server, or name of its host."""
    after: list['PlannedAction'] = field(default_factory=list)
    """Those that must end before it; each of them stands before it."""
    step: MigrationStep | None = None
    """The step of the report that it carries out, if it is one's."""
    parents: list[int] = field(default_factory=list)
    """Positions of ``after``, once all actions have theirs."""


def of(
    report: types.CycleReport,
    parents: Sequence[Sequence[int]],
    order: Sequence[int],
    additions: Additions = PLAIN,
) -> list[PlannedAction]:
    """All of a plan.

    :param parents: for each step of the report the indices of its parents
    :param order: indices of all steps, parents first: who is earlier gets
        its turn first. The number that an action tells is that of the report
    :raises ValueError: an extension has an action wait for a later one
    """
    ahead = additions.ahead(report)
    windows = {scope.name: scope.window for scope in report.scopes}
    moves: dict[int, PlannedAction] = {}
    for index in order:
        step = report.steps[index]
        moves[index] = PlannedAction(
            watcher_actions.ACTION_TYPE,
            _step(len(ahead) + index + 1, step, windows.get(step.scope)),
            step.instance,
            [moves[parent] for parent in parents[index]],
            step,
        )
    actions = additions.arranged(report, ahead, list(moves.values()))
    position = {action: number for number, action in enumerate(actions)}
    for action in actions:
        action.parents = _parents(action, position)
    return actions


def _parents(
    action: PlannedAction, position: Mapping[PlannedAction, int]
) -> list[int]:
    own = position[action]
    positions = sorted(position.get(other, own) for other in action.after)
    if positions and positions[-1] >= own:
        raise ValueError(f'{action.action_type} waits for a later action')
    return positions


def beside(
    hosts: Sequence[str], actions: Sequence[PlannedAction]
) -> list[PlannedAction]:
    """The actions that take a server to or from some hosts."""
    ends = ('source_node', 'destination_node')
    return [
        action
        for action in actions
        if any(action.parameters.get(name) in hosts for name in ends)
    ]


def _step(
    number: int,
    step: types.MigrationStep,
    window: types.ScopeWindow | None = None,
) -> dict[str, Any]:
    limit = {}
    if window is not None and not window.is_exempt:
        limit = {'window_seconds': round(window.move_seconds, 1)}
    requires = {'requires': step.requires} if step.requires else {}
    forecast = {'forecast_seconds': round(step.seconds, 1)}
    effect = {
        policy: [round(shares.leaving, 6), round(shares.arriving, 6)]
        + [shares.query]
        for policy, shares in step.effect.items()
    }
    return {
        **requires,
        **(forecast if step.seconds else {}),
        **({'effect': effect} if effect else {}),
        **limit,
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
