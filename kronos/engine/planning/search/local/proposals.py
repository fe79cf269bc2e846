# SPDX-License-Identifier: Apache-2.0
"""The proposals of a local search: rows of moves, the best ones first.

For few moves it is known what can be reached by legal moves; for many an
order is still to be found (:mod:`..sequencing`).
"""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kronos.engine.arrays import EPSILON, IntArray
from kronos.engine.planning.search.local import neighbourhood, orders
from kronos.engine.planning.search.local.batch import FinalPlacement
from kronos.engine.planning.search.local.model import ScopeModel
from kronos.engine.planning.search.local.neighbourhood import GreedyEnd
from kronos.engine.planning.search.local.objective import Objective
from kronos.engine.planning.search.local.pruning import pruned
from kronos.engine.planning.search.local.random_numbers import RandomNumbers
from kronos.engine.planning.search.local.substitutions import substituted
from kronos.engine.planning.search.local.target_windows import TargetWindows
from kronos.engine.planning.search.local.wide_windows import WideWindows
from kronos.engine.planning.search.moves import Move
from kronos.engine.planning.search.sequencing import Unit
from kronos.engine.settings import Settings
from kronos.engine.simulation.simulation import Simulation

LOOKED_AT = 100
"""Placements of which it is looked at what can be reached of them."""
PROPOSED = 4
"""Placements that are proposed."""
Row = list[Unit]
"""Moves in their order."""


@dataclass(frozen=True)
class LocalSearch:
    """What a local search proposes for a simulation as it is."""

    simulation: Simulation
    settings: Settings
    end: GreedyEnd
    """What a greedy plan comes to from here."""
    budget: int

    def run(self) -> Iterator[list[Row]]:
        """Rows of moves from here, at most as many as the budget has.

        Those that come together are of one placement.
        """
        changed = neighbourhood.of(self.simulation, self.end)
        if len(changed.hosts) < 2 or not len(changed.instances):
            return
        model = ScopeModel(
            self.simulation,
            changed.instances,
            changed.hosts,
            self.settings.cost_weight,
        )
        settings, effort = self.settings, changed.effort
        objective = Objective(
            model, self.budget, settings.exhaust, settings.min_gain
        )
        seed = _seed(model, self.end.moves, self.budget)
        if effort.placements == 1:
            wide = WideWindows(model, objective, effort, RandomNumbers())
            yield from self._in_any_order(model, objective, wide.run(seed))
            return
        few = self.budget <= orders.MOST
        reach = (
            functools.partial(self._reached, model, objective) if few else None
        )
        search = TargetWindows(
            model, objective, effort, RandomNumbers(), reach
        )
        rows = self._in_order if few else self._in_any_order
        yield from rows(model, objective, search.run([seed]))

    def _reached(
        self, model: ScopeModel, objective: Objective, host_of: IntArray
    ) -> float:
        swaps = self.settings.swap_moves
        return orders.Orders(model, objective, host_of, swaps).value

    def _in_order(
        self,
        model: ScopeModel,
        objective: Objective,
        placements: Sequence[FinalPlacement],
    ) -> Iterator[list[Row]]:
        """What can be reached of each."""
        best: list[tuple[float, int, Row]] = []
        for number, placement in enumerate(placements[:LOOKED_AT]):
            if best and placement.value >= min(best)[0] - EPSILON:
                break
            if np.array_equal(placement.host_of, model.home):
                continue
            swaps = self.settings.swap_moves
            order = orders.Orders(model, objective, placement.host_of, swaps)
            moves = _moves(model, placement.host_of, order.moved)
            row: Row = [
                tuple(moves[position] for position in unit)
                for unit in order.way()
            ]
            best.append((order.value, number, row))
        for _, _, row in sorted(best)[:PROPOSED]:
            yield [row]

    def _in_any_order(
        self,
        model: ScopeModel,
        objective: Objective,
        placements: Sequence[FinalPlacement],
    ) -> Iterator[list[Row]]:
        seen: set[bytes] = set()
        for placement in placements[:PROPOSED]:
            rows: list[Row] = []
            for host_of in (
                substituted(model, objective, placement.host_of),
                placement.host_of,
            ):
                host_of = pruned(model, objective, host_of)
                moved = np.flatnonzero(host_of != model.home)
                if moved.size and host_of.tobytes() not in seen:
                    seen.add(host_of.tobytes())
                    rows.append(
                        [(move,) for move in _moves(model, host_of, moved)]
                    )
            yield rows


def _moves(
    model: ScopeModel, host_of: IntArray, moved: IntArray
) -> list[Move]:
    """The moves of some instances of a model to where they are to be."""
    return [
        (int(model.instances[instance]), int(model.hosts[host_of[instance]]))
        for instance in moved.tolist()
    ]


def _seed(
    model: ScopeModel, moves: Sequence[tuple[int, int]], budget: int
) -> IntArray:
    """Where moves bring the instances of a model."""
    host_of = model.home.copy()
    instance_at = {
        instance: n for n, instance in enumerate(model.instances.tolist())
    }
    host_at = {host: n for n, host in enumerate(model.hosts.tolist())}
    for instance, host in moves[:budget]:
        # Hosts that are set aside are not in it.
        if instance in instance_at and host in host_at:
            host_of[instance_at[instance]] = host_at[host]
    return host_of
