# SPDX-License-Identifier: Apache-2.0
"""The reason of each move, in words, from what its step says."""

from collections.abc import Sequence

from kronos.engine.arrays import EPSILON
from kronos.engine.simulation.utilization import is_gain
from kronos.engine.types import MigrationPhase, MigrationStep


def of(steps: Sequence[MigrationStep]) -> list[str]:
    """One sentence part for each step of a scope, in their order."""
    names = {one.instance: one.instance_name or one.instance for one in steps}
    followers = {
        one.requires: names[one.instance] for one in steps if one.requires
    }
    makes_room = _makes_room(steps)
    return [
        f'makes room on {one.source} for {names[makes_room[at]]}'
        if at in makes_room
        else _of(
            one, names.get(one.requires, ''), followers.get(one.instance, '')
        )
        for at, one in enumerate(steps)
    ]


def _makes_room(steps: Sequence[MigrationStep]) -> dict[int, str]:
    """The moves off a host that pack fills, and what comes there next."""
    found: dict[int, str] = {}
    comes: dict[str, str] = {}
    for at in range(len(steps) - 1, -1, -1):
        step = steps[at]
        if step.phase is not MigrationPhase.PACK:
            continue
        if step.source in comes:
            found[at] = comes[step.source]
        comes[step.destination] = step.instance
    return found


def gain(step: MigrationStep) -> float:
    """How far the combined imbalance falls; below 0: it grows."""
    return step.combined_before - step.combined_after


def _of(step: MigrationStep, before: str, after: str) -> str:
    """Why one step is made.

    :param before: who moves first, where that is needed
    :param after: who moves only after this one
    """
    if step.cell_move is not None:
        return f'leaves cell {step.cell_move.source_cell}, which is emptied'
    if step.phase is MigrationPhase.EVACUATE:
        return f'leaves {step.source}, which is to be emptied'
    if step.phase is MigrationPhase.AFFINITY:
        return 'brings a server group closer to its rule'
    if step.phase is MigrationPhase.PACK:
        return f'leaves {step.source}, so that it becomes empty'
    if step.rest_before is not None and step.rest_after is not None:
        return _of_rest(step.rest_before, step.rest_after)
    if before:
        return f'the second half of an exchange with {before}: {_effect(step)}'
    if after:
        return f'the first half of an exchange with {after}: {_effect(step)}'
    if gain(step) < -EPSILON:
        return f'prepares later moves, until which {_effect(step)}'
    if not is_gain(gain(step)):
        return (
            'evens hosts out that are neither the highest nor the lowest: '
            'the combined imbalance stays, and later moves can lower it'
        )
    return _effect(step)


def _of_rest(before: float, after: float) -> str:
    """Of a step that is made for the hosts beside those that are stuck."""
    what = 'the combined imbalance of the hosts that are not set aside'
    if is_gain(before - after):
        by = f'{before - after:.4f} ({before:.3f} to {after:.3f})'
        return f'lowers {what} by {by}'
    return f'prepares later moves, which lower {what}'


def _effect(step: MigrationStep) -> str:
    value = gain(step)
    if abs(value) <= EPSILON:
        return 'the combined imbalance stays'
    if value < 0.0:
        return f'the combined imbalance grows by {-value:.4f}'
    falls = {
        name: was - step.imbalance_after.get(name, was)
        for name, was in step.imbalance_before.items()
    }
    most = max(falls, key=lambda name: falls[name], default='')
    if not most:
        return f'lowers the combined imbalance by {value:.4f}'
    return (
        f'lowers the combined imbalance by {value:.4f}, most of all {most} '
        f'({step.imbalance_before[most]:.3f} to '
        f'{step.imbalance_after[most]:.3f})'
    )
