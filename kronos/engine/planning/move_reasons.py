# SPDX-License-Identifier: Apache-2.0
"""The reason of each move, in words, from its step."""

from collections.abc import Sequence

from kronos.engine import wording
from kronos.engine.arrays import EPSILON
from kronos.engine.simulation.utilization import is_gain
from kronos.engine.types import MigrationPhase, MigrationStep


def of(steps: Sequence[MigrationStep]) -> list[str]:
    """One sentence part for each step of a scope, in their order."""
    names = {step.instance: _name(step) for step in steps}
    followers = {
        step.requires: names[step.instance] for step in steps if step.requires
    }
    makes_room, prepared = _makes_room(steps), _prepared(steps)
    reasons = []
    for position, step in enumerate(steps):
        if position in makes_room:
            instance = names[makes_room[position]]
            reasons.append(f'makes room on {step.source} for {instance}')
        elif position in prepared:
            reasons.append(_prepares(step, steps, prepared[position]))
        else:
            before = names.get(step.requires, '')
            reasons.append(_of(step, before, followers.get(step.instance, '')))
    return reasons


def plateaus(steps: Sequence[MigrationStep]) -> list[str]:
    """``Moves 1 to 4 have no gain by themselves, but prepare later ones``

    For each row of moves before one that gains, which is named.
    """
    rows: dict[int, list[int]] = {}
    for position, then in _prepared(steps).items():
        if gain(steps[position]) >= -EPSILON:
            rows.setdefault(then, []).append(position + 1)
    return [
        f'{_numbered(numbers)} later ones: the next gain is that of move '
        f'{then + 1}, {gain(steps[then]):.4f}.'
        for then, numbers in rows.items()
    ]


def _numbered(numbers: Sequence[int]) -> str:
    """``Moves 1 to 3 have no gain by themselves, but prepare``"""
    first, last = numbers[0], numbers[-1]
    if first == last:
        return f'Move {first} has no gain by itself, but prepares'
    those = f'{", ".join(map(str, numbers[:-1]))} and {last}'
    if last - first == len(numbers) - 1 > 1:
        those = f'{first} to {last}'
    return f'Moves {those} have no gain by themselves, but prepare'


def _prepared(steps: Sequence[MigrationStep]) -> dict[int, int]:
    """The spreading moves that gain nothing, and the next one that does.

    By their positions; without the halves of exchanges.
    """
    halves = {step.requires for step in steps if step.requires}
    gaining: dict[int, int] = {}
    then: int | None = None
    for position in range(len(steps) - 1, -1, -1):
        step = steps[position]
        if step.phase is not MigrationPhase.SPREAD:
            then = None
        elif is_gain(gain(step)):
            then = position
        elif then is not None and not (
            step.requires or step.instance in halves
        ):
            gaining[position] = then
    return dict(sorted(gaining.items()))


def _name(step: MigrationStep) -> str:
    return wording.named(step.instance_name, step.instance)


def _prepares(
    step: MigrationStep, steps: Sequence[MigrationStep], then: int
) -> str:
    """What a move that gains nothing is for."""
    name = _name(steps[then])
    return (
        'has no gain by itself, but prepares later moves: the next gain is '
        f'that of move {then + 1} ({name}), {gain(steps[then]):.4f}; until '
        f'then {_effect(step)}'
    )


def _makes_room(steps: Sequence[MigrationStep]) -> dict[int, str]:
    """The moves off a host that pack fills, and what comes there next."""
    by_position: dict[int, str] = {}
    comes: dict[str, str] = {}
    for position in range(len(steps) - 1, -1, -1):
        step = steps[position]
        if step.phase is not MigrationPhase.PACK:
            continue
        if step.source in comes:
            by_position[position] = comes[step.source]
        comes[step.destination] = step.instance
    return by_position


def gain(step: MigrationStep) -> float:
    """How far the combined imbalance falls; below 0: it grows."""
    return step.combined_before - step.combined_after


def _of(step: MigrationStep, before: str, after: str) -> str:
    """Why one step is made.

    :param before: who moves first, where that is needed
    :param after: who moves only after this one
    """
    if step.why:
        return step.why
    if step.phase is MigrationPhase.EVACUATE:
        return f'leaves {step.source}, which is being drained'
    if step.phase is MigrationPhase.AFFINITY:
        return 'brings a server group closer to its rule'
    if step.phase is MigrationPhase.RELIEVE:
        return f'relieves {step.source}, which is overfull'
    if step.phase is MigrationPhase.PACK:
        return f'leaves {step.source}, so that it becomes empty'
    if step.rest_before is not None and step.rest_after is not None:
        return _of_rest(step.rest_before, step.rest_after)
    if before:
        return f'second migration of a swap with {before}: {_effect(step)}'
    if after:
        return f'first migration of a swap with {after}: {_effect(step)}'
    if not is_gain(gain(step)):
        return f'has no gain by itself: {_effect(step)}'
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
        return 'the combined imbalance does not change'
    if value < 0.0:
        return f'the combined imbalance rises by {-value:.4f}'
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
