# SPDX-License-Identifier: Apache-2.0
"""The exhaustive search through the states of the model."""

import collections
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tests.protocol import state as model
from tests.protocol.state import EngineStep, State
from tests.protocol.steps import Protocol
from tests.protocol.symmetry import canonical

WAITS = 'somebody waits for ever'
LOOKS = (EngineStep.LIVE_PLANS.name, EngineStep.READ.name)


@dataclass
class Exploration:
    """What was seen."""

    states: int = 0
    fault: str = ''
    """The promise that is broken; '': all hold."""
    trace: list[str] = field(default_factory=list)
    """The fewest steps that lead to it."""


def explore(protocol: Protocol, start: State) -> Exploration:
    """Look at every state that can be reached, and at its promises.

    Nobody waits for ever: each state leads to one that is at rest, and not
    only by audits that begin.
    """
    before: dict[State, tuple[State, str] | None] = {start: None}
    sources: dict[State, set[State]] = collections.defaultdict(set)
    queue = collections.deque([start])
    while queue:
        state = queue.popleft()
        for name, after in protocol.steps(state):
            # An audit begins at any time, and helps nobody who waits.
            is_look = name.endswith(LOOKS)
            name, after = _with_private_steps(protocol, name, after)
            after = canonical(after, protocol.idle)
            if not is_look:
                sources[after].add(state)
            if after not in before:
                before[after] = state, name
                queue.append(after)
        if fault := model.violation(state):
            return Exploration(len(before), fault, [*_trace(before, state)])
    waiting = before.keys() - _leading_to_rest(before, sources)
    for state in before:
        if state in waiting:
            return Exploration(len(before), WAITS, [*_trace(before, state)])
    return Exploration(len(before))


def _leading_to_rest(
    states: Iterable[State], sources: Mapping[State, set[State]]
) -> set[State]:
    """The states after which all may end.

    :param sources: by state those from which a step leads to it
    """
    leading = {state for state in states if model.is_at_rest(state)}
    queue = [*leading]
    while queue:
        for state in sources.get(queue.pop(), ()):
            if state not in leading:
                leading.add(state)
                queue.append(state)
    return leading


def _with_private_steps(
    protocol: Protocol, name: str, state: State
) -> tuple[str, State]:
    """A step with those after it that nobody else sees."""
    while step := protocol.private_step(state):
        name, state = f'{name}, {step[0]}', step[1]
    return name, state


def _trace(
    before: dict[State, tuple[State, str] | None], state: State
) -> Iterator[str]:
    names = []
    while link := before[state]:
        state, name = link
        names.append(name)
    yield from reversed(names)
