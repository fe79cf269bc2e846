# SPDX-License-Identifier: Apache-2.0
"""What is the literal rule? Slow, plain Python, and nothing left out.

Each round tries every (instance, destination), drops the illegal and the
rejected, and takes the largest improvement. Nothing here comes
from the planner: neither its rules nor its arithmetic.
"""

from dataclasses import dataclass

from kronos.engine.settings import Settings, SoftRules, TieBreak
from kronos.engine.types import Instance, ServerGroup, Snapshot
from kronos.policies.models import Policy

SAME = 1e-9
"""Numbers that differ by no more are equal."""

Placement = dict[str, str]
"""Instance uuid to host name."""
Scores = dict[str, dict[str, float]]
"""Policy name to host name to score."""


@dataclass
class Plan:
    moves: list[tuple[str, str, str]]
    """Instance, source, destination."""
    stopped: str
    combined: float


class Literal:
    """The rule for one scope of which every reading is complete."""

    def __init__(
        self, snapshot: Snapshot, policies: list[Policy], settings: Settings
    ) -> None:
        self._snapshot = snapshot
        self._policies = policies
        self._settings = settings
        self._hosts = [
            host
            for host in sorted(snapshot.hosts)
            if (service := (snapshot.services or {})[host]).state == 'up'
            and service.status == 'enabled'
        ]
        self._placement = {
            uuid: one.host for uuid, one in snapshot.instances.items()
        }
        self._scores: Scores = {}
        self._usage: Scores = {}
        self._capacity: Scores = {}
        for policy in policies:
            readings = snapshot.readings[policy.name]
            assert readings.profile is not None
            self._scores[policy.name] = {
                one.label: one.value
                for one in readings.imbalance.samples
                if one.label in self._hosts
            }
            self._usage[policy.name] = {
                one.label: one.value for one in readings.profile.samples
            }
            self._capacity[policy.name] = {
                one.label: one.value
                for one in (
                    readings.host_capacity.samples
                    if readings.host_capacity
                    else []
                )
            }

    def plan(self) -> Plan:
        moves: list[tuple[str, str, str]] = []
        moved: set[str] = set()
        while True:
            stopped = self._stopped(len(moves))
            best = None if stopped else self._best(moved)
            if best is None:
                return Plan(
                    moves, stopped or 'stuck', self._combined(self._scores)
                )
            uuid, host = best
            moves.append((uuid, self._placement[uuid], host))
            if not self._settings.repeat_moves:
                moved.add(uuid)
            self.move(uuid, host)

    def is_legal(self, uuid: str, host: str) -> bool:
        return self._may_move(uuid) and self._is_legal(uuid, host)

    def move(self, uuid: str, host: str) -> None:
        self._scores = self._after(uuid, host)
        self._placement[uuid] = host

    def _stopped(self, number: int) -> str:
        if not self._settings.exhaust and all(
            self._imbalance(self._scores, one.name) <= one.threshold + SAME
            for one in self._policies
        ):
            return 'balanced'
        if number >= (self._settings.max_migrations or 0):
            return 'budget'
        return ''

    def _best(self, moved: set[str]) -> tuple[str, str] | None:
        found = []
        before = self._combined(self._scores)
        for uuid in sorted(self._snapshot.instances):
            if uuid in moved or not self._may_move(uuid):
                continue
            for host in self._hosts:
                if not self._is_legal(uuid, host):
                    continue
                after = self._after(uuid, host)
                gain = before - self._combined(after)
                gain -= self._penalty(uuid, host)
                if gain > SAME and not self._is_rejected(after):
                    found.append((gain, uuid, host))
        if not found:
            return None
        best = max(gain for gain, _, _ in found)
        return self._of_equals(
            [(uuid, host) for gain, uuid, host in found if gain >= best - SAME]
        )

    def _of_equals(self, ties: list[tuple[str, str]]) -> tuple[str, str]:
        if self._settings.tie_break is TieBreak.FIRST:
            return ties[0]
        before = self._scatter(self._scores)
        worth = {}
        for uuid, host in ties:
            drop = before - self._scatter(self._after(uuid, host))
            if self._settings.tie_break is TieBreak.VARIANCE_PER_GIB:
                drop /= max(1, self._instance(uuid).memory_mb) / 1024
            worth[uuid, host] = drop
        best = max(worth.values())
        return min(
            (one for one in ties if worth[one] >= best - SAME),
            key=lambda one: (self._instance(one[0]).memory_mb, one),
        )

    def _scatter(self, scores: Scores) -> float:
        """Weighted sum of the variances, times the number of hosts."""
        total = 0.0
        for policy in self._policies:
            values = list(scores[policy.name].values())
            mean = sum(values) / len(values)
            total += policy.weight * sum((one - mean) ** 2 for one in values)
        return total

    def _instance(self, uuid: str) -> Instance:
        return self._snapshot.instances[uuid]

    def _imbalance(self, scores: Scores, policy: str) -> float:
        values = scores[policy].values()
        return max(values) - min(values)

    def _combined(self, scores: Scores) -> float:
        return sum(
            one.weight * self._imbalance(scores, one.name)
            for one in self._policies
        )

    def _after(self, uuid: str, host: str) -> Scores:
        source = self._placement[uuid]
        after = {}
        for name, values in self._scores.items():
            after[name] = dict(values)
            for end, sign in ((source, -1), (host, 1)):
                capacity = self._capacity[name].get(end, 1.0)
                after[name][end] += sign * self._usage[name][uuid] / capacity
        return after

    def _is_rejected(self, after: Scores) -> bool:
        for policy in self._policies:
            old = self._imbalance(self._scores, policy.name)
            new = self._imbalance(after, policy.name)
            if new > old + SAME and new > policy.threshold + SAME:
                return True
        return False

    def _may_move(self, uuid: str) -> bool:
        return (
            not self._instance(uuid).locked
            and self._placement[uuid] in self._hosts
            and all(uuid in usage for usage in self._usage.values())
        )

    def _is_legal(self, uuid: str, host: str) -> bool:
        return (
            host in self._hosts
            and host != self._placement[uuid]
            and not self._snapshot.hosts[host].closed
            and self._snapshot.hosts[host].excluded is None
            and self._zone_fits(uuid, host)
            and self._has_room(uuid, host)
            and self._groups_agree(uuid, host)
        )

    def _zone_fits(self, uuid: str, host: str) -> bool:
        hosts = self._snapshot.hosts
        zone = hosts[host].availability_zone
        pin = self._instance(uuid).pinned_availability_zone
        if pin is not None and zone != pin:
            return False
        source = hosts[self._placement[uuid]].availability_zone
        return not self._settings.restrict_to_az or zone == source

    def _has_room(self, uuid: str, host: str) -> bool:
        headroom = self._snapshot.hosts[host].headroom
        if headroom is None:
            return not self._settings.require_headroom
        one = self._instance(uuid)
        wanted = {'VCPU': one.vcpus, 'MEMORY_MB': one.memory_mb}
        if self._settings.check_disk:
            wanted['DISK_GB'] = one.disk_gb
        for name, need in wanted.items():
            used = sum(
                {
                    'VCPU': other.vcpus,
                    'MEMORY_MB': other.memory_mb,
                    'DISK_GB': other.disk_gb,
                }[name]
                for other in self._snapshot.instances.values()
                if self._placement[other.uuid] == host
            )
            if need > 0 and used + need > headroom[name].capacity:
                return False
        return True

    def _groups_agree(self, uuid: str, host: str) -> bool:
        vetoes = self._broken(uuid, host)
        if self._weighs_soft_rules():
            vetoes = [one for one in vetoes if 'soft' not in one.policy]
        return not vetoes

    def _penalty(self, uuid: str, host: str) -> float:
        if not self._weighs_soft_rules():
            return 0.0
        broken = self._broken(uuid, host)
        return self._settings.soft_rule_penalty * len(broken)

    def _weighs_soft_rules(self) -> bool:
        return self._settings.soft_rules is SoftRules.PENALTY and (
            not self._settings.enforce_soft_affinity
        )

    def _broken(self, uuid: str, host: str) -> list[ServerGroup]:
        """The groups to whose rule the move is contrary."""
        return [
            group
            for group in self._snapshot.groups
            if uuid in group.members and not self._agrees(group, uuid, host)
        ]

    def _agrees(self, group: ServerGroup, uuid: str, host: str) -> bool:
        others = [
            self._placement[one]
            for one in group.members
            if one != uuid and one in self._placement
        ]
        if group.policy == 'soft-anti-affinity':
            return host not in others
        if group.policy == 'anti-affinity':
            return others.count(host) < group.max_server_per_host
        if any(other != host for other in others):
            return False
        return bool(others) or group.policy == 'soft-affinity'
