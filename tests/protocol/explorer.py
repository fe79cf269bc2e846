# SPDX-License-Identifier: Apache-2.0
"""The exhaustive search through the states of the model."""

import collections
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.protocol import state as model
from tests.protocol.state import EngineStep, State
from tests.protocol.steps import Protocol
from tests.protocol.symmetry import canonical

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

    Nobody waits for ever: a state in which only audits may go on is at rest.
    """
    before: dict[State, tuple[State, str] | None] = {start: None}
    queue = collections.deque([start])
    while queue:
        state = queue.popleft()
        is_last = True
        for name, after in protocol.steps(state):
            # An audit begins at any time, and helps nobody who waits.
            is_last = is_last and name.endswith(LOOKS)
            name, after = _with_private_steps(protocol, name, after)
            after = canonical(after, protocol.idle)
            if after not in before:
                before[after] = state, name
                queue.append(after)
        fault = model.violation(state)
        if not fault and is_last and not model.is_at_rest(state):
            fault = 'somebody waits for ever'
        if fault:
            return Exploration(len(before), fault, [*_trace(before, state)])
    return Exploration(len(before))


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
