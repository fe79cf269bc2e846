# SPDX-License-Identifier: Apache-2.0
"""The servers that make room impossible, since they have to stay.

The room is planned again as if they could move, by as few of them as
possible. Where that succeeds, those that would move are the reason.
"""

from collections.abc import Sequence

import numpy as np

from kronos.engine.arrays import BoolArray
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.slots.flavors import SlotFlavor
from kronos.extensions.room.planning import scope_case
from kronos.extensions.room.planning.columns import Column
from kronos.extensions.room.planning.counts import Counts, NoPlacement
from kronos.extensions.room.planning.market.masters import Aim
from kronos.extensions.room.planning.market.plans import MarketPlan
from kronos.extensions.room.planning.scope_case import ScopeCase

PRICE = 1_000.0
"""Of a move of a server that has to stay, in moves of others."""
PRICE_LARGE = 20.0
"""The same among priced trades: of large prices, they lose small ones."""
SMALL = 4_000
"""Hosts times kinds up to which the program by counts is solved."""
LIMIT = 50_000
"""Hosts times kinds up to which the reason is sought."""


def reasons(
    simulation: Simulation,
    inputs: PhaseInput,
    flavors: Sequence[tuple[SlotFlavor, int]],
    apart: bool,
) -> dict[str, str]:
    """Servers that would move for the wanted room, by uuid why they stay.

    :param flavors: wanted numbers
    :param apart: whether a host takes one new server at most
    :returns: empty: no such servers are the reason, or the scope is large
    """
    uuids = simulation.utilization.index.instances
    if simulation.movable.all():
        return {}
    case = scope_case.of(
        simulation,
        inputs.snapshot,
        inputs.settings,
        flavors,
        apart,
        np.ones(len(uuids), dtype=bool),
    )
    if len(case.cluster.hosts) * len(case.cluster.ways) > LIMIT:
        return {}
    movable = frozenset(
        uuid
        for uuid, moves in zip(uuids, simulation.movable, strict=True)
        if moves
    )
    return {
        uuid: str(inputs.fixed.get(uuid, ''))
        for uuid in blocking(case, movable)
    }


def blocking(case: ScopeCase, movable: frozenset[str]) -> list[str]:
    """Servers that stay, but would move for the wanted room.

    :param case: the scope, with servers movable that have to stay
    :param movable: the servers that do not have to
    :returns: empty: even with them there is no room
    """
    cluster = case.cluster
    stays = np.ones(len(cluster.ways), dtype=bool)
    for (_, way), servers in cluster.servers.items():
        stays[way] = servers[0] not in movable
    return sorted(
        server
        for host, column in _placement(case, stays)
        for way in np.flatnonzero(stays).tolist()
        for server in cluster.servers.get((host, way), ())[: column.outs[way]]
    )


def _placement(case: ScopeCase, stays: BoolArray) -> list[tuple[int, Column]]:
    """What leaves and enters hosts, with as few as possible that stay.

    :param stays: [ways], of servers that have to
    :returns: empty: there is no room even so, or it is not known
    """
    cluster = case.cluster
    if len(cluster.hosts) * len(cluster.ways) > SMALL:
        weights = np.where(stays, PRICE_LARGE, 1.0)
        plan = MarketPlan(case, Aim.FEWEST, weights=weights)
        return plan.placement()
    prices = np.where(stays, PRICE, 1.0)
    counted = Counts(cluster, case.targets, prices=prices).fewest_moves()
    if isinstance(counted, NoPlacement):
        return []
    return [*counted.columns.items()]
