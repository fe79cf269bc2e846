# SPDX-License-Identifier: Apache-2.0
"""The scope as a cluster of counts: its hosts, movable servers and flavors.

Besides resource classes, the cluster has resources that stand for rules. A
flavor has one of which only hosts have something that take it, and a kind of
servers has one that is missing on hosts to which the kind never goes. If new
servers are apart, each takes the one place that a host has.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kronos.engine.arrays import BoolArray, IntArray
from kronos.engine.eligibility import free_capacity
from kronos.engine.settings import Settings
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.slots import counting
from kronos.engine.slots.flavors import SlotFlavor
from kronos.engine.types import Snapshot
from kronos.extensions.room.planning.cluster import Cluster, Way
from kronos.extensions.room.planning.counts import SlotTarget

PLENTY = 10**6
"""Of a resource that stands for a rule, on a host where it is kept."""
Kind = tuple[tuple[int, ...], bytes, bool]
"""What servers take, where they may go, and whether they have to stay."""
MOST = 10**9
"""Free capacity of a host whose inventory is not known."""


@dataclass(frozen=True)
class ScopeCase:
    """A scope, and what room is wanted in it."""

    cluster: Cluster
    """Its slots are those of the first flavor."""
    targets: tuple[SlotTarget, ...]
    names: tuple[str, ...]
    """Of the flavors, as the next."""
    resources: tuple[str, ...] = ()
    """The resource classes, which come first among the cluster's."""

    def kinds(self) -> list[tuple[dict[str, int], int]]:
        """What a server of each kind takes, and how many there are."""
        numbers = self.cluster.counts().sum(axis=0).tolist()
        demands: dict[int, dict[str, int]] = {}
        servers = [0] * self.cluster.kinds
        for way, number in zip(self.cluster.ways, numbers, strict=True):
            demand = dict(zip(self.resources, way.demand, strict=False))
            demands.setdefault(way.kind, demand)
            servers[way.kind] += number
        return [(demands[kind], servers[kind]) for kind in sorted(demands)]

    def alone(self, place: int) -> Cluster:
        """The cluster with the slots of another of the flavors."""
        return _with_slot(self.cluster, self.targets[place])


def _with_slot(cluster: Cluster, target: SlotTarget) -> Cluster:
    return Cluster(
        cluster.hosts,
        cluster.free,
        cluster.ways,
        (target.demand,),
        cluster.servers,
        cluster.nodes,
        cluster.apart,
        cluster.occupied,
    )


def of(
    simulation: Simulation,
    snapshot: Snapshot,
    settings: Settings,
    flavors: Sequence[tuple[SlotFlavor, int]],
    apart: bool,
    movable: BoolArray | None = None,
) -> ScopeCase:
    """The scope as it is in a simulation that has no moves yet.

    :param flavors: wanted numbers
    :param apart: whether a host takes one new server at most
    :param movable: [V]; None: those of the phase. Others are kinds of their
        own.
    """
    return _Case(simulation, snapshot, settings, flavors, apart, movable).case


