# SPDX-License-Identifier: Apache-2.0
"""Counters that grow while demands change and servers move.

A counter is integrated over time, so that ``rate()`` gives the demand
exactly, whenever it is scraped.
"""

import threading
from dataclasses import dataclass, field

from labkit import demand, topology

MODES = (
    'idle',
    'iowait',
    'irq',
    'nice',
    'softirq',
    'steal',
    'system',
    'user',
)
SYSTEM_SHARE = 0.1
"""Of the cores in use: what node_exporter counts as mode system."""


@dataclass
class Counter:
    """Seconds of processor time, at a rate that changes now and then."""

    since: float
    total: float = 0.0
    per_second: float = 0.0

    def at(self, now: float) -> float:
        return self.total + self.per_second * max(0.0, now - self.since)

    def set_rate(self, now: float, per_second: float) -> None:
        self.total = self.at(now)
        self.since = max(now, self.since)
        self.per_second = per_second


@dataclass
class HostState:
    """What the exporters of one host show."""

    cores_used: float = 0.0
    memory_used_mb: float = 0.0
    busy: Counter = field(default_factory=lambda: Counter(0.0))
    idle: Counter = field(default_factory=lambda: Counter(0.0))
    guests: dict[str, demand.Guest] = field(default_factory=dict)
    guest_time: dict[str, Counter] = field(default_factory=dict)


class World:
    """All hosts, kept up to date by one thread and read by many."""

    def __init__(self, now: float) -> None:
        self.lock = threading.Lock()
        self.down: set[str] = set()
        self.hosts = {
            name: HostState(busy=Counter(now), idle=Counter(now))
            for name in topology.HOSTS
        }
        self._load = demand.Load()
        self._since = now
        self.update(demand.Load(), now)

    def update(self, load: demand.Load, now: float) -> None:
        """Let demands and places be so from now on."""
        with self.lock:
            self.play(now)
            self.down = load.down
            self._load = load
            self._apply(now)

    def play(self, now: float) -> None:
        """Let happen what the trace does until now; hold the lock."""
        for moment in self._load.trace.switches(self._since, now):
            self._apply(moment)
        self._since = max(self._since, now)

    def _apply(self, now: float) -> None:
        load = self._load
        load.play(now)
        for name, host in self.hosts.items():
            guests = {
                uuid: guest
                for uuid, guest in load.guests.items()
                if guest.host == name
            }
            base = load.base.get(name, {})
            self._update_host(name, host, guests, base, now)

    def _update_host(
        self,
        name: str,
        host: HostState,
        guests: dict[str, demand.Guest],
        base: dict[str, float],
        now: float,
    ) -> None:
        size = topology.HOSTS[name]
        wanted = float(base.get('cpu', size.base_cores)) + sum(
            guest.cores_used for guest in guests.values()
        )
        host.cores_used = min(wanted, size.cores)
        # All get the same part of what they want when it is too much.
        part = host.cores_used / wanted if wanted else 1.0
        host.memory_used_mb = min(
            float(base.get('memory_mb', size.base_memory_mb))
            + sum(guest.memory_used_mb for guest in guests.values()),
            size.memory_mb,
        )
        host.busy.set_rate(now, host.cores_used)
        host.idle.set_rate(now, size.cores - host.cores_used)
        host.guests = guests
        # A server that arrives starts at nought, as its new QEMU does.
        host.guest_time = {
            uuid: host.guest_time.get(uuid) or Counter(now) for uuid in guests
        }
        for uuid, guest in guests.items():
            host.guest_time[uuid].set_rate(now, guest.cores_used * part)
