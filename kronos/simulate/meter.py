# SPDX-License-Identifier: Apache-2.0
"""The meter of the loop: what Prometheus would say of its hosts and servers.

Loads are ratios of hosts. What a server asks for does not depend on where it
is; what a host shows does, and its own series go on showing for a window
what has left it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kronos.policies import windows
from kronos.policies.models import Policy
from kronos.policies.windows import NOW, Window
from kronos.simulate.accounting import OVERHEAD, Floats
from kronos.simulate.cloud import Cloud
from kronos.simulate.load import Load
from kronos.simulate.windows import Table, Windowed


@dataclass(frozen=True)
class QueryWindows:
    """The windows of a policy's queries."""

    servers: Window = NOW
    """Of ``vm_profile_query``."""
    hosts: Window | None = NOW
    """Of ``imbalance_query``; None: a host is the sum of what the servers
    that are on it now show."""
    capacity: Window = NOW
    """Of ``capacity_query``."""

    @classmethod
    def of(cls, policy: Policy) -> 'QueryWindows':
        """Those of a policy's queries."""
        return cls(
            windows.of_query(policy.vm_profile_query),
            windows.of_query(policy.imbalance_query),
            windows.of_query(policy.capacity_query or ''),
        )


class Meter:
    """What is measured of a cloud, tick by tick.

    :param cloud: as it is at the tick that was measured last
    """

    def __init__(self, load: Load, cloud: Cloud) -> None:
        self._load = load
        self._cloud = cloud
        self._step = float(load.meta.step)
        hosts = len(cloud.names)
        self.capacity: dict[str, Floats] = {
            name: _widened(values, hosts)
            for name, values in load.capacity.items()
        }
        """By policy, by host; NaN: it has no reading."""
        self.ratio = {
            name: np.full((load.ticks, hosts), np.nan, np.float32)
            for name in load.meta.policies
        }
        """By policy, by tick and host: what is asked of it; above 1, too."""
        self._shown = {
            name: np.full((load.ticks, hosts), np.nan, np.float32)
            for name in load.meta.policies
        }
        """The same as a host can show it."""
        self._windows: dict[tuple[str, str, Window], Windowed] = {}
        self._values: dict[tuple[str, str, Window], tuple[int, Floats]] = {}

    def asked(self, policy: str, tick: int) -> Floats:
        """By server what it asks for; 0 where nobody knows."""
        tick = min(tick, self._load.ticks - 1)
        usage: Floats = np.nan_to_num(
            self._load.usage[policy][tick].astype(float)
        )
        return usage

    def rest(self, policy: str, tick: int) -> Floats:
        """By host what is of no server; NaN: it has no reading."""
        tick = min(tick, self._load.ticks - 1)
        row = self._load.remainder[policy][tick]
        return _widened(row, len(self._cloud.names))

    def measure(self, tick: int) -> None:
        """Look at the cloud as it is at a tick."""
        for name in self._load.meta.policies:
            usage = self.asked(name, tick)
            load = self._sums(usage) + self.rest(name, tick)
            for server, destination in self._cloud.going.items():
                load[destination] += OVERHEAD * usage[server]
            ratio = np.maximum(load / self.capacity[name], 0.0)
            self.ratio[name][tick] = ratio
            self._shown[name][tick] = np.minimum(ratio, 1.0)

    def servers(self, policy: str, window: Window, tick: int) -> Floats:
        """By server what a profile query says; NaN: nothing."""
        return self._at('usage', self._load.usage, policy, window, tick)

    def hosts(self, policy: str, of_policy: QueryWindows, tick: int) -> Floats:
        """By host what an imbalance query says, in [0, 1]; NaN: nothing."""
        if of_policy.hosts is not None:
            return self._at(
                'shown', self._shown, policy, of_policy.hosts, tick
            )
        load = self._sums(
            np.nan_to_num(self.servers(policy, of_policy.servers, tick))
        )
        rest = self._at(
            'rest', self._load.remainder, policy, of_policy.servers, tick
        )
        load += _widened(rest, len(load))
        ratio: Floats = np.clip(load / self.capacity[policy], 0.0, 1.0)
        return ratio

    def in_use(
        self, policy: str, of_policy: QueryWindows, tick: int
    ) -> Floats:
        """By host what a capacity query says, likewise."""
        return self._at('shown', self._shown, policy, of_policy.capacity, tick)

    def _sums(self, values: Floats) -> Floats:
        alive = self._cloud.alive
        sums: Floats = np.bincount(
            self._cloud.host[alive],
            weights=values[alive],
            minlength=len(self._cloud.names),
        ).astype(float)
        return sums

    def _at(
        self,
        kind: str,
        tables: Mapping[str, Table],
        policy: str,
        window: Window,
        tick: int,
    ) -> Floats:
        """A row of a table by a window; audits of one tick share it."""
        key = kind, policy, window
        if key not in self._windows:
            self._windows[key] = Windowed(tables[policy], window, self._step)
        measured, values = self._values.get(key, (-1, np.empty(0)))
        if measured != tick:
            values = self._windows[key].at(tick)
            self._values[key] = tick, values
        return values


def _widened(values: Table, size: int) -> Floats:
    """NaN for the hosts that a load lacks."""
    row = np.full(size, np.nan)
    row[: len(values)] = values
    return row
