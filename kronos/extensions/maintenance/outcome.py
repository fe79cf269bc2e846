# SPDX-License-Identifier: Apache-2.0
"""The outcome of a run in one scope: states, and what a plan does next."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from kronos.engine.types import AggregateResult
from kronos.extensions.maintenance.host_states import HostState, State
from kronos.extensions.maintenance.maintenance import NAME, Maintenance


@dataclass
class Waves:
    """What a search has chosen."""

    closing: list[str] = field(default_factory=list)
    """Hosts that are closed now, in their order."""
    seeds: list[str] = field(default_factory=list)
    """Those of them of which servers go to hosts that are to be done."""
    blocked: dict[str, str] = field(default_factory=dict)
    """Hosts that cannot be emptied, with the reason."""
    waits: str = ''
    """Why no further host is closed; '': nothing keeps one from it."""


@dataclass
class RunOutcome:
    """What a result keeps of a run."""

    asked: Maintenance = field(default_factory=lambda: Maintenance('', ()))
    states: dict[str, HostState] = field(default_factory=dict)
    """Before the plan, by host of the run."""
    waves: Waves = field(default_factory=Waves)
    handing_over: list[str] = field(default_factory=list)
    """Hosts that the plan empties, or finds empty, and hands over."""
    reopening: list[str] = field(default_factory=list)
    """Hosts that the plan opens."""
    empty_done: list[str] = field(default_factory=list)
    """Hosts that are done and hold no server: the first one goes there
    alone."""
    to_move: int = 0
    """Servers on hosts that are to be done, or are being emptied."""
    unknown: str = ''
    """Why nobody knows which hosts are done; '': it is known."""

    @property
    def run(self) -> str:
        """Its name."""
        return self.asked.run

    def in_state(self, state: State) -> list[str]:
        """The hosts in a state, by name."""
        return [
            name for name, row in self.states.items() if row.state is state
        ]

    def count(self, *states: State) -> int:
        return sum(row.state in states for row in self.states.values())


def of(scope: AggregateResult) -> RunOutcome:
    """That of a scope; empty where nothing is maintained."""
    outcome = scope.beside.get(NAME)
    return outcome if isinstance(outcome, RunOutcome) else RunOutcome()


def count(scopes: Iterable[AggregateResult], *states: State) -> int:
    """The hosts of a run in some states; one in two scopes counts once."""
    return len(
        {
            host
            for scope in scopes
            for host, row in of(scope).states.items()
            if row.state in states
        }
    )
