# SPDX-License-Identifier: Apache-2.0
"""Generated clusters as scopes in which room is wanted."""

from kronos.extensions.room.planning.cluster import Cluster
from kronos.extensions.room.planning.counts import SlotTarget
from kronos.extensions.room.planning.scope_case import ScopeCase
from tests.unit.extensions.room.planning import placements
from tests.unit.extensions.room.planning.placements import LARGE, MIDDLE

NAMES = ('f16', 'f8')


def case(cluster: Cluster, *numbers: int) -> ScopeCase:
    """Room for servers of 16 CPUs, and of 8."""
    targets = tuple(
        SlotTarget(demand, number)
        for demand, number in zip((LARGE, MIDDLE), numbers, strict=False)
    )
    return ScopeCase(
        cluster, targets, NAMES[: len(targets)], ('VCPU', 'MEMORY_MB')
    )


def generated(seed: int, *numbers: int) -> ScopeCase:
    return case(placements.generated(seed), *numbers)


def of_nodes(cluster: Cluster) -> ScopeCase:
    """As many slots as possible, on each of the nodes."""
    nodes = [str(node) for node in range(cluster.nodes)]
    targets = tuple(SlotTarget(slot) for slot in cluster.slots)
    return ScopeCase(cluster, targets, tuple(nodes), tuple(nodes))
