# SPDX-License-Identifier: Apache-2.0
"""The cell drain: it empties hosts of one cell into other cells.

One server after the other, in the order that the audit wants, each to the
destination that is best for it: in mode spread the one that leaves the
combined imbalance lowest, in mode pack the fullest.
"""

from collections.abc import Callable

import numpy as np

from kronos.engine.arrays import EPSILON, IntArray
from kronos.engine.planning.drain_reasons import DrainReasons
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.planning.search.drain_moves import DrainMoves
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.types import Instance
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import MoveOrder


def run(simulation: Simulation, inputs: PhaseInput) -> PhaseResult:
    """Plan until the budget is used or nothing more can leave."""
    search = _Search(simulation, inputs)
    report = DrainReasons(simulation, inputs.sources, inputs.fixed)
    for instance in search.ordered():
        if simulation.remaining <= 0:
            break
        host = search.destination(instance)
        if host is not None:
            simulation.move(instance, host)
    return report.end(search.to_leave())


class _Search:
    def __init__(self, simulation: Simulation, inputs: PhaseInput) -> None:
        self._simulation = simulation
        self._placement = simulation.placement
        self._utilization = simulation.utilization
        self._inputs = inputs
        self._is_source = inputs.draining

    def to_leave(self) -> IntArray:
        """Those that may leave, and are there still."""
        is_left = self._is_source[self._placement.host_of]
        return np.flatnonzero(is_left & self._simulation.movable)

    def ordered(self) -> list[int]:
        """Those that may leave, in the order in which they do."""
        drain = cell_drain.of(self._inputs.settings)
        by_host = drain is not None and drain.order is MoveOrder.HOSTS
        key = self._by_host if by_host else self._by_risk
        return sorted(self.to_leave().tolist(), key=key)

    def _by_host(self, instance: int) -> tuple[object, ...]:
        server = self._instance(instance)
        return server.host, *self._by_risk(instance)

    def _by_risk(self, instance: int) -> tuple[object, ...]:
        """The least first: what is lost, or waits, if the move fails."""
        server = self._instance(instance)
        disk = 0 if server.is_volume_backed else server.root_gb
        runs = server.status == 'ACTIVE'
        return (
            runs,
            not server.is_volume_backed,
            disk,
            server.memory_mb,
            server.uuid,
        )

    def _instance(self, instance: int) -> Instance:
        uuid = self._utilization.index.instances[instance]
        return self._inputs.snapshot.instances[uuid]

    def destination(self, instance: int) -> int | None:
        """The best host for an instance now; None if it has none."""
        best: Callable[[int], int | None] = (
            self._fullest if self._inputs.packs else self._evenest
        )
        return best(instance)

    def _evenest(self, instance: int) -> int | None:
        instances = np.array([instance])
        if not self._simulation.constraints.hard_rows(instances).any():
            return None
        penalty = self._inputs.settings.soft_rule_penalty
        pair = DrainMoves(self._simulation, instances, penalty).best()
        return None if pair is None else pair[1]

    def _fullest(self, instance: int) -> int | None:
        """The fullest legal host in use; an empty one if there is no other."""
        row = self._simulation.constraints.hard_rows(np.array([instance]))[0]
        in_use = np.zeros(len(row), dtype=bool)
        in_use[self._placement.host_of] = True
        if (row & in_use).any():
            row = row & in_use
        hosts = np.flatnonzero(row)
        if not hosts.size:
            return None
        full = self._utilization.weights @ self._utilization.scores[:, hosts]
        return int(hosts[full >= full.max() - EPSILON][0])
