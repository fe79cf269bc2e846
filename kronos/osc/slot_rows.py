# SPDX-License-Identifier: Apache-2.0
"""The slots of a cloud as it is now, and their rows in a list."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kronos.clients.nova import node_reader
from kronos.clients.nova.cell_listings import CellListings
from kronos.clients.nova.client import NovaClient
from kronos.common.exceptions import ScopeError
from kronos.common.names import near_names
from kronos.engine.settings import Settings
from kronos.engine.slots import flavors, scope_slots
from kronos.engine.slots.numa_facts import NumaFacts
from kronos.engine.slots.scope_slots import ScopeSlots
from kronos.engine.types import Flavor, Host
from kronos.options import choices
from kronos.options.numa_cells import NumaCells
from kronos.snapshots import cloud
from kronos.snapshots import scopes as cloud_scopes
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.host_reader import HostReader
from kronos.snapshots.scopes import ScopeRequest

if TYPE_CHECKING:
    from kronos.clients.placement import PlacementClient

SCOPES = ('Scope', 'Flavor', 'Slots', 'By Sum Of Free', 'Hosts With Slots')
HOSTS = ('Scope', 'Host', 'Flavor', 'Slots', 'Reason')
CELLS = '--numa-cells'
"""The option of the client."""
REMEDY = f'describe them with {CELLS} AGGREGATE:nodes=N,cpus=N,memory_mb=N'
Rows = tuple[Sequence[str], list[tuple[Any, ...]]]


@dataclass(frozen=True)
class Question:
    """What is counted."""

    flavors: Sequence[str]
    """Names; empty: all."""
    aggregates: Sequence[str]
    """Empty: all, and the hosts that are in none."""
    counts_disk: bool = False
    hypervisor_types: Sequence[str] = choices.HYPERVISOR_TYPES
    """Of the hosts that are counted."""
    cells: Mapping[str, NumaCells] = field(default_factory=dict)
    """NUMA cells of hosts by name of an aggregate."""


def read(
    nova: NovaClient, placement: 'PlacementClient', question: Question
) -> ScopeSlots:
    """Count the slots of a cloud as it is now.

    No metrics are read, and servers only on hosts whose NUMA nodes count: what
    the others take is in Placement.

    :raises ScopeError: Nova has no such flavor or aggregate
    :raises ConfigurationError: the NUMA cells are not those of the cloud
    :raises ClientError: Nova or Placement is away, or refuses
    """
    listed = CellListings(nova.api).flavors()
    by_name = {flavor.name: flavor for flavor in listed}
    for name in question.flavors:
        if name not in by_name:
            hint = near_names.of_cloud(name, sorted(by_name))
            raise ScopeError(reason=f'Nova has no flavor "{name}"; {hint}')
    reader = HostReader(
        nova,
        placement,
        hypervisor_types=question.hypervisor_types,
        is_strict=True,
    )
    gathered = reader.begin()
    request = ScopeRequest(
        aggregates=list(question.aggregates) or [cloud_scopes.ALL],
        include_unassigned=not question.aggregates,
    )
    # A name that is misspelt is told before Placement is asked.
    hosts = cloud_scopes.resolve(request, gathered.cloud)
    names = question.flavors or [*by_name]
    facts = NumaFacts()
    if any(flavors.numa(by_name[name].extra_specs) for name in names):
        facts = _numa(nova, gathered, question.cells, hosts)
    reader.fill_in(gathered)
    counted = scope_slots.count(
        cloud.cut(gathered, request, readings={}),
        by_name,
        question.flavors,
        Settings(check_disk=question.counts_disk),
        facts,
    )
    return counted if facts.layouts else _remedied(counted, by_name)


def _numa(
    nova: NovaClient,
    gathered: CloudInventory,
    cells: Mapping[str, NumaCells],
    hosts: Mapping[str, Sequence[Host]],
) -> NumaFacts:
    """The NUMA nodes of hosts, and what their servers use of them.

    :param gathered: to which the servers are added
    :param hosts: by scope
    """
    counted = {host.name for of_scope in hosts.values() for host in of_scope}
    layouts = node_reader.layouts(
        gathered.cloud.aggregates, cells, counted, CELLS
    )
    for name in layouts:
        gathered.instances += nova.list_instances_on_host(name)
    return node_reader.facts(nova.api, layouts, gathered.instances)


def _remedied(
    counted: ScopeSlots, by_name: Mapping[str, Flavor]
) -> ScopeSlots:
    """With the option by which flavors with a NUMA topology are counted."""
    refused = {}
    for name, why in counted.refused.items():
        is_countable = not flavors.why_not(by_name[name], knows_nodes=True)
        refused[name] = f'{why}; {REMEDY}' if is_countable else why
    return dataclasses.replace(counted, refused=refused)


def scopes(counted: ScopeSlots) -> Rows:
    """A row of :data:`SCOPES` for each scope and flavor."""
    return SCOPES, [
        (
            each.scope,
            each.flavor,
            each.total,
            each.by_sum,
            sum(number > 0 for number in each.hosts.values()),
        )
        for each in counted.slots
    ]


def by_host(counted: ScopeSlots) -> Rows:
    """A row of :data:`HOSTS` for each host that may take a flavor or not."""
    rows: list[tuple[Any, ...]] = []
    for each in counted.slots:
        by_name = {
            **{name: (number, '') for name, number in each.hosts.items()},
            **{name: (0, why) for name, why in each.closed.items()},
        }
        rows += [
            (each.scope, name, each.flavor, *by_name[name])
            for name in sorted(by_name)
        ]
    return HOSTS, rows
