# SPDX-License-Identifier: Apache-2.0
"""The graph of a plan: which moves must wait for which.

A plan is a list of steps that is legal in its order. Run side by side
they must stay legal however long each takes, so a step starts when all its
parents have ended. Whatever the durations,

* the moves of one instance, those of one server group's members and the
  halves of a swap keep the plan's order;
* a host whose incoming moves need more than the room that it has now is
  *tight*: a move into it waits for every earlier move that touches it, so
  room that an earlier move frees is free, and nothing waits in a circle.

Nothing else has a parent. That at most one move leaves and two enter a host
at a time, and so many of a scope run, is left to the turns of the appliers:
who keeps an order for that waits for what takes longer than was expected.
In which order turns are given says a timetable (:mod:`.list_scheduling`).
"""

import operator
from collections import defaultdict
from dataclasses import dataclass

from kronos.engine.scheduling import makespan
from kronos.engine.scheduling.list_scheduling import Timetable
from kronos.engine.types import Host, Instance, MigrationStep, Snapshot


@dataclass
class Schedule:
    """How a plan is carried out."""

    parents: list[list[int]]
    """For each step the indices of those that must end before it begins,
    sorted; one that is implied by another one is left out."""
    order: list[int]
    """The indices of the steps in the order in which they get their turns:
    of those that can begin, the first one does. Parents come first."""

    def seconds(
        self, steps: list[MigrationStep], max_concurrent: int
    ) -> float:
        """How long the plan takes if its steps take what is expected."""
        place = {step: number for number, step in enumerate(self.order)}
        each = [steps[step].seconds for step in self.order]
        begun = makespan.starts(
            [steps[step] for step in self.order],
            [
                [place[parent] for parent in self.parents[step]]
                for step in self.order
            ],
            each,
            max_concurrent,
        )
        return max(map(operator.add, begun, each), default=0.0)


def schedule(
    steps: list[MigrationStep], snapshots: list[Snapshot], max_concurrent: int
) -> Schedule:
    """Lay a plan out in time.

    :param steps: the plan, in an order in which it is legal
    :param snapshots: of the scopes that it was made for, before any step
    :param max_concurrent: moves of one scope that may run at a time
    :raises ValueError: if ``max_concurrent`` is less than one
    """
    if max_concurrent < 1:
        raise ValueError('max_concurrent must be at least 1')
    before = rules(steps, snapshots)
    order = Timetable(steps, before, max_concurrent).order()
    return Schedule(_without_implied(before), order)


def rules(
    steps: list[MigrationStep], snapshots: list[Snapshot]
) -> list[set[int]]:
    """For every step the earlier ones that it must wait for.

    Whatever the limits are: for the room, the server groups, the other half
    of a swap and the instance's own earlier moves.
    """
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
    groups: dict[str, list[str]] = defaultdict(list)
    for snapshot in snapshots:
        for group in snapshot.groups:
            for member in group.members:
                if group.uuid not in groups[member]:
                    groups[member].append(group.uuid)
    return groups


def _tight_hosts(
    steps: list[MigrationStep], snapshots: list[Snapshot]
) -> set[str]:
    """Hosts that cannot take all their moves before any has left."""
    hosts: dict[str, Host] = {}
    instances: dict[str, Instance] = {}
    for snapshot in snapshots:
        for name, host in snapshot.hosts.items():
            hosts.setdefault(name, host)
        instances.update(snapshot.instances)
    need: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for step in steps:
        for resource, amount in instances[step.instance].demand.items():
            need[step.destination][resource] += amount
    return {
        name
        for name, amounts in need.items()
        if not _fits(hosts[name], amounts)
    }


def _fits(host: Host, amounts: dict[str, int]) -> bool:
    """Whether all of it fits now; unknown room is taken for none.

    A class that the host's provider does not have (disk on shared storage)
    is not counted there, so it does not bind.
    """
    if host.headroom is None:
        return False
    return all(
        amount
        <= host.headroom[resource].capacity - host.headroom[resource].used
        for resource, amount in amounts.items()
        if resource in host.headroom
    )


def _without_implied(before: list[set[int]]) -> list[list[int]]:
    """Drop the parents that are ancestors of other parents."""
    # As the bits of a number: a long plan has as many as steps times steps.
    ancestors: list[int] = []
    result: list[list[int]] = []
    for direct in before:
        older = 0
        for parent in direct:
            older |= ancestors[parent]
        ancestors.append(older)
        for parent in direct:
            ancestors[-1] |= 1 << parent
        result.append([n for n in sorted(direct) if not older >> n & 1])
    return result
