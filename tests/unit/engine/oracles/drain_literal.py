# SPDX-License-Identifier: Apache-2.0
"""What is the literal rule of a drain? Slow, plain Python."""

from kronos.engine.settings import Settings
from kronos.engine.types import Snapshot
from kronos.policies.models import Mode, Policy
from tests.unit.engine.oracles.ledger import guessed
from tests.unit.engine.oracles.spread_literal import (
    SAME,
    Literal,
    Plan,
    Scores,
)


class DrainLiteral(Literal):
    """Each round every instance on a drained host meets every other host."""

    def __init__(
        self, snapshot: Snapshot, policies: list[Policy], settings: Settings
    ) -> None:
        super().__init__(snapshot, policies, settings)
        services = snapshot.services or {}
        self._sources = [
            host
            for host in sorted(snapshot.hosts)
            if services[host].state == 'up'
            and (
                services[host].status == 'disabled'
                if settings.drain_hosts is None
                else host in settings.drain_hosts
            )
        ]
        for policy in policies:
            # What is to leave and has no sample: its flavor's share.
            for uuid, host in self._placement.items():
                if host in self._sources:
                    self._usage[policy.name].setdefault(
                        uuid, guessed(snapshot, policy, uuid)
                    )
        self._hosts = [one for one in self._hosts if one not in self._sources]
        self._scores = {
            name: {host: one[host] for host in self._hosts}
            for name, one in self._scores.items()
        }
        self._loads: Scores = {}
        for policy in policies:
            readings = snapshot.readings[policy.name]
            found = readings.imbalance
            if policy.capacity_query:
                assert readings.capacity is not None
                found = readings.capacity
            self._loads[policy.name] = {
                one.label: one.value for one in found.samples
            }

    def plan(self) -> Plan:
        moves: list[tuple[str, str, str]] = []
        moved: set[str] = set()
        while len(moves) < (self._settings.max_migrations or 1000):
            packs = self._policies[0].mode is Mode.PACK
            best = self._largest(moved) if packs else self._best_drain(moved)
            if best is None:
                break
            uuid, host = best
            moves.append((uuid, self._placement[uuid], host))
            moved.add(uuid)
            for name, usage in self._usage.items():
                share = usage[uuid] / self._capacity[name].get(host, 1.0)
                self._loads[name][host] += share
            self.move(uuid, host)
        return Plan(moves, '', self._combined(self._scores))

    def _pairs(self, moved: set[str]) -> list[tuple[str, str]]:
        return [
            (uuid, host)
            for uuid in sorted(self._snapshot.instances)
            if uuid not in moved and self._may_move(uuid)
            for host in self._hosts
            if self._is_legal(uuid, host) and self._is_below(uuid, host)
        ]

    def _best_drain(self, moved: set[str]) -> tuple[str, str] | None:
        after = {pair: self._after(*pair) for pair in self._pairs(moved)}
        if not self._settings.drain_may_exceed_threshold:
            after = {
                pair: scores
                for pair, scores in after.items()
                if not self._is_rejected(scores)
            }
        if not after:
            return None
        combined = {
            pair: self._combined(scores) + self._penalty(*pair)
            for pair, scores in after.items()
        }
        least = min(combined.values())
        ties = [p for p, value in combined.items() if value <= least + SAME]
        scatter = {pair: self._scatter(after[pair]) for pair in ties}
        least = min(scatter.values())
        return min(
            (pair for pair in ties if scatter[pair] <= least + SAME),
            key=lambda pair: (self._instance(pair[0]).memory_mb, pair),
        )

    def _weighs_soft_rules(self) -> bool:
        """Mode pack compares no imbalances that a penalty could add to."""
        packs = self._policies[0].mode is Mode.PACK
        return not packs and super()._weighs_soft_rules()

    def _largest(self, moved: set[str]) -> tuple[str, str] | None:
        pairs = self._pairs(moved)
        if not pairs:
            return None
        first = min(
            {uuid for uuid, _ in pairs},
            key=lambda uuid: (round(-self._size(uuid) / SAME), uuid),
        )
        hosts = [host for uuid, host in pairs if uuid == first]
        in_use = set(self._placement.values())
        hosts = [host for host in hosts if host in in_use] or hosts
        fullness = {
            host: sum(
                one.weight * self._scores[one.name][host]
                for one in self._policies
            )
            for host in hosts
        }
        most = max(fullness.values())
        return first, min(
            host for host, full in fullness.items() if full >= most - SAME
        )

    def _size(self, uuid: str) -> float:
        total = 0.0
        for policy in self._policies:
            sizes = [
                self._capacity[policy.name].get(host, 1.0)
                for host in self._hosts
            ]
            mean = sum(sizes) / len(sizes)
            total += policy.weight * self._usage[policy.name][uuid] / mean
        return total

    def _is_below(self, uuid: str, host: str) -> bool:
        for policy in self._policies:
            load = self._loads[policy.name].get(host)
            share = self._usage[policy.name][uuid]
            share /= self._capacity[policy.name].get(host, 1.0)
            if load is None:
                return False
            if load + share >= policy.capacity_threshold - SAME:
                return False
        return True

    def _may_move(self, uuid: str) -> bool:
        return (
            not self._instance(uuid).locked
            and self._placement[uuid] in self._sources
            and all(uuid in usage for usage in self._usage.values())
        )

    def _after(self, uuid: str, host: str) -> Scores:
        """The drained host counts no more: only the other end changes."""
        after = {}
        for name, values in self._scores.items():
            capacity = self._capacity[name].get(host, 1.0)
            share = self._usage[name][uuid] / capacity
            after[name] = {**values, host: values[host] + share}
        return after
