# SPDX-License-Identifier: Apache-2.0
"""What is the literal rule of pack? Slow, plain Python."""

import copy
from collections.abc import Callable

from kronos.engine.settings import Settings
from kronos.engine.types import ServerGroup, Snapshot
from kronos.policies.models import Policy
from tests.unit.engine.oracles.spread_literal import (
    SAME,
    Literal,
    Plan,
    Scores,
)

Move = tuple[str, str, str]


class PackLiteral(Literal):
    """Each host in turn; each instance meets every other host.

    One that can be emptied but for the budget is begun with.
    """

    def __init__(
        self, snapshot: Snapshot, policies: list[Policy], settings: Settings
    ) -> None:
        super().__init__(snapshot, policies, settings)
        self._loads: Scores = {}
        for policy in policies:
            capacity = snapshot.readings[policy.name].capacity
            assert capacity is not None
            self._loads[policy.name] = {
                one.label: one.value for one in capacity.samples
            }
        self._drained: set[str] = set()
        self._lost: list[str] = []
        self._moves: list[Move] = []

    def plan(self) -> Plan:
        order = sorted(self._in_use(), key=self._rank)
        for host in order:
            if len(self._in_use()) > self._settings.keep_hosts:
                self._drain(host)
        return Plan(self._moves, '', self._combined(self._scores))

    def _drain(self, host: str) -> None:
        if self._settings.pack_partial_drains:
            self._try(host, lambda: self._move_some(host))
            return
        left = self._left()
        there = self._heaviest_first([host])
        whole = self._try(host, lambda: left > 0 and self._move_all(there))
        if whole and len(there) > left:
            # It can be emptied: so it begins, with as many as it may.
            self._put_back()
            self._try(host, lambda: self._move_all(there[:left]))

    def _try(self, host: str, move: Callable[[], bool]) -> bool:
        self._before = copy.deepcopy(
            (self._placement, self._scores, self._loads, self._moves)
        )
        if move() and self._can_lose_hosts():
            self._drained.add(host)
            return True
        self._put_back()
        self._drained.discard(host)
        return False

    def _put_back(self) -> None:
        (self._placement, self._scores, self._loads, self._moves) = (
            self._before
        )

    def _move_all(self, there: list[str]) -> bool:
        moved = {uuid for uuid, _, _ in self._moves}
        if any(u in moved or not self._may_move(u) for u in there):
            return False
        return all(self._move_one(uuid) for uuid in there)

    def _move_some(self, host: str) -> bool:
        moved = {uuid for uuid, _, _ in self._moves}
        for uuid in self._heaviest_first([host]):
            if uuid not in moved and self._may_move(uuid) and self._left():
                self._move_one(uuid)
        return True

    def _left(self) -> int:
        return (self._settings.max_migrations or 1000) - len(self._moves)

    def _move_one(self, uuid: str) -> bool:
        source = self._placement[uuid]
        hosts = set(self._in_use()) - self._drained - {source}
        host = self._place(uuid, hosts)
        if host:
            self._moves.append((uuid, source, host))
        return bool(host)

    def _place(self, uuid: str, hosts: set[str]) -> str:
        """Put it on the fullest of them that may have it."""
        legal = [
            host
            for host in hosts
            if self._is_legal(uuid, host) and self._is_below(uuid, host)
        ]
        if not legal:
            return ''
        host = min(legal, key=lambda one: (-self._rank(one)[0], one))
        self._put(uuid, host)
        return host

    def _put(self, uuid: str, host: str) -> None:
        source = self._placement[uuid]
        for name in self._usage:
            for end, sign in ((source, -1), (host, 1)):
                share = sign * self._share(uuid, name, end)
                self._scores[name][end] += share
                if end in self._loads[name]:
                    self._loads[name][end] += share
        self._placement[uuid] = host

    def _can_lose_hosts(self) -> bool:
        saved = copy.deepcopy((self._placement, self._scores, self._loads))
        in_use = sorted(
            self._in_use(), key=lambda one: (-self._rank(one)[0], one)
        )
        number = self._settings.headroom_hosts
        self._lost, left = in_use[:number], set(in_use[number:])
        fits = all(
            self._place(uuid, left)
            for uuid in self._heaviest_first(self._lost)
        )
        self._placement, self._scores, self._loads = saved
        self._lost = []
        return fits

    def _agrees(self, group: ServerGroup, uuid: str, host: str) -> bool:
        """Of a lost host's, soft groups may part; hard ones meet again."""
        if not self._lost:
            return super()._agrees(group, uuid, host)
        if 'soft' in group.policy:
            return True
        elsewhere = {
            self._placement[one]
            for one in group.members
            if one != uuid and one in self._placement
        } - set(self._lost)
        if group.policy == 'affinity':
            return elsewhere <= {host}
        return super()._agrees(group, uuid, host)

    def _in_use(self) -> list[str]:
        return [one for one in self._hosts if one in self._placement.values()]

    def _rank(self, host: str) -> tuple[float, str]:
        score = sum(
            one.weight * self._scores[one.name][host] for one in self._policies
        )
        return round(score, 9), host

    def _heaviest_first(self, hosts: list[str]) -> list[str]:
        def key(uuid: str) -> tuple[float, int, str]:
            host = self._placement[uuid]
            weight = sum(
                one.weight * self._share(uuid, one.name, host)
                for one in self._policies
            )
            return -round(weight, 9), -self._instance(uuid).memory_mb, uuid

        return sorted(
            (u for u, host in self._placement.items() if host in hosts),
            key=key,
        )

    def _share(self, uuid: str, policy: str, host: str) -> float:
        """What has no profile in one policy weighs nothing in all."""
        if not all(uuid in usage for usage in self._usage.values()):
            return 0.0
        capacity = self._capacity[policy].get(host, 1.0)
        return self._usage[policy][uuid] / capacity

    def _is_below(self, uuid: str, host: str) -> bool:
        for policy in self._policies:
            load = self._loads[policy.name].get(host)
            if load is None:
                return False
            load += self._share(uuid, policy.name, host)
            if load >= policy.capacity_threshold - SAME:
                return False
        return True
