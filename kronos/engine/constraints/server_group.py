# SPDX-License-Identifier: Apache-2.0
"""The server-group constraints: where members may be beside each other."""

import abc
import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Self

import numpy as np

from kronos.engine import edits, server_groups
from kronos.engine.arrays import BoolArray, Index, IntArray
from kronos.engine.constraints.base import (
    Constraint,
    ConstraintInput,
    PlacementLimits,
)
from kronos.engine.edits import Pair
from kronos.engine.eligibility import in_flight
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput, ServerGroup, Snapshot

FEW_PAIRS = 12
"""So many pairs are judged one by one sooner than as arrays."""


@dataclass(eq=False)
class _Tally:
    group: ServerGroup
    members: list[int]
    """Those on hosts of the scope."""
    on: Counter[int]
    """Members by host; one that is on its way counts at both its ends."""
    total: int = 0
    """Of ``on``; no move changes it."""
    number: int = 0
    """Its place among the groups of the constraint."""

    @property
    def is_bound(self) -> bool:
        """Whether its members are to be together, and are several."""
        together = self.group.policy in server_groups.TOGETHER
        return together and self.total > 1


class ServerGroupConstraint(Constraint):
    """All four server-group policies, on the simulated placement.

    One class, since a pair, a row, a column and a count of broken rules are
    answered from the same members per host.

    :param host_of: [V], where each instance is, shared with who moves them
    :param groups: those that this constraint is about
    """

    is_lasting = False
    subject = attrgetter('snapshot.groups')

    def __init__(
        self,
        snapshot: Snapshot,
        index: Index,
        host_of: IntArray,
        groups: Sequence[ServerGroup],
    ) -> None:
        super().__init__(len(index.instances), len(index.hosts))
        self._lost: frozenset[int] = frozenset()
        """Hosts whose members are to be rebuilt elsewhere."""
        self.repairing = ''
        """Uuid of a group that is being gathered: its members may go to
        any host where another one is."""
        self._host_of = host_of
        self._heading = {
            uuid: {index.host[host] for host in hosts if host in index.host}
            for uuid, hosts in in_flight.destinations(snapshot).items()
        }
        self._heading_of = {
            index.instance[uuid]: hosts
            for uuid, hosts in self._heading.items()
            if uuid in index.instance
        }
        self._groups: list[_Tally] = []
        self._of: dict[int, list[_Tally]] = {}
        self._on_host: dict[int, list[_Tally]] = {}
        for group in sorted(groups, key=lambda group: group.uuid):
            self._add(group, index, snapshot)
        self._elsewhere: IntArray = np.zeros(
            len(index.instances), dtype=np.intp
        )
        """[V]: rules broken at a host without a member of any group"""
        self.lose(())

    @classmethod
    def build(cls, inputs: ConstraintInput) -> Self | None:
        groups = [
            group for group in inputs.snapshot.groups if cls._is_of(group)
        ]
        if not groups:
            return None
        return cls(inputs.snapshot, inputs.index, inputs.host_of, groups)

    @staticmethod
    @abc.abstractmethod
    def _is_of(group: ServerGroup) -> bool:
        """Whether the constraint is about a group."""

    @staticmethod
    def relax(
        case: PlanningInput, reason: Reason, pair: Pair
    ) -> PlanningInput:
        return edits.without_group(case, reason.about)

    def lose(self, hosts: Iterable[int]) -> None:
        """From now on suppose that these hosts are lost.

        Their members count no more where they are, and the first of a group
        that has nobody left elsewhere may be rebuilt anywhere.

        :param hosts: positions; none ends it
        """
        self._lost = frozenset(hosts)
        for instance, own in self._of.items():
            self._elsewhere[instance] = sum(
                bool(self._why_not(tally, instance, -1)) for tally in own
            )

    def _add(
        self, group: ServerGroup, index: Index, snapshot: Snapshot
    ) -> None:
        uuids = set(group.members)
        members = sorted(
            index.instance[uuid] for uuid in uuids if uuid in index.instance
        )
        tally = _Tally(
            group,
            members,
            Counter(
                index.host[snapshot.instances[uuid].host]
                for uuid in uuids
                if uuid in index.instance
            ),
        )
        for uuid in uuids:
            tally.on.update(self._heading.get(uuid, ()))
        tally.total = tally.on.total()
        for member in members:
            self._of.setdefault(member, []).append(tally)
        for host in tally.on:
            self._on_host.setdefault(host, []).append(tally)
        tally.number = len(self._groups)
        self._groups.append(tally)

    def why_not(self, instance: int, host: int) -> Reason | None:
        return next(iter(self.reasons(instance, host)), None)

    def reasons(self, instance: int, host: int) -> list[Reason]:
        return [
            reason
            for tally in self._of.get(instance, ())
            if (reason := self._why_not(tally, instance, host))
        ]

    def _why_not(
        self, tally: _Tally, instance: int, host: int
    ) -> Reason | None:
        heading = self._heading_of.get(instance, ())
        own = int(self._host_of[instance] == host) + (host in heading)
        on_host = tally.on[host] - own
        others = tally.total - 1 - len(heading) - on_host
        if tally.group.policy in server_groups.TOGETHER:
            gathers = tally.group.uuid == self.repairing and on_host > 0
            if gathers or (
                self._lost and self._is_free(tally, instance, host)
            ):
                return None
        return server_groups.why_not(tally.group, on_host, others)

    def _is_free(self, tally: _Tally, instance: int, host: int) -> bool:
        """Whether all other members are on the host, or lost."""
        remaining = set(tally.on) - self._lost - {host}
        return self._host_of[instance] in self._lost and not remaining

    def breaks(self, instance: int, host: int) -> int:
        """How many groups' rules the move breaks."""
        return len(self.reasons(instance, host))

    def breaks_rows(self, instances: IntArray) -> IntArray:
        """[n, H]: how many rules each of n instances breaks at a host."""
        start = self._elsewhere[instances]
        breaks: IntArray = np.repeat(start[:, None], self._shape[1], axis=1)
        rows_of: dict[int, list[int]] = {}
        for row, instance in enumerate(instances.tolist()):
            for tally in self._of.get(instance, ()):
                rows_of.setdefault(tally.number, []).append(row)
        for number, rows in rows_of.items():
            positions = np.array(rows, dtype=np.intp)
            tally, some = self._groups[number], instances[positions]
            hosts = np.array(list(tally.on), dtype=np.intp)
            more = self._breaks_at(tally, some, hosts)
            breaks[positions[:, None], hosts] += more
        return breaks

    def breaks_column(self, host: int) -> IntArray:
        """[V]: how many rules each instance breaks at a host."""
        breaks = self._elsewhere.copy()
        here = np.array([host], dtype=np.intp)
        for tally in self._on_host.get(host, ()):
            members = np.array(tally.members, dtype=np.intp)
            breaks[members] += self._breaks_at(tally, members, here)[:, 0]
        return breaks

    def _breaks_at(
        self, tally: _Tally, members: IntArray, hosts: IntArray
    ) -> IntArray:
        """[n, h]: 1 where a member breaks the rule, as of the counts alone.

        Less what it breaks where there is no other: that is known already.
        """
        if members.size * hosts.size <= FEW_PAIRS:
            return self._few_breaks_at(tally, members, hosts)
        own = np.equal(self._host_of[members][:, None], hosts).astype(np.intp)
        heading = np.zeros(len(members), dtype=np.intp)
        for row, member in enumerate(members.tolist()):
            if bound := self._heading_of.get(member):
                own[row] += np.isin(hosts, list(bound))
                heading[row] = len(bound)
        counts = np.array([tally.on[h] for h in hosts.tolist()], dtype=np.intp)
        broken = self._is_broken(
            tally, members, hosts, counts - own, heading[:, None]
        )
        away = self._is_broken(
            tally,
            members,
            np.array([-1]),
            np.zeros((len(members), 1), dtype=np.intp),
            heading[:, None],
        )
        return broken.astype(np.intp) - away

    def _few_breaks_at(
        self, tally: _Tally, members: IntArray, hosts: IntArray
    ) -> IntArray:
        """The same, one by one."""
        breaks: IntArray = np.zeros((len(members), len(hosts)), dtype=np.intp)
        for row, member in enumerate(members.tolist()):
            away = bool(self._why_not(tally, member, -1))
            for column, host in enumerate(hosts.tolist()):
                broken = bool(self._why_not(tally, member, host))
                breaks[row, column] = broken - away
        return breaks

    def _is_broken(
        self,
        tally: _Tally,
        members: IntArray,
        hosts: IntArray,
        on_host: IntArray,
        heading: IntArray,
    ) -> BoolArray:
        """As :func:`why_not`, of many pairs.

        :param on_host: [n, h], other members on the host
        :param heading: [n, 1], hosts that each member is on its way to
        """
        group = tally.group
        if group.policy in server_groups.APART:
            return np.greater_equal(
                on_host, server_groups.most_per_host(group)
            )
        if group.policy not in server_groups.TOGETHER:
            return np.ones(on_host.shape, dtype=bool)
        elsewhere = tally.total - 1 - heading - on_host
        broken = elsewhere > 0
        if group.policy == 'affinity':
            broken |= on_host == 0
        if group.uuid == self.repairing:
            broken &= on_host == 0
        if self._lost:
            broken &= ~self._are_free(tally, members, hosts)
        return broken

    def _are_free(
        self, tally: _Tally, members: IntArray, hosts: IntArray
    ) -> BoolArray:
        """[n, h]: :meth:`_is_free` of many pairs."""
        lost = np.isin(self._host_of[members], list(self._lost))
        remaining = set(tally.on) - self._lost
        alone = [not remaining - {host} for host in hosts.tolist()]
        are_free: BoolArray = lost[:, None] & np.array(alone, dtype=bool)
        return are_free

    def rows(self, instances: IntArray) -> BoolArray:
        return np.equal(self.breaks_rows(instances), 0)

    def column(self, host: int) -> BoolArray:
        return np.equal(self.breaks_column(host), 0)

    def limit(self, limits: PlacementLimits) -> None:
        """Members that are to be together stay where they may go alone."""
        place = {
            instance: position
            for position, instance in enumerate(limits.instances.tolist())
        }
        for tally in self._groups:
            members = [place[each] for each in tally.members if each in place]
            if tally.group.policy in server_groups.APART:
                counts = [tally.on[host] for host in limits.hosts.tolist()]
                most = server_groups.most_per_host(tally.group)
                limits.apart.append((members, np.array(counts), most))
            elif members:
                rows = self.rows(limits.instances[members])
                limits.allowed[members] &= rows[:, limits.hosts]

    def ever(self, host: int) -> BoolArray:
        """A group that is to be together never goes where no member is.

        The first to come there would need the others there before.
        """
        elsewhere = self._bound.copy()
        for tally in self._on_host.get(host, ()):
            if tally.is_bound:
                elsewhere[tally.members] -= 1
        allowed: BoolArray = super().ever(host) & np.equal(elsewhere, 0)
        return allowed

    @functools.cached_property
    def _bound(self) -> IntArray:
        """[V], groups of several members that are to be together."""
        counts: IntArray = np.zeros(self._shape[0], dtype=np.intp)
        for tally in self._groups:
            if tally.is_bound:
                counts[tally.members] += 1
        return counts

    def apart(self) -> list[tuple[list[int], dict[int, int], int]]:
        """The groups that are to be apart.

        :returns: the members, how many are on each host, and how many may
            come to be on one
        """
        return [
            (
                tally.members,
                dict(tally.on),
                server_groups.most_per_host(tally.group),
            )
            for tally in self._groups
            if tally.group.policy in server_groups.APART
        ]

    def together(self) -> set[int]:
        """Members of groups that are to be on one host."""
        return {
            member
            for tally in self._groups
            if tally.group.policy in server_groups.TOGETHER
            for member in tally.members
        }

    def follow(self, instance: int, source: int, destination: int) -> None:
        for tally in self._of.get(instance, ()):
            tally.on[source] -= 1
            if not tally.on[source]:
                del tally.on[source]
                self._on_host[source].remove(tally)
            if not tally.on[destination]:
                self._on_host.setdefault(destination, []).append(tally)
            tally.on[destination] += 1


class HardServerGroups(ServerGroupConstraint):
    """Those whose rule nothing outweighs, or is not known."""

    codes = frozenset(
        {
            Code.GROUP_APART,
            Code.GROUP_TOGETHER,
            Code.GROUP_LONE,
            Code.GROUP_UNKNOWN,
        }
    )

    @staticmethod
    def _is_of(group: ServerGroup) -> bool:
        return group.policy not in server_groups.SOFT


class SoftServerGroups(ServerGroupConstraint):
    """Those whose rule a penalty may outweigh, where it has a price."""

    codes = frozenset({Code.GROUP_APART, Code.GROUP_TOGETHER})
    binds_rebuilds = False

    @staticmethod
    def _is_of(group: ServerGroup) -> bool:
        return group.policy in server_groups.SOFT
