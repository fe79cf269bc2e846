# SPDX-License-Identifier: Apache-2.0
"""The bound on slots with NUMA nodes: at most so many, whatever moves.

It holds for any order of migrations, and for any nodes that Nova chooses. A
migration leaves the free capacity of a scope as it is, and a host has most
slots when all servers that may move have left it.
"""

import math
from collections.abc import Collection

from kronos.engine.slots.flavors import SlotFlavor
from kronos.engine.slots.numa_nodes import HostNodes, NumaDemand
from kronos.engine.types import Snapshot
from kronos.extensions.room.planning.host_state import HostState
from kronos.extensions.room.planning.node_state import NodeState


def most(
    snapshot: Snapshot,
    state: NodeState,
    place: int,
    flavor: SlotFlavor,
    movable: Collection[str],
    limit: float = math.inf,
) -> int | None:
    """Slots of a flavor, at most.

    :param state: before any move; it is emptied
    :param place: of the flavor, among those of the state
    :param movable: servers
    :param limit: new servers on a host
    :returns: None: the inventory of a host is not known, which may be large
    """
    if any(host.headroom is None for host in snapshot.hosts.values()):
        return None
    pooled = min(
        sum(max(0, host.free[resource]) for host in state.hosts.values())
        // amount
        for resource, amount in flavor.demand.items()
    )
    for server in {*state.places} & {*movable}:
        state.remove(server)
    emptied = sum(
        min(limit, _of_host(state.hosts[host], flavor))
        for host in state.takers(place)
    )
    return int(min(pooled, emptied))


def _of_host(host: HostState, flavor: SlotFlavor) -> int:
    by_host = min(
        max(0, host.free[resource]) // amount
        for resource, amount in flavor.demand.items()
    )
    if flavor.numa is None:
        return by_host
    return min(by_host, _of_nodes(host.nodes, flavor.numa))


def _of_nodes(nodes: HostNodes | None, demand: NumaDemand) -> int:
    """As if each node of a server could be on any node of the host."""
    if nodes is None:
        return 0
    cpus = min(cpus for cpus, _ in demand.nodes)
    memory_mb = max(1, min(memory_mb for _, memory_mb in demand.nodes))
    places = 0
    for node in range(nodes.layout.nodes):
        free_cpus, free_mb = nodes.free(node)
        places += max(0, min(free_cpus // cpus, free_mb // memory_mb))
    return places // len(demand.nodes)
