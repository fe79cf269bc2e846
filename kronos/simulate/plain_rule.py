# SPDX-License-Identifier: Apache-2.0
"""A plain rule to compare with: one like Watcher's workload_stabilization.

While the standard deviation of the hosts is above its threshold, a server of
the fullest host goes where the deviation gets lowest. It has no memory.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from kronos.engine.planning.propose import ScheduledPlan
from kronos.engine.scheduling.migration_costs import MigrationCosts
from kronos.engine.types import (
    AggregateResult,
    CycleReport,
    MigrationPhase,
    MigrationStep,
    Snapshot,
    StopReason,
)
from kronos.simulate.accounting import Floats
from kronos.simulate.audits import Scope
from kronos.simulate.cloud import Cloud

THRESHOLD = 0.1
"""Standard deviation of the hosts that is small enough."""
MOST = 1000
"""Moves of one plan."""


class PlainRule:
    """The rule on one scope at one moment.

    :param values: by host of the cloud; NaN: it takes no part
    :param usage: by server, as ratio of the host of its own size
    """

    def __init__(
        self, cloud: Cloud, values: Floats, usage: Floats, capacity: Floats
    ) -> None:
        self._cloud = cloud
        self._load = np.array(values)
        self._usage = usage
        self._capacity = capacity
        self._counts = ~np.isnan(self._load) & ~np.isnan(capacity)

    def moves(
        self, servers: npt.NDArray[np.intp]
    ) -> Iterator[tuple[int, int]]:
        """Servers and the hosts that they go to.

        :param servers: that may move
        """
        for host in np.argsort(-np.where(self._counts, self._load, -1.0)):
            if not self._counts[host]:
                return
            inside = servers[self._cloud.host[servers] == host]
            for server in inside[np.argsort(-self._usage[inside])].tolist():
                values = self._load[self._counts]
                if values.std() <= THRESHOLD:
                    return
                if self._load[host] <= values.mean():
                    break
                destination = self._best(server, int(host))
                if destination is not None:
                    self._move(server, int(host), destination)
                    yield server, destination

    def _best(self, server: int, source: int) -> int | None:
        """Where it lowers the variance most; None: it does nowhere."""
        usage = self._usage[server]
        if not usage > 0:
            return None
        values = np.where(self._counts, self._load, 0.0)
        after = values[source] - usage / self._capacity[source]
        more = values + usage / self._capacity
        number = int(self._counts.sum())
        total = values.sum() - values[source] + after
        squares = (values**2).sum() - values[source] ** 2 + after**2
        variance = (squares - values**2 + more**2) / number - (
            (total - values + more) / number
        ) ** 2
        may = self._counts & self._cloud.fits(server)
        may[source] = False
        variance = np.where(may, variance, np.inf)
        best = int(np.argmin(variance))
        now = values[self._counts].var()
        return best if variance[best] < now - 1e-12 else None

    def _move(self, server: int, source: int, destination: int) -> None:
        usage = self._usage[server]
        self._load[source] -= usage / self._capacity[source]
        self._load[destination] += usage / self._capacity[destination]


def plan(
    rule: PlainRule,
    scope: Scope,
    snapshot: Snapshot,
    costs: MigrationCosts,
    cloud: Cloud,
) -> ScheduledPlan:
    """What the rule does to a scope, as a plan that is carried out."""
    servers = np.array(
        [each for each in scope.servers() if each not in cloud.going], int
    )
    steps = []
    for server, destination in rule.moves(servers):
        instance = cloud.instances[cloud.uuids[server]]
        name = cloud.names[destination]
        steps.append(
            MigrationStep(
                scope.name,
                MigrationPhase.SPREAD,
                instance.uuid,
                instance.name,
                instance.host,
                name,
                instance.memory_mb,
                {},
                {},
                0.0,
                0.0,
                copied_mb=costs.copied_mb(instance, name),
                seconds=costs.seconds(instance, name),
            )
        )
        if len(steps) >= MOST:
            break
    result = AggregateResult(snapshot.scope, StopReason.STUCK, '', steps=steps)
    numbers = range(len(steps))
    return ScheduledPlan(
        CycleReport([result]), [[] for _ in numbers], list(numbers)
    )
