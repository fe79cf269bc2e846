# SPDX-License-Identifier: Apache-2.0
"""The checks of numa_cells: are they those of the cloud?

Hosts are judged by the very functions that count their slots.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kronos.clients.nova import node_reader
from kronos.clients.nova.client import NovaClient
from kronos.clients.nova.node_reader import OPTION
from kronos.clients.placement import PlacementClient
from kronos.cmd.checks.causes import services
from kronos.cmd.checks.findings import Findings
from kronos.common import exceptions
from kronos.engine import wording
from kronos.engine.slots import flavors, numa_facts
from kronos.engine.slots.numa_facts import NodeHosts, NumaFacts
from kronos.engine.slots.numa_nodes import NodeLayout
from kronos.engine.types import Host, Snapshot
from kronos.options.numa_cells import NumaCells
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.host_reader import HostReader

SERVERS = 200
"""Servers whose NUMA topology is read, at most."""
NO_SLOTS = (
    'until then Kronos counts no slots of flavors with a NUMA topology on '
    'them, and leaves their servers with one alone'
)
REMEDY_SERVER = (
    'move the server to a host of another aggregate, or remove the host from '
    f'the aggregate; {NO_SLOTS}'
)
REMEDY_HIDDEN = (
    "allow the user compute:server:topology:host:index in Nova's policy.yaml, "
    f'and use Nova 20 or later; {NO_SLOTS}'
)
CPUS = (
    'cpus is the number of CPUs in cpu_dedicated_set or cpu_shared_set of '
    'nova.conf on one node'
)
Row = dict[str, Any]


def check(
    cells: Mapping[str, NumaCells],
    nova: NovaClient,
    placement: PlacementClient,
    hypervisor_types: Sequence[str],
    findings: Findings,
) -> list[Row]:
    """Compare the cells with what Nova and Placement have.

    :param hypervisor_types: of hosts that are planned
    :returns: a row for each aggregate, for the report
    """
    try:
        reader = HostReader(
            nova,
            placement,
            hypervisor_types=hypervisor_types,
            is_strict=True,
        )
        gathered = reader.begin()
        reader.fill_in(gathered)
        gathered.instances = nova.list_instances()
    except exceptions.ClientError:
        return []  # the listing that failed has a finding
    try:
        look = _CellCheck(cells, nova, placement, gathered, findings)
        return look.run()
    except exceptions.ClientError as error:
        findings.warning(
            'numa-unknown',
            f'{OPTION} cannot be compared with the cloud: {error}',
            services.remedy(error),
        )
        return []


@dataclass
class _Judged:
    """The hosts of an aggregate that are judged alike."""

    remedy: str
    hosts: list[str] = field(default_factory=list)


class _CellCheck:
    """One look at the hosts with cells.

    :param gathered: with servers
    """

    def __init__(
        self,
        cells: Mapping[str, NumaCells],
        nova: NovaClient,
        placement: PlacementClient,
        gathered: CloudInventory,
        findings: Findings,
    ) -> None:
        self._cells, self._nova, self._placement = cells, nova, placement
        self._gathered, self._findings = gathered, findings
        self._hosts = gathered.cloud.hosts

    def run(self) -> list[Row]:
        aggregates = self._gathered.cloud.aggregates
        faults = [*node_reader.faults(aggregates, self._cells, self._hosts)]
        for fault in faults:
            self._findings.error(
                'numa-cells',
                f'{OPTION}: {fault}',
                'correct the name of the aggregate, or give aggregates that '
                'share hosts the same cells; until then each audit with '
                'kronos_make_room fails',
            )
        if faults:
            return []
        layouts = node_reader.layouts(aggregates, self._cells, self._hosts)
        facts = self._facts(layouts)
        return [
            self._row(each.name, [*each.hosts], layouts, facts)
            for each in aggregates
            if each.name in self._cells
        ]

    def _facts(self, layouts: Mapping[str, NodeLayout]) -> NumaFacts:
        """With the topologies of as many whole hosts as may be read."""
        number: dict[str, int] = dict.fromkeys(sorted(layouts), 0)
        for server in self._gathered.instances:
            if server.host in number and flavors.numa(server.extra_specs):
                number[server.host] += 1
        read, total = {}, 0
        for host, servers in number.items():
            if total + servers <= SERVERS:
                read[host] = layouts[host]
                total += servers
        return node_reader.facts(
            self._nova.api, read, self._gathered.instances
        )

    def _row(
        self,
        aggregate: str,
        names: list[str],
        layouts: Mapping[str, NodeLayout],
        facts: NumaFacts,
    ) -> Row:
        hosts = {name: self._hosts[name] for name in names if name in layouts}
        snapshot = Snapshot(
            scope=aggregate,
            hosts=hosts,
            instances={each.uuid: each for each in self._gathered.instances},
            readings={},
        )
        judged: dict[str, _Judged] = {}
        nodes = NodeHosts(snapshot, facts)
        for name, host in sorted(hosts.items()):
            reason, remedy = self._reason(host, layouts[name], nodes, facts)
            if reason:
                judged.setdefault(reason, _Judged(remedy)).hosts.append(name)
        for reason, alike in judged.items():
            self._findings.warning(
                'numa-hosts',
                f'{OPTION} of aggregate {aggregate}: '
                f'{wording.some(alike.hosts)}: {reason}',
                alike.remedy,
            )
        self._check_totals(aggregate, hosts)
        return {
            'aggregate': aggregate,
            'hosts': len(hosts),
            'hosts_read': len({*hosts} & {*facts.layouts}),
            'hosts_at_fault': sum(len(each.hosts) for each in judged.values()),
        }

    def _reason(
        self,
        host: Host,
        layout: NodeLayout,
        nodes: NodeHosts,
        facts: NumaFacts,
    ) -> tuple[str, str]:
        """Why the nodes of a host are not known, and what to do."""
        headroom = host.headroom or {}
        for reason in numa_facts.of_inventory(headroom, layout):
            return reason, f'correct the cells: {CPUS}; {NO_SLOTS}'
        reason = (
            nodes.why_none(host.name) if host.name in facts.layouts else ''
        )
        is_hidden = reason.startswith(numa_facts.HIDDEN)
        return reason, REMEDY_HIDDEN if is_hidden else REMEDY_SERVER

    def _check_totals(self, aggregate: str, hosts: Mapping[str, Host]) -> None:
        """Ask for the inventory of one host of each capacity."""
        alike: dict[tuple[tuple[str, int], ...], list[Host]]
        alike = defaultdict(list)
        for _, host in sorted(hosts.items()):
            capacities = {
                resource: amounts.capacity
                for resource, amounts in (host.headroom or {}).items()
            }
            alike[tuple(sorted(capacities.items()))].append(host)
        for group in alike.values():
            names = wording.some([host.name for host in group])
            for text, remedy in _of_totals(
                self._cells[aggregate], self._placement, group[0].node
            ):
                self._findings.warning(
                    'numa-inventory',
                    f'{OPTION} of aggregate {aggregate}: {names}: {text}',
                    remedy,
                )


def _of_totals(
    cells: NumaCells, placement: PlacementClient, node: str
) -> Iterator[tuple[str, str]]:
    """What the inventory of a host contradicts, and what to do."""
    totals = placement.inventories.totals(node)
    cpus, memory_mb = cells.nodes * cells.cpus, cells.nodes * cells.memory_mb
    shared, _ = totals.get(numa_facts.SHARED, (cpus, 1.0))
    if shared != cpus:
        yield (
            f'{cells.nodes} nodes of {cells.cpus} CPUs, and Placement has '
            f'{shared} VCPU',
            f'correct the cells: {CPUS}',
        )
    total, _ = totals.get(numa_facts.MEMORY, (memory_mb, 1.0))
    if total < memory_mb:
        yield (
            f'{cells.nodes} nodes of {cells.memory_mb} MiB, and Placement '
            f'has {total} MEMORY_MB',
            'correct the cells: memory_mb is the memory of one node, without '
            'huge pages',
        )
    for resource in (numa_facts.SHARED, numa_facts.MEMORY):
        _, ratio = totals.get(resource, (0, 1.0))
        if ratio < 1:
            yield (
                f'the allocation ratio of {resource} is {ratio:g}, and '
                'Kronos counts slots per node as if it were at least 1',
                'remove the aggregate from numa_cells, or raise the ratio',
            )
