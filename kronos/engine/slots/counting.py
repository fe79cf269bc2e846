# SPDX-License-Identifier: Apache-2.0
"""The slots of a scope: how many more servers of a flavor fit, per host.

A slot is room for one more server. A host has as many as the scarcest of its
resources gives: free capacity of several hosts cannot be joined.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kronos.engine.eligibility import free_capacity, hosts
from kronos.engine.settings import Settings
from kronos.engine.slots import numa_facts
from kronos.engine.slots.flavors import SlotFlavor
from kronos.engine.slots.numa_facts import NodeHosts, NumaFacts
from kronos.engine.types import Headroom, Host, Snapshot

NO_INVENTORY = 'Placement shows no inventory of it'


@dataclass(frozen=True)
class Slots:
    """The slots of one flavor in one scope."""

    scope: str
    flavor: str
    hosts: Mapping[str, int]
    """Slots by host, of those that take new servers."""
    by_sum: int
    """How many would fit if the free capacity of these hosts were on one."""
    closed: Mapping[str, str] = field(default_factory=dict)
    """The other hosts, and why each takes no server of the flavor."""

    @property
    def total(self) -> int:
        return sum(self.hosts.values())


def count(
    snapshot: Snapshot,
    flavor: SlotFlavor,
    settings: Settings,
    facts: NumaFacts | None = None,
) -> Slots:
    """Count the slots of a flavor in a scope.

    :param facts: about NUMA nodes; None: those that the snapshot has
    """
    if facts is None:
        facts = numa_facts.of(snapshot.beside.values())
    nodes = NodeHosts(snapshot, facts)
    closed = {}
    taking: dict[str, Mapping[str, Headroom]] = {}
    for name in sorted(snapshot.hosts):
        reason = why_none(snapshot, name, flavor, settings, nodes)
        headroom = snapshot.hosts[name].headroom
        if reason or headroom is None:
            closed[name] = reason or NO_INVENTORY
        else:
            taking[name] = headroom
    by_host = {
        name: _fitting(headroom, name, flavor, nodes)
        for name, headroom in taking.items()
    }
    return Slots(
        snapshot.scope, flavor.name, by_host, _by_sum(taking, flavor), closed
    )


def why_none(
    snapshot: Snapshot,
    host: str,
    flavor: SlotFlavor,
    settings: Settings,
    nodes: NodeHosts | None = None,
) -> str:
    """Why a host takes no server of a flavor, however much is free.

    :param nodes: the NUMA nodes of the scope, if the flavor requires any
    :returns: '' if it does
    """
    if reason := hosts.why_closed(snapshot, host, settings):
        return str(reason)
    if snapshot.hosts[host].headroom is None:
        return NO_INVENTORY
    lacking = _traits(snapshot.hosts[host], flavor)
    if lacking or flavor.numa is None:
        return lacking
    return (nodes or NodeHosts(snapshot, NumaFacts())).why_none(host)


def _fitting(
    headroom: Mapping[str, Headroom],
    host: str,
    flavor: SlotFlavor,
    nodes: NodeHosts,
) -> int:
    """By Placement, and by the NUMA nodes if the flavor requires any."""
    by_host = on_host(headroom, flavor)
    if flavor.numa is None:
        return by_host
    return nodes.used(host).slots(flavor.numa, by_host)


def on_host(headroom: Mapping[str, Headroom], flavor: SlotFlavor) -> int:
    """The slots that Placement's headroom of a host gives.

    An overfull resource gives none.
    """
    return min(
        max(free_capacity.free(resource, headroom), 0) // amount
        for resource, amount in flavor.demand.items()
    )


def _by_sum(
    taking: Mapping[str, Mapping[str, Headroom]], flavor: SlotFlavor
) -> int:
    return min(
        sum(
            max(free_capacity.free(resource, headroom), 0)
            for headroom in taking.values()
        )
        // amount
        for resource, amount in flavor.demand.items()
    )


def _traits(host: Host, flavor: SlotFlavor) -> str:
    traits = {*host.traits}
    if lacking := sorted(flavor.required - traits):
        return f'it lacks the trait {lacking[0]}'
    if forbidden := sorted(flavor.forbidden & traits):
        return f'it has the trait {forbidden[0]}, which the flavor forbids'
    return ''
