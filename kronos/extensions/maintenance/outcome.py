# SPDX-License-Identifier: Apache-2.0
"""The outcome of a run in one scope: states, and what a plan does next."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

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
class Forecast:
    """What is to be expected of a run, from now to its end."""

    least_moves: int = 0
    """The fewest moves that any run could make."""
    moves: int = 0
    """Those that are expected."""
    twice: int = 0
    """Those of them that are made again later, as they go to seeds."""
    seconds: float = 0.0
    """Until the last host is open again."""
    ends: dict[str, float] = field(default_factory=dict)
    """Seconds until each host is done and open, as far as it gets there."""
    stuck: list[str] = field(default_factory=list)
    """Hosts for which there is no room, as it seems."""


@dataclass
class Staying:
    """A server that cannot leave a host that is to be emptied."""

    host: str
    instance: str
    name: str
    code: str
    reason: str
    remedy: str
    """'': there is nothing to do."""


@dataclass
class Look:
    """What is in the way of a run, as far as the cloud shows."""

    staying: list[Staying] = field(default_factory=list)
    stopped: dict[str, list[str]] = field(default_factory=dict)
    """Servers by host that are SHUTOFF and stay there, or block it."""
    may_return: dict[str, list[str]] = field(default_factory=dict)
    """Servers by host that come back if their resize is reverted."""
    groups: list[str] = field(default_factory=list)
    """Groups that need more hosts than at_once leaves, as sentences."""
    most_at_once: int = 0
    """The largest at_once with which the run can begin."""
    others: list[str] = field(default_factory=list)
    """Hosts that take no server, and that the run has not closed."""
    pace: str = ''
    """Why fewer than at_once hosts are emptied at a time; '': as many are, or
    nobody knows."""
    hints: list[str] = field(default_factory=list)
    """What else an operator should know before, as sentences."""

    @property
    def blocked(self) -> list[str]:
        """Hosts that cannot be emptied."""
        return sorted({row.host for row in self.staying})


@dataclass
class RunOutcome:
    """What a result keeps of a run."""

    spec: Maintenance = field(default_factory=lambda: Maintenance('', ()))
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
    missing: list[str] = field(default_factory=list)
    """Hosts of the run that are in no scope of the audit."""
    to_move: int = 0
    """Servers on hosts that are to be done, or are being emptied."""
    look: Look = field(default_factory=Look)
    """Before the plan."""
    moved: int = 0
    """Servers that the run has moved so far."""
    moved_twice: int = 0
    """Those of them that it has moved more than once."""
    forecast: Forecast = field(default_factory=Forecast)
    """Before the plan."""
    unknown: str = ''
    """Why nobody knows which hosts are done; '': it is known."""
    taken_at: float = 0.0
    """Unix seconds to which the states apply."""

    @property
    def run(self) -> str:
        """Its name."""
        return self.spec.run

    def hosts(self, *states: State) -> list[str]:
        """The names of the hosts in some states."""
        return [n for n, row in self.states.items() if row.state in states]

    def count(self, *states: State) -> int:
        return len(self.hosts(*states))


def of(scope: AggregateResult) -> RunOutcome:
    """That of a scope; empty where nothing is maintained."""
    outcome = scope.beside.get(NAME)
    return outcome if isinstance(outcome, RunOutcome) else RunOutcome()


def of_host(run: RunOutcome, name: str) -> dict[str, Any] | None:
    """What a run does with a host, as a document; None: nothing.

    Its ``staying`` are the servers that keep it from being emptied.
    """
    state = run.states.get(name)
    if state is None:
        return None
    return {
        'run': run.run,
        'state': state.state.value,
        'since': state.since,
        'closing': name in run.waves.closing,
        'handing_over': name in run.handing_over,
        'reopening': name in run.reopening,
        'waits': run.waves.waits,
        'expected_seconds': run.forecast.ends.get(name),
        'staying': [
            asdict(each) for each in run.look.staying if each.host == name
        ],
    }


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
