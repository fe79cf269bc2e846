# SPDX-License-Identifier: Apache-2.0
"""Scopes whose hosts have NUMA nodes, and flavors with a NUMA topology."""

from collections.abc import Mapping, Sequence
from typing import Any

from kronos.engine.slots.numa_facts import (
    NumaFacts,
    PlacedNode,
    ServerTopology,
)
from kronos.engine.slots.numa_nodes import NodeLayout
from kronos.engine.types import Flavor, Headroom, Instance, Snapshot
from kronos.extensions.room import room
from kronos.extensions.room.room import RoomNeeds
from tests.builders import policies

LAYOUT = NodeLayout(2, 8, 8000)
PINNED = {'hw:cpu_policy': 'dedicated'}
Nodes = Sequence[tuple[int, int]]
"""The node of the host, and CPUs there, of each node of a server."""


def flavor(cpus: int, **specs: str) -> Flavor:
    """With 100 MiB a CPU, and dedicated CPUs unless the specs differ."""
    extra = {f'hw:{key}': value for key, value in specs.items()} or dict(
        PINNED
    )
    return Flavor(f'p{cpus}', f'p{cpus}', cpus, 100 * cpus, extra_specs=extra)


def topology(nodes: Nodes, pinned: bool = True) -> ServerTopology:
    """Of a server with 100 MiB a CPU."""
    return ServerTopology(
        [
            PlacedNode(node, cpus, 100 * cpus, cpus if pinned else 0)
            for node, cpus in nodes
        ]
    )


def scope(
    servers: Mapping[str, tuple[str, Nodes]],
    hosts: str = 'ab',
    layout: NodeLayout = LAYOUT,
    pinned: bool = True,
    **facts: Any,
) -> Snapshot:
    """Hosts with servers on their nodes.

    :param servers: by uuid the host, and the nodes there
    :param facts: of :class:`NumaFacts`, instead of these
    """
    specs = PINNED if pinned else {'hw:numa_nodes': '1'}
    cpus_of = {
        uuid: sum(cpus for _, cpus in nodes)
        for uuid, (_, nodes) in servers.items()
    }
    instances: list[Instance] = [
        policies.instance(
            uuid,
            host,
            vcpus=cpus_of[uuid],
            memory_mb=100 * cpus_of[uuid],
            flavor=f'p{cpus_of[uuid]}',
            extra_specs=dict(specs),
        )
        for uuid, (host, _) in servers.items()
    ]
    snapshot = policies.snapshot(
        {'cpu': dict.fromkeys(hosts, 0.5)},
        instances=instances,
        usages={'cpu': {f'dom-{each.uuid}': 0.01 for each in instances}},
    )
    resource = 'PCPU' if pinned else 'VCPU'
    for name, host in snapshot.hosts.items():
        used = sum(s.vcpus for s in instances if s.host == name)
        host.headroom = {
            resource: Headroom(layout.nodes * layout.cpus, used),
            'MEMORY_MB': Headroom(layout.nodes * layout.memory_mb, 100 * used),
        }
    known = {
        'layouts': dict.fromkeys(hosts, layout),
        'topologies': {
            uuid: topology(nodes, pinned)
            for uuid, (_, nodes) in servers.items()
        },
    }
    flavors = {each.name: each for each in map(flavor, (2, 4, 6, 8))}
    snapshot.beside[room.NAME] = RoomNeeds(flavors, NumaFacts(**known | facts))
    return snapshot


def facts_of(snapshot: Snapshot) -> NumaFacts:
    return room.needs_of(snapshot).numa


def forget(snapshot: Snapshot, *uuids: str) -> None:
    """Make servers such without a topology."""
    for uuid in uuids:
        snapshot.instances[uuid].extra_specs = {}
        del facts_of(snapshot).topologies[uuid]
