# SPDX-License-Identifier: Apache-2.0
"""The constraints of a phase together: who may go where, and why not.

All phases ask the same object. It follows the plan, so every answer is
about the placement that the earlier steps leave.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

import numpy as np

from kronos.engine.arrays import BoolArray, Index, IntArray
from kronos.engine.constraints.base import (
    Constraint,
    HeadroomRule,
    HeldRule,
    KeyedRule,
    SameHost,
)
from kronos.engine.constraints.server_group import GroupRule
from kronos.engine.eligibility import in_flight
from kronos.engine.eligibility.hosts import why_unavailable
from kronos.engine.reasons import Code, Reason
from kronos.engine.server_groups import SOFT
from kronos.engine.settings import Settings
from kronos.engine.types import Snapshot


class Constraints:
    """Rules of which each must agree.

    :param rules: in the order in which their reasons are given
    :param soft: the one of them that a penalty may outweigh, if any
    """

    def __init__(
        self, rules: Sequence[Constraint], soft: GroupRule | None = None
    ) -> None:
        self._rules = list(rules)
        self._soft = soft

    def why_not(self, instance: int, host: int) -> Reason | None:
        """The first reason against a move now; None if it is legal."""
        for rule in self._rules:
            if reason := rule.why_not(instance, host):
                return reason
        return None

    def reasons(
        self, instance: int, host: int, hard: bool = False
    ) -> list[Reason]:
        """All that each rule has against a move now, in their order.

        :param hard: without the rules that a penalty may outweigh
        """
        rules = self._hard() if hard else self._rules
        return [
            reason for rule in rules for reason in rule.reasons(instance, host)
        ]

    def refusals(self, instance: int) -> list[tuple[int, Reason]]:
        """How many hosts each rule refuses that no earlier one did.

        With the rule's reason for the first of them.
        """
        one = np.array([instance])
        refused = []
        left: BoolArray | None = None
        for rule in self._rules:
            allowed = rule.rows(one)[0]
            if left is None:
                left = np.ones(len(allowed), dtype=bool)
            hosts = np.flatnonzero(left & ~allowed)
            reason = (
                rule.why_not(instance, int(hosts[0])) if hosts.size else None
            )
            if reason:
                refused.append((int(hosts.size), reason))
            left &= allowed
        return refused

    def rows(self, instances: IntArray) -> BoolArray:
        """[n, H]: where each of n instances may go."""
        return reduce(
            np.logical_and, (rule.rows(instances) for rule in self._rules)
        )

    def column(self, host: int) -> BoolArray:
        """[V]: which instances may come to a host."""
        return reduce(
            np.logical_and, (rule.column(host) for rule in self._rules)
        )

    def takes_all(self, instances: IntArray, host: int) -> bool:
        """Whether there is room for all of them at once, if for each."""
        return all(rule.takes_all(instances, host) for rule in self._rules)

    def hard_rows(self, instances: IntArray) -> BoolArray:
        """As :meth:`rows`, without the rules that a penalty may outweigh."""
        return reduce(
            np.logical_and, (rule.rows(instances) for rule in self._hard())
        )

    def hard_column(self, host: int) -> BoolArray:
        """As :meth:`column`, in the same way."""
        return reduce(
            np.logical_and, (rule.column(host) for rule in self._hard())
        )

    def _hard(self) -> list[Constraint]:
        return [rule for rule in self._rules if rule is not self._soft]

    def soft_breaks_rows(self, instances: IntArray) -> IntArray:
        """[n, H]: how many soft rules n instances break, host by host.

        Of those that a penalty may outweigh; 0 where soft rules veto.
        """
        if self._soft is None:
            hosts = self._rules[0].shape[1]
            return np.zeros((len(instances), hosts), dtype=np.intp)
        return self._soft.breaks_rows(instances)

    def soft_breaks_column(self, host: int) -> IntArray:
        """[V]: the same of every instance at one host."""
        if self._soft is None:
            return np.zeros(self._rules[0].shape[0], dtype=np.intp)
        return self._soft.breaks_column(host)

    @property
    def weighs_soft_rules(self) -> bool:
        """Whether there are rules that a penalty may outweigh."""
        return self._soft is not None

    def repair(self, group: str) -> None:
        """Let members of one group join any other of theirs.

        :param group: its uuid; '' ends it
        """
        for rule in self._rules:
            if isinstance(rule, GroupRule):
                rule.repairing = group

    @contextlib.contextmanager
    def without(self, hosts: Sequence[int]) -> Iterator['Constraints']:
        """The rules for a rebuild of what is on hosts, were they lost.

        Both share what they follow: who leads these through a trial takes
        it back before the end.
        """
        rules = [rule for rule in self._rules if rule.binds_rebuilds]
        grouped = [rule for rule in rules if isinstance(rule, GroupRule)]
        for rule in grouped:
            rule.lose(hosts)
        try:
            yield Constraints(rules)
        finally:
            for rule in grouped:
                rule.lose(())

    def follow(self, instance: int, source: int, destination: int) -> None:
        """Take note of a move; the opposite move takes it back."""
        for rule in self._rules:
            rule.follow(instance, source, destination)


def build(
    snapshot: Snapshot,
    index: Index,
    host_of: IntArray,
    frozen_hosts: Mapping[str, Reason],
    settings: Settings,
    more: Sequence[Constraint] = (),
    held_destinations: Mapping[str, Reason] | None = None,
    soft_is_priced: bool = False,
) -> Constraints:
    """The constraints of a scope in one phase.

    :param index: the hosts [H] and instances [V] that positions stand for
    :param host_of: [V], where each instance is; it is followed
    :param frozen_hosts: host to reason, from the scorecard
    :param more: further rules, of one phase
    :param held_destinations: host to reason, from what is remembered
    :param soft_is_priced: whether a penalty may outweigh the rules of soft
        groups
    """
    hosts = [snapshot.hosts[name] for name in index.hosts]
    instances = [snapshot.instances[uuid] for uuid in index.instances]
    zones = [zone_of(snapshot, name) for name in index.hosts]
    closed = [
        why_closed(snapshot, name, frozen_hosts, settings)
        for name in index.hosts
    ]
    resources = ['VCPU', 'MEMORY_MB']
    if settings.check_disk:
        resources.append('DISK_GB')
    rules: list[Constraint] = [
        SameHost(host_of, len(hosts)),
        KeyedRule(_closed_rule, [None] * len(instances), closed),
        KeyedRule(
            _pin_rule,
            [one.pinned_availability_zone for one in instances],
            zones,
        ),
    ]
    held = {
        index.host[name]: reason
        for name, reason in (held_destinations or {}).items()
        if name in index.host
    }
    if held:
        # First of those that look at who is on its way: lifted, it may lift
        # them as well.
        rules.append(HeldRule(len(instances), len(hosts), held))
    cells = [host.cell for host in hosts]
    if any(cells):
        within = [cells[host] for host in host_of.tolist()]
        rules.append(KeyedRule(_same_cell_rule, within, cells))
    if settings.restrict_to_az:
        # No move of this scope changes an instance's zone then.
        at = [zones[host] for host in host_of.tolist()]
        rules.append(KeyedRule(_same_zone_rule, at, zones))
    room = HeadroomRule(instances, hosts, resources)
    for uuid, name in in_flight.unclaimed(snapshot):
        room.reserve(index.instance[uuid], index.host[name])
    rules.append(room)
    hard = [one for one in snapshot.groups if one.policy not in SOFT]
    rules.append(GroupRule(snapshot, index, host_of, hard))
    if len(hard) == len(snapshot.groups):
        return Constraints([*rules, *more])
    only_soft = [one for one in snapshot.groups if one.policy in SOFT]
    soft = GroupRule(snapshot, index, host_of, only_soft)
    return Constraints([*rules, soft, *more], soft if soft_is_priced else None)


def zone_of(snapshot: Snapshot, host: str) -> str:
    """A host's availability zone; '' if nobody told."""
    zone = snapshot.hosts[host].availability_zone
    service = (snapshot.services or {}).get(host)
    return zone or (service.zone if service else '')


