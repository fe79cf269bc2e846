# SPDX-License-Identifier: Apache-2.0
"""The slots of one host: what it lacks for one more, and what would help."""

from collections.abc import Mapping
from typing import Any

from kronos.engine.eligibility import free_capacity, hosts, instances
from kronos.engine.settings import Settings
from kronos.engine.slots import counting, node_shortages
from kronos.engine.slots.flavors import SlotFlavor
from kronos.engine.slots.numa_facts import (
    NodeHosts,
    NumaFacts,
    ServerTopology,
)
from kronos.engine.types import Headroom, Instance, Snapshot

Document = dict[str, Any]


def document(
    snapshot: Snapshot,
    host: str,
    flavor: SlotFlavor,
    settings: Settings,
    facts: NumaFacts | None = None,
) -> Document:
    """Why a host has as many slots of a flavor as it has.

    ``lacking`` are the resources of which it has too little for one more;
    ``servers`` those on the host that use any of them, the largest first.

    :param facts: about NUMA nodes
    """
    facts = facts or NumaFacts()
    nodes = NodeHosts(snapshot, facts)
    headroom = snapshot.hosts[host].headroom or {}
    closed = counting.why_none(snapshot, host, flavor, settings, nodes)
    slots = counting.on_host(headroom, flavor)
    if flavor.numa is not None and not closed:
        slots = nodes.used(host).slots(flavor.numa, slots)
    lacking = _lacking(headroom, flavor, slots)
    if flavor.numa is not None and not closed:
        lacking |= node_shortages.rows(nodes.used(host), flavor.numa, slots)
    servers = _servers(snapshot, host, [*lacking], settings, facts)
    return {
        'scope': snapshot.scope,
        'host': host,
        'flavor': flavor.name,
        'slots': 0 if closed else slots,
        'closed': closed,
        'lacking': [
            {'resource': name, **row} for name, row in lacking.items()
        ],
        'servers': servers,
        'remedy': _of_closed(snapshot, host, settings)
        if closed
        else _remedy(lacking, servers),
    }


def _lacking(
    headroom: Mapping[str, Headroom], flavor: SlotFlavor, fitting: int
) -> dict[str, dict[str, int]]:
    """By resource class, for one server more than fit."""
    rows = {}
    for name, amount in sorted(flavor.demand.items()):
        free = free_capacity.free(name, headroom)
        missing = amount * (fitting + 1) - free
        if missing > 0:
            whole = headroom[name].capacity if name in headroom else 0
            rows[name] = {
                'required': amount,
                'free': free,
                'missing': missing,
                'capacity': whole,
            }
    return rows


def _servers(
    snapshot: Snapshot,
    host: str,
    resources: list[str],
    settings: Settings,
    facts: NumaFacts,
) -> list[Document]:
    rows = []
    for server in snapshot.instances.values():
        topology = facts.topologies.get(server.uuid)
        amounts = _amounts(server, resources, topology)
        if server.host == host and any(amounts.values()):
            rows.append(
                {
                    'instance': server.uuid,
                    'instance_name': server.name,
                    'amounts': amounts,
                    'reasons': [
                        {
                            'code': reason.code.value,
                            'text': str(reason),
                            'remedy': reason.code.remedy,
                        }
                        for reason in instances.reasons(server, settings)
                    ],
                }
            )
    return sorted(
        rows,
        key=lambda row: (
            [-amount for amount in row['amounts'].values()],
            row['instance'],
        ),
    )


def _amounts(
    server: Instance, resources: list[str], topology: ServerTopology | None
) -> dict[str, int]:
    sizes = {
        'VCPU': server.vcpus,
        'MEMORY_MB': server.memory_mb,
        'DISK_GB': server.disk_gb,
    }
    if topology is not None:
        if topology.demand.is_pinned:
            sizes['PCPU'] = sizes.pop('VCPU')
        sizes |= node_shortages.amounts(topology)
    return {name: sizes.get(name, 0) for name in resources}


def _of_closed(snapshot: Snapshot, host: str, settings: Settings) -> str:
    reason = hosts.why_closed(snapshot, host, settings)
    return reason.code.remedy if reason else ''


def _remedy(
    lacking: Mapping[str, Mapping[str, int]], servers: list[Document]
) -> str:
    """What makes room for one server more; '' if nothing on the host does."""
    small = [
        name
        for name, row in lacking.items()
        if row['capacity'] < row['missing'] + row['free']
    ]
    if small:
        return f'Even the empty host has too little {small[0]}.'
    movable = [row for row in servers if not row['reasons']]
    if _frees(movable, lacking):
        return (
            'Move servers that use at least '
            + _joined({name: row['missing'] for name, row in lacking.items()})
            + ' to other hosts: run an audit with the strategy '
            'kronos_make_room.'
        )
    if _frees(servers, lacking):
        return (
            'The servers that may move use too little. Lift what keeps '
            'the others.'
        )
    return (
        'The servers on the host use too little. Look in Placement for other '
        'allocations, such as those of migrations.'
    )


def _frees(
    servers: list[Document], lacking: Mapping[str, Mapping[str, int]]
) -> bool:
    return all(
        sum(row['amounts'][name] for row in servers) >= needed['missing']
        for name, needed in lacking.items()
    )


def _joined(amounts: Mapping[str, int]) -> str:
    parts = [f'{amount} {name}' for name, amount in amounts.items()]
    return ' and '.join(parts)
