# SPDX-License-Identifier: Apache-2.0
"""The published rules of consolidation, as CloudSim 3.0.3 carries them out.

A host is too full by a threshold (THR), or by a line through its last
samples (LR). It gives away the servers that migrate fastest (MMT), each to
the host whose power rises least; then the least used hosts are emptied.
"""

from collections.abc import Iterable

import numpy as np

from bench.calm.planetlab import DataCenter, Floats, Plan

SAMPLES = 10
"""That the line goes through."""
FALLBACK = 0.7
"""The threshold as long as there are fewer."""


def line(samples: int = SAMPLES) -> Floats:
    """What each sample counts in the value that the line has next.

    CloudSim has weights for them, which it never uses.
    """
    places = np.arange(samples) - (samples - 1) / 2
    slope: Floats = places / (places @ places)
    return 1 / samples + slope * (samples + 1) / 2


class Threshold:
    """A host is too full above a ratio of its CPU."""

    def __init__(self, ratio: float) -> None:
        self._ratio = ratio

    def weights(self, tick: int, center: DataCenter) -> Floats:
        """What each server counts."""
        return center.asked[:, tick]

    def limit(self, tick: int, center: DataCenter) -> Floats:
        """What the sum on each host may not exceed."""
        return center.capacity * self._ratio


class Line(Threshold):
    """A host is too full if the next value, with a margin, fills it."""

    def __init__(self, margin: float) -> None:
        super().__init__(FALLBACK)
        self._margin = margin
        self._line = line()

    def weights(self, tick: int, center: DataCenter) -> Floats:
        if tick < SAMPLES:
            return super().weights(tick, center)
        last = center.load[:, tick - SAMPLES + 1 : tick + 1]
        result: Floats = last @ self._line * center.mips * self._margin
        return result

    def limit(self, tick: int, center: DataCenter) -> Floats:
        if tick < SAMPLES:
            return super().limit(tick, center)
        return center.capacity * (1 - 1e-12)


class Consolidation:
    """A plan by one of the two, then by emptying hosts."""

    def __init__(self, rule: Threshold) -> None:
        self._rule = rule

    def __call__(self, tick: int, center: DataCenter) -> Plan:
        draft = _Draft(tick, center, self._rule)
        draft.relieve()
        draft.empty()
        return draft.plan


class _Draft:
    """The state of one plan."""

    def __init__(self, tick: int, center: DataCenter, rule: Threshold) -> None:
        self.center = center
        self.plan: Plan = []
        self.host = center.host.copy()
        self.asked = center.asked[:, tick]
        self.weights = rule.weights(tick, center)
        self.limit = rule.limit(tick, center)
        self.weighed = center.sums(self.weights)
        cores = np.append(center.core, 0.0)
        self.mips = center.sums(np.minimum(self.asked, cores[self.host]))
        # CloudSim measures what a host has now, whatever the plan adds.
        self.used = np.minimum(self.mips / center.capacity, 1.0)
        self.power = center.watts(self.used)
        self.is_off = self.used <= 0
        self.is_full = self.weighed > self.limit
        self.is_closed = self.is_full.copy()

    def relieve(self) -> None:
        """Take servers from hosts that are too full, and place them."""
        leaving: list[int] = []
        for host in np.flatnonzero(self.is_full):
            servers = np.flatnonzero(self.host == host)
            by_time = np.argsort(self.center.memory[servers], kind='stable')
            for server in servers[by_time]:
                leaving.append(int(server))
                self._take(server, host)
                if self.weighed[host] <= self.limit[host]:
                    break
        self._move(
            (server, self._place(server)) for server in self._by_load(leaving)
        )

    def empty(self) -> None:
        """Empty the least used hosts, as long as their servers fit."""
        done = self.is_full | self.is_off
        self.is_closed |= self.is_off
        while not done.all():
            host = int(np.argmin(np.where(done, np.inf, self.used)))
            if self.used[host] >= 1:
                break
            done[host] = self.is_closed[host] = True
            # Whoever the first half put here moves once more.
            servers = np.flatnonzero(self.host == host)
            before = self.mips.copy(), self.weighed.copy()
            moves = [
                (server, self._place(server))
                for server in self._by_load(servers)
            ]
            if all(target >= 0 for _, target in moves):
                self._move(moves)
                done[[target for _, target in moves]] = True
            else:
                self.mips, self.weighed = before

    def _by_load(self, servers: Iterable[int]) -> list[int]:
        return sorted(servers, key=lambda server: -self.asked[server])

    def _take(self, server: int, host: int) -> None:
        self.weighed[host] -= self.weights[server]
        self.mips[host] -= min(self.asked[server], self.center.core[host])
        self.host[server] = -1

    def _place(self, server: int) -> int:
        """Where the power rises least; -1: nowhere."""
        center, asked = self.center, self.asked[server]
        weighed = self.weighed + self.weights[server]
        is_possible = (
            ~self.is_closed
            & (center.core >= asked)
            & (center.capacity - self.mips >= asked)
            & ((self.mips == 0) | (weighed <= self.limit))
        )
        if not is_possible.any():
            return -1
        used = np.minimum((self.mips + asked) / center.capacity, 1.0)
        rise = center.watts(used) - self.power
        host = int(np.argmin(np.where(is_possible, rise, np.inf)))
        self.mips[host] += asked
        self.weighed[host] = weighed[host]
        return host

    def _move(self, moves: Iterable[tuple[int, int]]) -> None:
        for server, host in moves:
            if host >= 0:
                self.plan.append((int(server), host))
                self.host[server] = host
