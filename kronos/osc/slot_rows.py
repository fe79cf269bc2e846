# SPDX-License-Identifier: Apache-2.0
"""The slots of a cloud as it is now, and their rows in a list."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kronos.clients.nova.cell_listings import CellListings
from kronos.clients.nova.client import NovaClient
from kronos.common.exceptions import ScopeError
from kronos.common.names import near_names
from kronos.engine.settings import Settings
from kronos.engine.slots import scope_slots
from kronos.engine.slots.scope_slots import ScopeSlots
from kronos.options import choices
from kronos.snapshots import cloud
from kronos.snapshots import scopes as cloud_scopes
from kronos.snapshots.host_reader import HostReader
from kronos.snapshots.scopes import ScopeRequest

if TYPE_CHECKING:
    from kronos.clients.placement import PlacementClient

SCOPES = ('Scope', 'Flavor', 'Slots', 'By Sum Of Free', 'Hosts With Slots')
HOSTS = ('Scope', 'Host', 'Flavor', 'Slots', 'Reason')
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


def read(
    nova: NovaClient, placement: 'PlacementClient', question: Question
) -> ScopeSlots:
    """Count the slots of a cloud as it is now.

    Neither servers nor metrics are read: what servers take is in Placement.

    :raises ScopeError: Nova has no such flavor or aggregate
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
    cloud_scopes.resolve(request, gathered.cloud)
    reader.fill_in(gathered)
    return scope_slots.count(
        cloud.cut(gathered, request, readings={}),
        by_name,
        question.flavors,
        Settings(check_disk=question.counts_disk),
    )


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