class _Case:
    def __init__(
        self,
        simulation: Simulation,
        snapshot: Snapshot,
        settings: Settings,
        flavors: Sequence[tuple[SlotFlavor, int]],
        apart: bool,
        movable: BoolArray | None,
    ) -> None:
        self._snapshot, self._settings = snapshot, settings
        index = simulation.placement.index
        self._hosts = index.hosts
        self._host_of = simulation.placement.host_of
        self._names = index.instances
        chosen = simulation.movable if movable is None else movable
        self._movable = np.flatnonzero(chosen)
        self._of_phase = simulation.movable
        self._resources = _resources(settings, flavors)
        self._flavors = flavors
        self._allowed = self._where(simulation)
        self._pairs = simulation.constraints.free_capacities()
        self.case = self._built(simulation, apart)

    def _built(self, simulation: Simulation, apart: bool) -> ScopeCase:
        kinds = self._kinds()
        free, ways = self._columns(kinds, apart)
        targets = self._targets(len(kinds), apart)
        groups, occupied = self._groups(simulation)
        cluster = Cluster(
            tuple(self._hosts),
            free,
            ways,
            (targets[0].demand,),
            {
                place: tuple(sorted(self._names[i] for i in members))
                for place, members in self._members(kinds).items()
            },
            1,
            groups,
            occupied,
        )
        names = tuple(flavor.name for flavor, _ in self._flavors)
        return ScopeCase(cluster, targets, names, tuple(self._resources))

    def _where(self, simulation: Simulation) -> BoolArray:
        """[movable, H]: where servers may ever go, or are."""
        allowed = np.stack(
            [
                simulation.constraints.ever(host)[self._movable]
                for host in range(len(self._hosts))
            ],
            axis=1,
        ).reshape(len(self._movable), len(self._hosts))
        rows = np.arange(len(self._movable))
        allowed[rows, self._host_of[self._movable]] = True
        mask: BoolArray = allowed
        return mask

    def _kinds(self) -> dict[Kind, list[int]]:
        """Positions among the movable servers, by demand and by where."""
        kinds: dict[Kind, list[int]] = {}
        for row, instance in enumerate(self._movable.tolist()):
            server = self._snapshot.instances[self._names[instance]]
            demand = tuple(
                server.demand.get(name, 0) for name in self._resources
            )
            stays = not self._of_phase[instance]
            key = demand, self._allowed[row].tobytes(), stays
            kinds.setdefault(key, []).append(row)
        return dict(sorted(kinds.items(), key=lambda item: item[0]))

    def _members(
        self, kinds: Mapping[Kind, Sequence[int]]
    ) -> dict[tuple[int, int], list[int]]:
        members: dict[tuple[int, int], list[int]] = defaultdict(list)
        for kind, rows in enumerate(kinds.values()):
            for row in rows:
                instance = int(self._movable[row])
                host = int(self._host_of[instance])
                members[host, kind].append(instance)
        return members

    def _columns(
        self,
        kinds: Mapping[Kind, Sequence[int]],
        apart: bool,
    ) -> tuple[IntArray, tuple[Way, ...]]:
        """What is free [hosts, resources], and the ways of servers."""
        blocks = [self._free(), self._taking(apart)]
        ways = []
        rules = len(self._flavors) + apart
        for kind, ((demand, *_), rows) in enumerate(kinds.items()):
            rule = [0] * len(kinds)
            rule[kind] = 1
            first = self._names[int(self._movable[rows[0]])]
            memory_mb = self._snapshot.instances[first].memory_mb
            full = (*demand, *[0] * rules, *rule)
            ways.append(Way(kind, full, memory_mb))
            allowed = self._allowed[rows[0]]
            blocks.append(np.where(allowed, PLENTY, -PLENTY)[:, None])
        return np.concatenate(blocks, axis=1).astype(np.intp), tuple(ways)

    def _free(self) -> IntArray:
        """[hosts, resource classes], less what others have reserved."""
        columns = [free for _, free in self._pairs]
        for name in self._resources[len(columns) :]:
            hosts = [self._snapshot.hosts[host] for host in self._hosts]
            free = [free_capacity.free(name, host.headroom) for host in hosts]
            columns.append(np.array(free, dtype=np.intp))
        most: IntArray = np.minimum(np.stack(columns, axis=1), MOST)
        return most

    def _taking(self, apart: bool) -> IntArray:
        """[hosts, flavors]: whether new servers may be created there."""
        rows = []
        for name in self._hosts:
            row = [
                0
                if counting.why_none(
                    self._snapshot, name, flavor, self._settings
                )
                else PLENTY
                for flavor, _ in self._flavors
            ]
            rows.append([*row, 1] if apart else row)
        return np.array(rows, dtype=np.intp)

    def _targets(self, kinds: int, apart: bool) -> tuple[SlotTarget, ...]:
        targets = []
        for place, (flavor, number) in enumerate(self._flavors):
            rules = [0] * len(self._flavors)
            rules[place] = 1
            if apart:
                rules.append(1)
            demand = [flavor.demand.get(name, 0) for name in self._resources]
            full = (*demand, *rules, *[0] * kinds)
            targets.append(SlotTarget(full, number))
        return tuple(targets)

    def _groups(
        self, simulation: Simulation
    ) -> tuple[dict[str, frozenset[str]], dict[int, frozenset[str]]]:
        """Groups of one server a host, of those that move and of others."""
        groups: dict[str, set[str]] = defaultdict(set)
        occupied: dict[int, set[str]] = defaultdict(set)
        movable = {*self._movable.tolist()}
        for number, (members, _, most) in enumerate(
            simulation.constraints.apart()
        ):
            if most != 1:
                continue
            for member in members:
                if member in movable:
                    groups[self._names[member]].add(str(number))
                else:
                    host = int(self._host_of[member])
                    occupied[host].add(str(number))
        return (
            {name: frozenset(names) for name, names in groups.items()},
            {host: frozenset(names) for host, names in occupied.items()},
        )


def _resources(
    settings: Settings, flavors: Sequence[tuple[SlotFlavor, int]]
) -> list[str]:
    resources = ['VCPU', 'MEMORY_MB']
    if settings.check_disk:
        resources.append('DISK_GB')
    for flavor, _ in flavors:
        resources += sorted({*flavor.demand} - {*resources})
    return resources
