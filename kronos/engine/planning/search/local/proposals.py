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
from kronos.engine.planning.search.local import focus, orders
from kronos.engine.planning.search.local.batch import Found
from kronos.engine.planning.search.local.focus import GreedyEnd
from kronos.engine.planning.search.local.goal import Goal
from kronos.engine.planning.search.local.lots import Lots
from kronos.engine.planning.search.local.model import ScopeModel
from kronos.engine.planning.search.local.pruning import pruned
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
class Proposals:
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
        looked_at = focus.of(self.simulation, self.end)
        if len(looked_at.hosts) < 2 or not len(looked_at.instances):
            return
        model = ScopeModel(
            self.simulation,
            looked_at.instances,
            looked_at.hosts,
            self.settings.cost_weight,
        )
        settings, effort = self.settings, looked_at.effort
        goal = Goal(model, self.budget, settings.exhaust, settings.min_gain)
        seed = _seed(model, self.end.moves, self.budget)
        if effort.placements == 1:
            wide = WideWindows(model, goal, effort, Lots())
            yield from self._in_any_order(model, goal, wide.run(seed))
            return
        few = self.budget <= orders.MOST
        reach = functools.partial(self._reached, model, goal) if few else None
        search = TargetWindows(model, goal, effort, Lots(), reach)
        rows = self._in_order if few else self._in_any_order
        yield from rows(model, goal, search.run([seed]))

    def _reached(self, model: ScopeModel, goal: Goal, at: IntArray) -> float:
        swaps = self.settings.swap_moves
        return orders.Orders(model, goal, at, swaps).value

    def _in_order(
        self, model: ScopeModel, goal: Goal, placements: Sequence[Found]
    ) -> Iterator[list[Row]]:
        """What can be reached of each."""
        best: list[tuple[float, int, Row]] = []
        for number, found in enumerate(placements[:LOOKED_AT]):
            if best and found.value >= min(best)[0] - EPSILON:
                break
            if np.array_equal(found.at, model.home):
                continue
            swaps = self.settings.swap_moves
            order = orders.Orders(model, goal, found.at, swaps)
            moves = _moves(model, found.at, order.moved)
            row: Row = [
                tuple(moves[one] for one in unit) for unit in order.way()
            ]
            best.append((order.value, number, row))
        for _, _, row in sorted(best)[:PROPOSED]:
            yield [row]

    def _in_any_order(
        self, model: ScopeModel, goal: Goal, placements: Sequence[Found]
    ) -> Iterator[list[Row]]:
        seen: set[bytes] = set()
        for found in placements[:PROPOSED]:
            rows: list[Row] = []
            for at in (substituted(model, goal, found.at), found.at):
                at = pruned(model, goal, at)
                moved = np.flatnonzero(at != model.home)
                if moved.size and at.tobytes() not in seen:
                    seen.add(at.tobytes())
                    rows.append([(move,) for move in _moves(model, at, moved)])
            yield rows


def _moves(model: ScopeModel, at: IntArray, moved: IntArray) -> list[Move]:
    """The moves of some instances of a model to where they are to be."""
    return [
        (int(model.instances[one]), int(model.hosts[at[one]]))
        for one in moved.tolist()
    ]


def _seed(
    model: ScopeModel, moves: Sequence[tuple[int, int]], budget: int
) -> IntArray:
    """Where moves bring the instances of a model."""
    at = model.home.copy()
    instance_at = {one: n for n, one in enumerate(model.instances.tolist())}
    host_at = {one: n for n, one in enumerate(model.hosts.tolist())}
    for instance, host in moves[:budget]:
        # Hosts that are set aside are not in it.
        if instance in instance_at and host in host_at:
            at[instance_at[instance]] = host_at[host]
    return at
