# SPDX-License-Identifier: Apache-2.0
"""The start of a forecast: how far each host of the run is.

Hosts are numbers of the cluster.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from kronos.engine.types import Snapshot
from kronos.extensions.maintenance import host_states, maintenance
from kronos.extensions.maintenance.closing_reason import Step
from kronos.extensions.maintenance.host_states import HostState, State
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.extensions.maintenance.planning.cluster import Cluster


@dataclass
class Start:
    """What the run finds."""

    emptied: list[int]
    """Hosts that it is emptying, or that a started plan is about to; those
    that hold servers again, too."""
    to_do: list[int]
    returns: dict[int, float]
    """Seconds until the work on each host that is handed over is done."""
    clean: set[int]
    """Hosts that are done, or are not to be done, and take servers."""
    lost: int
    """Hosts that are unavailable and that the run does not bring back."""
    zones: Counter[str]
    """Unavailable hosts by zone, those of the run too."""


def of(
    snapshot: Snapshot,
    spec: Maintenance,
    states: Mapping[str, HostState],
    cluster: Cluster,
) -> Start:
    """What a forecast begins with.

    :param states: of the hosts of the run
    """
    closed = host_states.unavailable(snapshot, states)
    in_hand = {*maintenance.view_of(snapshot.beside).in_hand}
    ours = [name for name in closed if _step(states, name) is not None]
    return Start(
        emptied=[
            cluster.position[name]
            for name, row in states.items()
            if row.is_emptied or (row.state is State.TO_DO and name in in_hand)
        ],
        to_do=[
            cluster.position[name]
            for name, row in states.items()
            if row.state is State.TO_DO and name not in in_hand
        ],
        returns=_returns(snapshot.taken_at, spec, states, cluster),
        clean={
            cluster.position[name]
            for name in {*cluster.hosts} - {*closed}
            if name not in states or states[name].state is State.DONE
        },
        lost=len(closed) - len(ours) + len(host_states.gone(snapshot, spec)),
        zones=Counter(
            snapshot.hosts[name].availability_zone for name in closed
        ),
    )


def _step(states: Mapping[str, HostState], name: str) -> Step | None:
    """The step of a host that the run has closed."""
    row = states.get(name)
    return row.reason.step if row and row.reason else None


def _returns(
    now: float,
    spec: Maintenance,
    states: Mapping[str, HostState],
    cluster: Cluster,
) -> dict[int, float]:
    returns = {}
    for name, row in states.items():
        if row.reason is None or row.is_emptied:
            continue
        rest = spec.work_time - row.seconds(now)
        if row.state is State.RETURNING:
            rest = 0.0
        returns[cluster.position[name]] = max(0.0, rest)
    return returns
