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

import heapq
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

    def free_at(self) -> float:
        """When a lane can be had; it is never earlier later on."""
        if len(self.ends) < self.count:
            return 0.0
        return min(end for end, _ in self.ends)

    def _pick(self, at: float) -> int | None:
        """The lane to hold from then on; None is an unused one.

        Of the lanes that are free at that time it is the one that was
        freed last, so that the others stay free for earlier steps.
        """
        free = [n for n, (end, _) in enumerate(self.ends) if end <= at]
        if not free:
            return None
        return max(free, key=lambda n: (self.ends[n][0], -n))

    def take(self, start: float, end: float, step: int) -> int | None:
        """Hold a lane that is free; returns the step that held it before."""
        lane = self._pick(start)
        if lane is None:
            self.ends.append((end, step))
            return None
        previous = self.ends[lane][1]
        self.ends[lane] = (end, step)
        return previous


@dataclass
class _Queue:
    """The ready steps of a scope, by when they can start.

    No start ever becomes earlier, so an old one is a lower bound that need
    only be checked when it comes up.
    """

    lanes: _Lanes
    """Those of the scope."""
    soon: list[int] = field(default_factory=list)
    """A heap of steps that its hosts do not hold up, as far as known."""
    later: list[tuple[float, int]] = field(default_factory=list)
    """A heap of the others, by when their hosts can have them."""


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
        self._after: dict[int, list[int]] = defaultdict(list)
        for step, earlier in enumerate(before):
            for one in earlier:
                self._after[one].append(step)
        self._from: list[float] = [0.0] * len(steps)
        """When all that a step must wait for has ended, as far as known."""
        self._queues = {
            step.scope: _Queue(_Lanes(max_concurrent)) for step in steps
        }
        self._out: dict[str, _Lanes] = defaultdict(lambda: _Lanes(OUT_OF_HOST))
        self._into: dict[str, _Lanes] = defaultdict(lambda: _Lanes(INTO_HOST))

    def fill(self) -> dict[int, set[int]]:
        """The parents of every step, keyed in the order of their starts."""
        parents: dict[int, set[int]] = {}
        missing = [len(earlier) for earlier in self._before]
        for step, number in enumerate(missing):
            if not number:
                self._enqueue(step)
        while len(parents) < len(self._steps):
            start, chosen = min(
                first
                for queue in self._queues.values()
                if (first := self._first(queue)) is not None
            )
            parents[chosen] = self._before[chosen] | self._take(chosen, start)
            end = start + _seconds(self._steps[chosen])
            for step in self._after[chosen]:
                self._from[step] = max(self._from[step], end)
                missing[step] -= 1
                if not missing[step]:
                    self._enqueue(step)
        return parents

    def _enqueue(self, step: int) -> None:
        queue = self._queues[self._steps[step].scope]
        heapq.heappush(queue.later, (self._start(step), step))

    def _first(self, queue: _Queue) -> tuple[float, int] | None:
        """The start of the step that can start first, and the step."""
        free = queue.lanes.free_at()
        while True:
            while queue.later and queue.later[0][0] <= free:
                heapq.heappush(queue.soon, heapq.heappop(queue.later)[1])
            if queue.soon:
                step = queue.soon[0]
                if (start := self._start(step)) <= free:
                    return free, step
                heapq.heappop(queue.soon)
                heapq.heappush(queue.later, (start, step))
            elif queue.later:
                known, step = queue.later[0]
                if (start := self._start(step)) == known:
                    return start, step
                heapq.heapreplace(queue.later, (start, step))
            else:
                return None

    def _start(self, step: int) -> float:
        """When its parents and its hosts can have it, whatever the scope."""
        one = self._steps[step]
        return max(
            self._from[step],
            self._out[one.source].free_at(),
            self._into[one.destination].free_at(),
        )

    def _take(self, step: int, start: float) -> set[int]:
        """Hold its lanes, and dequeue it.

        :returns: the steps that held the lanes before
        """
        one = self._steps[step]
        queue = self._queues[one.scope]
        if queue.soon:
            heapq.heappop(queue.soon)
        else:
            heapq.heappop(queue.later)
        end = start + _seconds(one)
        previous = [
            lanes.take(start, end, step)
            for lanes in (
                queue.lanes,
                self._out[one.source],
                self._into[one.destination],
            )
        ]
        return {before for before in previous if before is not None}


def _seconds(step: MigrationStep) -> float:
    return _SETUP_SECONDS + _SECONDS_PER_MIB * step.memory_mb


def _without_implied(parents: dict[int, set[int]]) -> list[list[int]]:
    """Drop the parents that are ancestors of other parents."""
    # As the bits of a number: a long plan has as many as steps times steps.
    ancestors: dict[int, int] = {}
    result: list[list[int]] = [[] for _ in parents]
    for step, direct in parents.items():
        older = 0
        for parent in direct:
            older |= ancestors[parent]
        ancestors[step] = older
        for parent in direct:
            ancestors[step] |= 1 << parent
        result[step] = [n for n in sorted(direct) if not older >> n & 1]
    return result
