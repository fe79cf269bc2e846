# SPDX-License-Identifier: Apache-2.0
"""The shortages of NUMA nodes: what they lack for one more server."""

from kronos.engine.slots.numa_facts import (
    MEMORY,
    PINNED,
    SHARED,
    ServerTopology,
)
from kronos.engine.slots.numa_nodes import HostNodes, NumaDemand

Row = dict[str, int]


def rows(nodes: HostNodes, demand: NumaDemand, slots: int) -> dict[str, Row]:
    """What the nodes lack that come closest, by resource and node.

    :param slots: as many servers fit
    :returns: empty if it is not the nodes that lack something
    """
    filled = nodes.copy()
    for _ in range(slots):
        filled.take(demand, filled.choice(demand) or ())
    if filled.choice(demand) is not None:
        return {}
    missing = {
        node: _missing(filled, node, demand.nodes[0])
        for node in range(nodes.layout.nodes)
    }
    closest = sorted(missing, key=lambda node: (missing[node], node))
    shortages: dict[str, Row] = {}
    for node, required in zip(closest, demand.nodes, strict=False):
        names = _names(node, demand.is_pinned)
        for name, amount, lack, free, limit in zip(
            names,
            required,
            _missing(filled, node, required),
            nodes.free(node),
            nodes.limit(),
            strict=True,
        ):
            if lack > 0:
                shortages[name] = {
                    'required': amount,
                    'free': free,
                    'missing': lack,
                    'capacity': limit,
                }
    return shortages


def amounts(topology: ServerTopology) -> dict[str, int]:
    """What a server uses of each node, by resource and node."""
    used: dict[str, int] = {}
    for node in topology.nodes:
        names = _names(node.host_node, topology.demand.is_pinned)
        for name, amount in zip(
            names, (node.cpus, node.memory_mb), strict=True
        ):
            used[name] = used.get(name, 0) + amount
    return used


def _missing(
    nodes: HostNodes, node: int, required: tuple[int, int]
) -> tuple[int, int]:
    cpus, memory_mb = nodes.free(node)
    return max(0, required[0] - cpus), max(0, required[1] - memory_mb)


def _names(node: int, is_pinned: bool) -> tuple[str, str]:
    cpus = PINNED if is_pinned else SHARED
    return f'{cpus} of node {node}', f'{MEMORY} of node {node}'
