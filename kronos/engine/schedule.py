# SPDX-License-Identifier: Apache-2.0
"""Which moves of a plan may run side by side?

A plan is a list of steps that is legal in its order. Run side by side
they must stay legal however long each takes, so the answer is a graph: a
step starts when all its parents have ended. Whatever the durations,

* at most one move leaves and at most two enter a host at a time;
* at most ``max_concurrent`` moves of a scope run at a time;
* the moves of one instance, those of one server group's members and the
  halves of a swap keep the plan's order;
* a host whose incoming moves need more than the room that it has now is
  *tight*: a move into it waits for every earlier move that touches it, so
  room that an earlier move frees is free, and nothing waits in a circle.

Parents come before their children in the plan or run on a shared lane that
was filled in an order which respects the plan's rules.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from kronos.engine.rules import demand
from kronos.engine.types import Host, Instance, MigrationStep, Snapshot

OUT_OF_HOST = 1
INTO_HOST = 2

# What a live migration takes, for the order only: set-up, then memory.
_SETUP_SECONDS = 6.0
_SECONDS_PER_MIB = 1.2 / 1024


def schedule(
    steps: list[MigrationStep], snapshots: list[Snapshot], max_concurrent: int
) -> list[list[int]]:
    """Lay a plan out in time.

    :param steps: the plan, in an order in which it is legal
    :param snapshots: of the scopes that it was made for, before any step
    :param max_concurrent: moves of one scope that may run at a time
    :returns: for every step the indices of its parents, sorted; a parent
        that is implied by another one is left out
    :raises ValueError: if ``max_concurrent`` is less than one
    """
    if max_concurrent < 1:
        raise ValueError('max_concurrent must be at least 1')
    before = _rules(steps, snapshots)
    parents = _Timetable(steps, before, max_concurrent).fill()
    return _without_implied(parents)


def _rules(
    steps: list[MigrationStep], snapshots: list[Snapshot]
) -> list[set[int]]:
    """For every step the earlier ones that it must wait for."""
    groups = _groups_by_instance(snapshots)
    tight = _tight_hosts(steps, snapshots)
    last: dict[str, int] = {}
    touching: dict[str, list[int]] = defaultdict(list)
    before: list[set[int]] = []
    for index, step in enumerate(steps):
        chains = [step.instance, *groups.get(step.instance, [])]
        if step.requires:
            chains.append(step.requires)
        waits = {last[chain] for chain in chains if chain in last}
        if step.destination in tight:
            waits.update(touching[step.destination])
        before.append(waits)
        last.update(dict.fromkeys(chains, index))
        touching[step.source].append(index)
        touching[step.destination].append(index)
    return before


def _groups_by_instance(snapshots: list[Snapshot]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for snapshot in snapshots:
        for group in snapshot.groups:
            for member in group.members:
                if group.uuid not in found[member]:
                    found[member].append(group.uuid)
    return found


def _tight_hosts(
    steps: list[MigrationStep], snapshots: list[Snapshot]
) -> set[str]:
    """Hosts that cannot take all their moves before they give any."""
    hosts: dict[str, Host] = {}
    instances: dict[str, Instance] = {}
    for snapshot in snapshots:
        for name, host in snapshot.hosts.items():
            hosts.setdefault(name, host)
        instances.update(snapshot.instances)
    need: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for step in steps:
        for resource, amount in demand(instances[step.instance]).items():
            need[step.destination][resource] += amount
    return {
        name for name, wanted in need.items() if not _fits(hosts[name], wanted)
    }


def _fits(host: Host, wanted: dict[str, int]) -> bool:
    """Whether all of it fits now; unknown room is taken for none.

    A class that the host's provider does not have (disk on shared storage)
    is not counted there, so it does not bind.
    """
    if host.headroom is None:
        return False
    return all(
        amount
        <= host.headroom[resource].capacity - host.headroom[resource].used
        for resource, amount in wanted.items()
        if resource in host.headroom
    )


@dataclass
class _Lanes:
    """A resource that so many steps may hold at a time."""

    count: int
    ends: list[tuple[float, int]] = field(default_factory=list)
    """Per lane in use: when it is free, and the step that frees it."""

    def pick(self, at: float) -> tuple[float, int | None]:
        """When a lane can be had, and which one: None is an unused lane.

        Of the lanes that are free at that time it is the one that was
        freed last, so that the others stay free for earlier steps.
        """
        free = [n for n, (end, _) in enumerate(self.ends) if end <= at]
        if free:
            return at, max(free, key=lambda n: (self.ends[n][0], -n))
        if len(self.ends) < self.count:
            return at, None
        lane = min(range(len(self.ends)), key=lambda n: (self.ends[n][0], n))
        return self.ends[lane][0], lane

    def take(self, start: float, end: float, step: int) -> int | None:
        """Hold a lane; returns the step that held it before."""
        _, lane = self.pick(start)
        if lane is None:
            self.ends.append((end, step))
            return None
        previous = self.ends[lane][1]
        self.ends[lane] = (end, step)
        return previous


class _Timetable:
    """List scheduling: of the steps that may, the one that can start first.

    Every lane is a chain of steps, so that no more steps than there are
    lanes can run at a time, however long each takes in the end.
    """

    def __init__(
        self,
        steps: list[MigrationStep],
        before: list[set[int]],
        max_concurrent: int,
    ) -> None:
        self._steps = steps
        self._before = before
        self._ends: dict[int, float] = {}
        self._lanes: dict[tuple[str, str], _Lanes] = {}
        self._limits = {
            'scope': max_concurrent,
            'out': OUT_OF_HOST,
            'in': INTO_HOST,
        }

    def fill(self) -> dict[int, set[int]]:
        """The parents of every step, keyed in the order of their starts."""
        parents: dict[int, set[int]] = {}
        waiting = list(range(len(self._steps)))
        while waiting:
            ready = [n for n in waiting if self._before[n] <= parents.keys()]
            start, chosen = min((self._start(n), n) for n in ready)
            end = start + _seconds(self._steps[chosen])
            self._ends[chosen] = end
            previous = [
                lanes.take(start, end, chosen)
                for lanes in self._lanes_of(chosen)
            ]
            parents[chosen] = self._before[chosen] | {
                step for step in previous if step is not None
            }
            waiting.remove(chosen)
        return parents

    def _start(self, step: int) -> float:
        at = max((self._ends[n] for n in self._before[step]), default=0.0)
        return max([at, *(ln.pick(at)[0] for ln in self._lanes_of(step))])

    def _lanes_of(self, index: int) -> list[_Lanes]:
        step = self._steps[index]
        keys = [
            ('scope', step.scope),
            ('out', step.source),
            ('in', step.destination),
        ]
        return [
            self._lanes.setdefault(key, _Lanes(self._limits[key[0]]))
            for key in keys
        ]


def _seconds(step: MigrationStep) -> float:
    return _SETUP_SECONDS + _SECONDS_PER_MIB * step.memory_mb


def _without_implied(parents: dict[int, set[int]]) -> list[list[int]]:
    """Drop the parents that are ancestors of other parents."""
    ancestors: dict[int, set[int]] = {}
    result: list[list[int]] = [[] for _ in parents]
    for step, direct in parents.items():
        older: set[int] = set()
        for parent in direct:
            older |= ancestors[parent]
        ancestors[step] = older | direct
        result[step] = sorted(direct - older)
    return result