def why_closed(
    snapshot: Snapshot,
    host: str,
    frozen_hosts: Mapping[str, Reason],
    settings: Settings,
) -> Reason | None:
    """Why a host takes no instance at all; None if it may take some.

    Fails closed: without a row in os-services it takes none.
    """
    if host in frozen_hosts:
        return frozen_hosts[host]
    if snapshot.services is None:
        return Reason(
            'the state of the compute services is unknown',
            Code.SCOPE_NO_SERVICES,
        )
    if reason := why_unavailable(snapshot.services.get(host)):
        return reason
    about = snapshot.hosts[host]
    if about.closed:
        return Reason(about.closed, Code.HOST_CLOSED)
    if about.headroom is None and settings.require_headroom:
        return Reason(
            'Placement shows no inventory of it (require_headroom is set)',
            Code.HOST_NO_PLACEMENT,
        )
    return None


def _closed_rule(_: None, closed: Reason | None) -> Reason | None:
    if not closed:
        return None
    return closed.worded(f'the host takes nothing: {closed}')


def _pin_rule(pin: str | None, zone: str) -> Reason | None:
    """An unknown zone is not the one that is asked for."""
    if pin is None or pin == zone:
        return None
    return Reason(
        f'it is pinned to availability zone {pin}, the host is in '
        f'{zone or "an unknown one"}',
        Code.ZONE_PINNED,
    )


def _same_zone_rule(zone: str, other: str) -> Reason | None:
    if zone == other:
        return None
    return Reason(
        f'restrict_to_az is set: the host is in availability zone '
        f'{other or "unknown"}, not {zone or "unknown"}',
        Code.ZONE_CROSSED,
    )


def _same_cell_rule(cell: str, other: str) -> Reason | None:
    if cell and cell == other:
        return None
    return Reason(
        f'the host is in cell {other or "unknown"}, not '
        f'{cell or "unknown"}, and no live migration crosses cells',
        Code.CELL_CROSSED,
    )
