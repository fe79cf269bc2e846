# SPDX-License-Identifier: Apache-2.0
"""The extension that makes room: its answers to the trunk's questions."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from kronos.common.exceptions import ConfigurationError
from kronos.common.names import near_names
from kronos.engine.extension import Extension, Phase
from kronos.engine.phase_rules import PhaseRow
from kronos.engine.planning.phase_input import PhasePlan
from kronos.engine.settings import Settings
from kronos.engine.slots import counting, flavors, numa_facts
from kronos.engine.slots.counting import Slots
from kronos.engine.slots.numa_facts import NodeHosts, NumaFacts
from kronos.engine.types import AggregateResult, Flavor, Instance, Snapshot
from kronos.extensions.room import certificates, room
from kronos.extensions.room.certificates import Certificate
from kronos.extensions.room.planning import search
from kronos.extensions.room.room import (
    HostSlots,
    RoomNeeds,
    RoomOutcome,
    RoomPhase,
    RoomRequest,
)
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import ScopeRequest

ROW = PhaseRow(
    from_counting=True,
    ceilings=True,
    return_guard=True,
    spares_moved=True,
)


@dataclass(frozen=True)
class MakeRoom(Extension):
    """It moves servers so that new ones of a flavor fit."""

    asked: RoomRequest | None = None
    claims: Mapping[str, Certificate] | None = None
    """Certificates to check instead of planning, by scope."""

    name: ClassVar[str] = room.NAME
    asks: ClassVar[type | None] = RoomRequest
    keeps: ClassVar[type | None] = RoomNeeds
    phases: ClassVar[Mapping[Phase, PhasePlan]] = {
        RoomPhase.MAKE_ROOM: PhasePlan(ROW, search.run)
    }

    def prepare(self, settings: Settings) -> None:
        if self.asked is None:
            raise ConfigurationError(
                reason='the recording is of no audit that makes room: name '
                'the flavor, --parameter flavor=NAME, or --parameter '
                'flavors=\'{"NAME": 3}\''
            )
        if fault := self.asked.fault:
            raise ConfigurationError(reason=fault)
        # With it, the capacity of hosts is read, for the ceilings.
        settings.evacuate = True
        settings.rebalance = False
        settings.unlimited = True
        if self.asked.max_migrations is not None:
            settings.max_migrations = self.asked.max_migrations

    def cut(
        self,
        snapshot: Snapshot,
        inventory: CloudInventory,
        request: ScopeRequest,
    ) -> RoomNeeds:
        """The flavors that it knows; servers on NUMA nodes stay.

        :raises ConfigurationError: a wanted flavor is unknown, or its slots
            cannot be counted
        """
        by_name = flavors.of_cloud(
            inventory.instances, inventory.beside.values()
        )
        facts = numa_facts.of(inventory.beside.values())
        names = [*self.asked.numbers] if self.asked else []
        for name in names:
            require_countable(name, by_name, bool(facts.layouts))
        on_nodes = any(
            flavors.numa(by_name[name].extra_specs) for name in names
        )
        _stay(snapshot, facts if on_nodes else NumaFacts())
        return RoomNeeds(by_name, facts)

    def checking(self, report: Mapping[str, Any]) -> Self:
        return replace(self, claims=certificates.of_report(report))

    def to_empty(self, snapshot: Snapshot, settings: Settings) -> set[str]:
        return set()

    def demand(
        self, instance: Instance, snapshot: Snapshot, settings: Settings
    ) -> dict[str, int] | None:
        """Dedicated CPUs are counted by node."""
        topology = room.needs_of(snapshot).numa.topologies.get(instance.uuid)
        if topology is None or not topology.demand.is_pinned:
            return None
        return instance.demand | {numa_facts.SHARED: 0}

    def note(
        self, result: AggregateResult, snapshot: Snapshot, settings: Settings
    ) -> None:
        """Count the slots of a scope at a standstill."""
        if self.asked is None or self.name in result.beside:
            return
        by_name = room.needs_of(snapshot).flavors
        counted = [
            counting.count(
                snapshot,
                flavors.of(by_name[name], settings.check_disk),
                settings,
            )
            for name in self.asked.numbers
        ]
        slots = {each.flavor: each.total for each in counted}
        result.beside[self.name] = RoomOutcome(
            wanted=dict(self.asked.numbers),
            before=slots,
            after=dict(slots),
            by_sum={each.flavor: each.by_sum for each in counted},
            by_host={
                each.flavor: [
                    HostSlots(host, number, number)
                    for host, number in sorted(_every_host(each).items())
                ]
                for each in counted
            },
        )


def _every_host(slots: Slots) -> dict[str, int]:
    return {**dict.fromkeys(slots.closed, 0), **slots.hosts}


def require_countable(
    name: str, by_name: Mapping[str, Flavor], knows_nodes: bool = False
) -> None:
    """:raises ConfigurationError: no room can be made for a flavor"""
    if name not in by_name:
        hint = near_names.of_cloud(name, sorted(by_name))
        raise ConfigurationError(reason=f'there is no flavor {name}; {hint}')
    if why := flavors.why_not(by_name[name], knows_nodes):
        nearest = flavors.nearest(by_name[name], by_name, knows_nodes)
        possible = (
            f'room can be made for {nearest.name}, the nearest in size'
            if nearest
            else 'name a flavor without it'
        )
        raise ConfigurationError(
            reason=f'no room can be made for flavor {name}: {why}; {possible}'
        )


def _stay(snapshot: Snapshot, facts: NumaFacts) -> None:
    """Leave servers with a NUMA topology where they are.

    Where the nodes of their host are not known, no room can be promised after
    their moves.

    :param facts: about hosts that they may leave
    """
    nodes = NodeHosts(snapshot, facts)
    for uuid, instance in snapshot.instances.items():
        spec = flavors.numa(instance.extra_specs)
        if not spec or instance.unmovable:
            continue
        reason = f'its extra spec {spec} {flavors.NODES}'
        if instance.host in facts.layouts:
            doubt = nodes.why_none(instance.host)
            reason = doubt and (
                f'the NUMA nodes of its host are not known: {doubt}'
            )
        if reason:
            snapshot.instances[uuid] = dataclasses.replace(
                instance, unmovable=reason
            )
