# SPDX-License-Identifier: Apache-2.0
"""May a member of a server group be where other members are, or are not?"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from kronos.engine.arrays import BoolArray, Index, IntArray
from kronos.engine.rules import Rule
from kronos.engine.types import ServerGroup, Snapshot

APART = frozenset({'anti-affinity', 'soft-anti-affinity'})
TOGETHER = frozenset({'affinity', 'soft-affinity'})


def why_not(
    group: ServerGroup, members_there: int, members_elsewhere: int
) -> str:
    """Why one more member may not come to a host; '' if it may.

    Soft policies are as strict as hard ones (E6), but for Nova's own rule
    that a lone member of a hard ``affinity`` group cannot be live-migrated.

    :param members_there: other members on the host
    :param members_elsewhere: other members on other hosts of the scope;
        those outside it are ignored (E5)
    """
    name = f'{group.policy} group {group.name or group.uuid}'
    if group.policy in APART:
        limit = max(1, group.max_server_per_host)
        if members_there >= limit:
            return f'{name} has {members_there} of at most {limit} there'
        return ''
    if group.policy not in TOGETHER:
        return f'{name} has a policy that is not known'
    if members_elsewhere:
        return f'{name} has {members_elsewhere} other members elsewhere'
    if group.policy == 'affinity' and not members_there:
        return f'{name} has no other member there, and Nova asks for one'
    return ''


@dataclass(eq=False)
class _Group:
    group: ServerGroup
    members: list[int]
    """Those on hosts of the scope."""
    on: Counter[int]
    """Members by host."""


class GroupRule(Rule):
    """All four server-group policies, on the simulated placement (E9)."""

    def __init__(self, snapshot: Snapshot, index: Index) -> None:
        super().__init__(len(index.instances), len(index.hosts))
        self._host_of = {
            at: index.host[snapshot.instances[uuid].host]
            for at, uuid in enumerate(index.instances)
        }
        self._groups: list[_Group] = []
        self._of: dict[int, list[_Group]] = {}
        self._on_host: dict[int, list[_Group]] = {}
        for group in sorted(snapshot.groups, key=lambda one: one.uuid):
            self._add(group, index)
        # What holds of a host without a member of any of its groups.
        self._elsewhere: BoolArray = np.ones(len(index.instances), dtype=bool)
        for instance, groups in self._of.items():
            self._elsewhere[instance] = not any(
                why_not(one.group, 0, len(one.members) - 1) for one in groups
            )

    def _add(self, group: ServerGroup, index: Index) -> None:
        members = sorted(
            index.instance[uuid]
            for uuid in set(group.members)
            if uuid in index.instance
        )
        found = _Group(
            group, members, Counter(self._host_of[one] for one in members)
        )
        for member in members:
            self._of.setdefault(member, []).append(found)
        for host in found.on:
            self._on_host.setdefault(host, []).append(found)

    def why_not(self, instance: int, host: int) -> str:
        own = self._host_of[instance] == host
        for one in self._of.get(instance, ()):
            there = one.on[host] - own
            others = len(one.members) - 1 - there
            if reason := why_not(one.group, there, others):
                return reason
        return ''

    def rows(self, instances: IntArray) -> BoolArray:
        start = self._elsewhere[instances]
        mask = np.repeat(start[:, None], self._shape[1], axis=1)
        for row, instance in enumerate(instances.tolist()):
            for one in self._of.get(instance, ()):
                for host in one.on:
                    mask[row, host] = not self.why_not(instance, host)
        return mask

    def column(self, host: int) -> BoolArray:
        mask = self._elsewhere.copy()
        for one in self._on_host.get(host, ()):
            for member in one.members:
                mask[member] = not self.why_not(member, host)
        return mask

    def follow(self, instance: int, source: int, destination: int) -> None:
        self._host_of[instance] = destination
        for one in self._of.get(instance, ()):
            one.on[source] -= 1
            if not one.on[source]:
                del one.on[source]
                self._on_host[source].remove(one)
            if not one.on[destination]:
                self._on_host.setdefault(destination, []).append(one)
            one.on[destination] += 1
