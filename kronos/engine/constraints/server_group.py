# SPDX-License-Identifier: Apache-2.0
"""May a member of a server group be where other members are, or are not?"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kronos.engine.arrays import BoolArray, Index, IntArray
from kronos.engine.constraints.base import Rule
from kronos.engine.eligibility import in_flight
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import ServerGroup, Snapshot

APART = frozenset({'anti-affinity', 'soft-anti-affinity'})
TOGETHER = frozenset({'affinity', 'soft-affinity'})
FEW_PAIRS = 12
"""So many pairs are judged one by one sooner than as arrays."""
SOFT = frozenset({'soft-affinity', 'soft-anti-affinity'})


def most_per_host(group: ServerGroup) -> int:
    """How many members of a group that is to be apart may share a host.

    Nova knows ``max_server_per_host`` for the hard policy alone.
    """
    return 1 if group.policy in SOFT else max(1, group.max_server_per_host)


def title(group: ServerGroup) -> str:
    return f'{group.policy} group {group.name or group.uuid}'


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
    name = title(group)
    if group.policy in APART:
        limit = most_per_host(group)
        if members_there >= limit:
            return Reason(
                f'{name} has {members_there} of at most {limit} there',
                Code.GROUP_APART,
                group.uuid,
            )
        return ''
    if group.policy not in TOGETHER:
        text = f'{name} has a policy that is not known'
        return Reason(text, Code.GROUP_UNKNOWN, group.uuid)
    if members_elsewhere:
        text = f'{name} has {members_elsewhere} other members elsewhere'
        return Reason(text, Code.GROUP_TOGETHER, group.uuid)
    if group.policy == 'affinity' and not members_there:
        text = f'{name} has no other member there, and Nova asks for one'
        return Reason(text, Code.GROUP_LONE, group.uuid)
    return ''


def excess(group: ServerGroup, on: Mapping[int, int]) -> int:
    """How far a group is from its rule (H4): the moves that it takes.

    Of a group that is to be apart the members above the limit of their
    host; of one that is to be together those that are not on the host with
    most of them.

    :param on: members by host
    """
    if group.policy in APART:
        limit = most_per_host(group)
        return sum(max(0, number - limit) for number in on.values())
    if group.policy in TOGETHER:
        return sum(on.values()) - max(on.values(), default=0)
    return 0


def is_enforced(group: ServerGroup, settings: Settings) -> bool:
    """Whether a group of this policy is repaired (H1-H3)."""
    if group.policy in SOFT:
        return settings.enforce_soft_affinity
    known = group.policy in APART or group.policy in TOGETHER
    return known and settings.enforce_hard_affinity


def violations(
    groups: Iterable[ServerGroup],
    placement: Mapping[str, str],
    settings: Settings,
) -> list[str]:
    """The rules of enforced kinds that a placement breaks, one text each.

    :param placement: instance uuid to host, of the scope (E5)
    """
    found = []
    for group in sorted(groups, key=lambda one: one.uuid):
        if is_enforced(group, settings):
            on = Counter(
                placement[uuid]
                for uuid in set(group.members)
                if uuid in placement
            )
            if text := describe(group, on):
                found.append(text)
    return found


def describe(group: ServerGroup, on: Mapping[str, int]) -> str:
    """``anti-affinity group db: 2 members on cmp1``; '' if all is well."""
    numbers = list(enumerate(sorted(on)))
    if not excess(group, {at: on[host] for at, host in numbers}):
        return ''
    if group.policy in TOGETHER:
        hosts = ', '.join(sorted(on))
        return (
            f'{title(group)}: {sum(on.values())} members on {len(on)} hosts '
            f'({hosts})'
        )
    limit = most_per_host(group)
    crowded = ', '.join(
        f'{on[host]} members on {host}'
        for host in sorted(on)
        if on[host] > limit
    )
    most = f' (at most {limit})' if limit > 1 else ''
    return f'{title(group)}: {crowded}{most}'


@dataclass(eq=False)
class _Group:
    group: ServerGroup
    members: list[int]
    """Those on hosts of the scope."""
    on: Counter[int]
    """Members by host; one that is on its way counts at both its ends."""
    total: int = 0
    """Of ``on``; no move changes it."""
    number: int = 0
    """Its place among the groups of the rule."""


class GroupRule(Rule):
    """All four server-group policies, on the simulated placement (E9).

    :param groups: those that this rule is about; None: all
    """

    def __init__(
        self,
        snapshot: Snapshot,
        index: Index,
        groups: Sequence[ServerGroup] | None = None,
    ) -> None:
        super().__init__(len(index.instances), len(index.hosts))
        chosen = snapshot.groups if groups is None else groups
        self.binds_rebuilds = any(one.policy not in SOFT for one in chosen)
        self._lost: frozenset[int] = frozenset()
        """Hosts whose members are to be rebuilt elsewhere."""
        self.repairing = ''
        """Uuid of a group that is being gathered: its members may go to
        any host where another one is (H8)."""
        self._host_of: IntArray = np.array(
            [
                index.host[snapshot.instances[uuid].host]
                for uuid in index.instances
            ],
            dtype=np.intp,
        )
        self._heading = {
            uuid: {index.host[one] for one in hosts if one in index.host}
            for uuid, hosts in in_flight.destinations(snapshot).items()
        }
        self._heading_of = {
            index.instance[uuid]: hosts
            for uuid, hosts in self._heading.items()
            if uuid in index.instance
        }
        self._groups: list[_Group] = []
        self._of: dict[int, list[_Group]] = {}
        self._on_host: dict[int, list[_Group]] = {}
        for group in sorted(chosen, key=lambda one: one.uuid):
            self._add(group, index)
        self._elsewhere: IntArray = np.zeros(
            len(index.instances), dtype=np.intp
        )
        """[V]: rules broken at a host without a member of any group"""
        self.lose(())

    def lose(self, hosts: Iterable[int]) -> None:
        """From now on suppose that these hosts are lost.

        Their members count no more where they are, and the first of a group
        that has nobody left elsewhere may be rebuilt anywhere.

        :param hosts: positions; none ends it
        """
        self._lost = frozenset(hosts)
        for instance, own in self._of.items():
            self._elsewhere[instance] = sum(
                bool(self._why_not(one, instance, -1)) for one in own
            )

    def _add(self, group: ServerGroup, index: Index) -> None:
        uuids = set(group.members)
        members = sorted(
            index.instance[uuid] for uuid in uuids if uuid in index.instance
        )
        found = _Group(
            group, members, Counter(self._host_of[members].tolist())
        )
        for uuid in uuids:
            found.on.update(self._heading.get(uuid, ()))
        found.total = found.on.total()
        for member in members:
            self._of.setdefault(member, []).append(found)
        for host in found.on:
            self._on_host.setdefault(host, []).append(found)
        found.number = len(self._groups)
        self._groups.append(found)

    def why_not(self, instance: int, host: int) -> str:
        return next(iter(self.reasons(instance, host)), '')

    def reasons(self, instance: int, host: int) -> list[str]:
        return [
            reason
            for one in self._of.get(instance, ())
            if (reason := self._why_not(one, instance, host))
        ]

    def _why_not(self, one: _Group, instance: int, host: int) -> str:
        heading = self._heading_of.get(instance, ())
        own = int(self._host_of[instance] == host) + (host in heading)
        there = one.on[host] - own
        others = one.total - 1 - len(heading) - there
        if one.group.policy in TOGETHER:
            gathers = one.group.uuid == self.repairing and there > 0
            if gathers or (self._lost and self._is_free(one, instance, host)):
                return ''
        return why_not(one.group, there, others)

    def _is_free(self, one: _Group, instance: int, host: int) -> bool:
        """Whether all other members are on the host, or lost."""
        left = set(one.on) - self._lost - {host}
        return self._host_of[instance] in self._lost and not left

    def breaks(self, instance: int, host: int) -> int:
        """How many groups' rules the move breaks."""
        return sum(
            bool(self._why_not(one, instance, host))
            for one in self._of.get(instance, ())
        )

    def breaks_rows(self, instances: IntArray) -> IntArray:
        """[n, H]: how many rules each of n instances breaks at a host."""
        start = self._elsewhere[instances]
        found: IntArray = np.repeat(start[:, None], self._shape[1], axis=1)
        rows_of: dict[int, list[int]] = {}
        for row, instance in enumerate(instances.tolist()):
            for one in self._of.get(instance, ()):
                rows_of.setdefault(one.number, []).append(row)
        for number, rows in rows_of.items():
            at = np.array(rows, dtype=np.intp)
            one, some = self._groups[number], instances[at]
            hosts = np.array(list(one.on), dtype=np.intp)
            more = self._breaks_at(one, some, hosts)
            found[at[:, None], hosts] += more
        return found

    def breaks_column(self, host: int) -> IntArray:
        """[V]: how many rules each instance breaks at a host."""
        found = self._elsewhere.copy()
        here = np.array([host], dtype=np.intp)
        for one in self._on_host.get(host, ()):
            members = np.array(one.members, dtype=np.intp)
            found[members] += self._breaks_at(one, members, here)[:, 0]
        return found

    def _breaks_at(
        self, one: _Group, members: IntArray, hosts: IntArray
    ) -> IntArray:
        """[n, h]: 1 where a member breaks the rule, as of the counts alone.

        Less what it breaks where there is no other: that is known already.
        """
        if members.size * hosts.size <= FEW_PAIRS:
            return self._few_breaks_at(one, members, hosts)
        own = np.equal(self._host_of[members][:, None], hosts).astype(np.intp)
        heading = np.zeros(len(members), dtype=np.intp)
        for row, member in enumerate(members.tolist()):
            if bound := self._heading_of.get(member):
                own[row] += np.isin(hosts, list(bound))
                heading[row] = len(bound)
        counts = np.array([one.on[h] for h in hosts.tolist()], dtype=np.intp)
        broken = self._is_broken(
            one, members, hosts, counts - own, heading[:, None]
        )
        away = self._is_broken(
            one,
            members,
            np.array([-1]),
            np.zeros((len(members), 1), dtype=np.intp),
            heading[:, None],
        )
        return broken.astype(np.intp) - away

    def _few_breaks_at(
        self, one: _Group, members: IntArray, hosts: IntArray
    ) -> IntArray:
        """The same, one by one."""
        found: IntArray = np.zeros((len(members), len(hosts)), dtype=np.intp)
        for row, member in enumerate(members.tolist()):
            away = bool(self._why_not(one, member, -1))
            for column, host in enumerate(hosts.tolist()):
                broken = bool(self._why_not(one, member, host))
                found[row, column] = broken - away
        return found

    def _is_broken(
        self,
        one: _Group,
        members: IntArray,
        hosts: IntArray,
        there: IntArray,
        heading: IntArray,
    ) -> BoolArray:
        """As :func:`why_not`, of many pairs.

        :param there: [n, h], other members on the host
        :param heading: [n, 1], hosts that each member is on its way to
        """
        group = one.group
        if group.policy in APART:
            return np.greater_equal(there, most_per_host(group))
        if group.policy not in TOGETHER:
            return np.ones(there.shape, dtype=bool)
        elsewhere = one.total - 1 - heading - there
        broken = elsewhere > 0
        if group.policy == 'affinity':
            broken |= there == 0
        if group.uuid == self.repairing:
            broken &= there == 0
        if self._lost:
            broken &= ~self._are_free(one, members, hosts)
        return broken

    def _are_free(
        self, one: _Group, members: IntArray, hosts: IntArray
    ) -> BoolArray:
        """[n, h]: :meth:`_is_free` of many pairs."""
        lost = np.isin(self._host_of[members], list(self._lost))
        left = set(one.on) - self._lost
        alone = [not left - {host} for host in hosts.tolist()]
        found: BoolArray = lost[:, None] & np.array(alone, dtype=bool)
        return found

    def rows(self, instances: IntArray) -> BoolArray:
        return np.equal(self.breaks_rows(instances), 0)

    def column(self, host: int) -> BoolArray:
        return np.equal(self.breaks_column(host), 0)

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
