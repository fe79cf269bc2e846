# SPDX-License-Identifier: Apache-2.0
"""The exhaustive search through the states of the model."""

import collections
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.protocol import state as model
from tests.protocol.state import State
from tests.protocol.steps import Protocol
from tests.protocol.symmetry import canonical


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

    Nobody waits for ever: a state without a further step is at rest.
    """
    before: dict[State, tuple[State, str] | None] = {start: None}
    queue = collections.deque([start])
    while queue:
        state = queue.popleft()
        is_last = True
        for name, after in protocol.steps(state):
            is_last = False
            after = canonical(after)
            if after not in before:
                before[after] = state, name
                queue.append(after)
        fault = model.violation(state)
        if not fault and is_last and not model.is_at_rest(state):
            fault = 'somebody waits for ever'
        if fault:
            return Exploration(len(before), fault, [*_trace(before, state)])
    return Exploration(len(before))


def _trace(
    before: dict[State, tuple[State, str] | None], state: State
) -> Iterator[str]:
    names = []
    while link := before[state]:
        state, name = link
        names.append(name)
    yield from reversed(names)
