# SPDX-License-Identifier: Apache-2.0
"""The forecast of a run: how many moves it makes, and when it ends.

The run is gone through to its end, plan by plan, as the search would plan it
and Watcher carry it out: the next plan begins when the last one has ended. Of
each plan the duration is what the limits of moves allow at best.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from kronos.engine.arrays import IntArray
from kronos.engine.scheduling import makespan
from kronos.engine.settings import Settings
from kronos.engine.types import Snapshot
from kronos.extensions.maintenance import host_states, maintenance
from kronos.extensions.maintenance.host_states import HostState
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.extensions.maintenance.outcome import Forecast
from kronos.extensions.maintenance.planning import starts
from kronos.extensions.maintenance.planning.cluster import Cluster
from kronos.extensions.maintenance.planning.host_times import (
    EMPTY_SECONDS,
    TURN_SECONDS,
    HostTimes,
)

HEAVIEST = 12
"""Hosts that are tried for a plan, the heaviest first."""
LIGHTEST = 4
"""Hosts that are tried as a seed, the lightest first."""


@dataclass
class _Trip:
    scope: str
    source: str
    destination: str


@dataclass
class _Plan:
    """What one plan does."""

    closing: list[int] = field(default_factory=list)
    trips: list[_Trip] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def of(
    snapshot: Snapshot,
    settings: Settings,
    spec: Maintenance,
    staying: Collection[str],
    blocked: Collection[str],
) -> Forecast:
    """What is to be expected of a run from now on.

    :param staying: uuids of servers that cannot move, or need not
    :param blocked: hosts that cannot be emptied
    """
    states = host_states.of(snapshot, spec)
    return _Course(snapshot, settings, spec, states, staying, blocked).run()


class _Course:
    """A run on its way to the end."""

    def __init__(
        self,
        snapshot: Snapshot,
        settings: Settings,
        spec: Maintenance,
        states: Mapping[str, HostState],
        staying: Collection[str],
        blocked: Collection[str],
    ) -> None:
        self._snapshot = snapshot
        self._spec = spec
        self._cluster = Cluster(snapshot, staying)
        self._times = HostTimes(snapshot, settings, spec, staying)
        self._move_seconds = [
            self._times.move(server) for server in self._cluster.servers
        ]
        begin = starts.of(snapshot, spec, states, self._cluster)
        self._emptied = begin.emptied
        self._to_do = [
            host
            for host in begin.to_do
            if self._cluster.hosts[host] not in blocked
        ]
        self._lost, self._zones = begin.lost, begin.zones
        self._returns, self._clean = begin.returns, begin.clean
        self._forecast = Forecast()
        self._seeded = len(states) - len(self._to_do) - len(blocked)

    def run(self) -> Forecast:
        forecast = self._forecast
        forecast.least_moves = self._bound()
        now = 0.0
        while self._emptied or self._to_do or self._returns:
            self._open(now)
            plan = self._next()
            if not plan.closing:
                if not self._returns:
                    break
                now = min(self._returns.values())
                continue
            now = self._carry_out(plan, now)
        forecast.stuck = [self._cluster.hosts[host] for host in self._to_do]
        forecast.seconds = now
        return forecast

    def _bound(self) -> int:
        """Moves that no run can do without.

        Each server of a host that is not emptied moves once. Of the first
        host all those move again that do not fit onto clean hosts; as soon as
        it is done, its room is enough for another one's.
        """
        to_move = [*self._emptied, *self._to_do]
        number = sum(len(self._cluster.on[host]) for host in to_move)
        if self._emptied or self._returns or not self._to_do:
            return number
        clean = self._targets(self._clean)
        return number + min(
            len(self._cluster.on[host])
            - self._cluster.most_that_fit(self._cluster.on[host], clean)
            for host in self._to_do
        )

    def _targets(self, hosts: Collection[int]) -> IntArray:
        return np.array(sorted(hosts), dtype=np.intp)

    def _open(self, now: float) -> None:
        """Take back the hosts that serve again by now."""
        for host, when in list(self._returns.items()):
            if when <= now:
                del self._returns[host]
                self._zones[self._zone(self._cluster.hosts[host])] -= 1
                self._clean.add(host)
                name = self._cluster.hosts[host]
                self._forecast.ends[name] = when

    def _next(self) -> _Plan:
        plan = _Plan()
        for host in self._emptied:
            self._empty(plan, host)
        self._emptied = []
        while self._to_do and self._free_slots(plan) > 0:
            if not (self._heaviest(plan) or self._seed(plan)):
                break
        return plan

    def _free_slots(self, plan: _Plan) -> int:
        taken = self._lost + len(self._returns) + len(plan.closing)
        return self._spec.at_once - taken

    def _zone(self, name: str) -> str:
        return self._snapshot.hosts[name].availability_zone

    def _by_weight(self) -> list[int]:
        """Hosts that their zones allow to close, the heaviest first."""
        on, most = self._cluster.on, self._spec.at_once_per_az
        hosts = [
            host
            for host in self._to_do
            if most is None
            or self._zones[self._zone(self._cluster.hosts[host])] < most
        ]
        return sorted(hosts, key=lambda host: (-len(on[host]), host))

    def _heaviest(self, plan: _Plan) -> bool:
        """Close the heaviest host that fits onto clean hosts whole."""
        clean = self._targets(self._clean)
        if not clean.size:
            return False
        tried = 0
        for host in self._by_weight():
            servers = self._cluster.on[host]
            if not self._cluster.may_fit(servers, clean):
                continue
            tried += 1
            if None not in self._cluster.places(servers, clean):
                self._empty(plan, host)
                return True
            if tried >= HEAVIEST:
                break
        return False

    def _seed(self, plan: _Plan) -> bool:
        """Close the host of which the fewest servers move again."""
        is_still = not (self._returns or plan.closing)
        may = self._seeded < self._spec.seed_hosts or is_still
        if not (self._spec.seed_hosts and may):
            return False
        clean = self._targets(self._clean)
        costs = []
        for host in self._by_weight()[::-1][:LIGHTEST]:
            places = self._cluster.places(self._cluster.on[host], clean)
            costs.append((places.count(None), host))
        if not costs:
            return False
        host = min(costs)[1]
        others = [*self._clean, *self._to_do]
        others.remove(host)
        servers = self._cluster.on[host]
        if not self._cluster.may_fit(servers, self._targets(others)):
            return False
        self._empty(plan, host)
        return True

    def _empty(self, plan: _Plan, host: int) -> None:
        """Move all servers of a host: to clean hosts, else to others."""
        cluster = self._cluster
        if host in self._to_do:
            self._to_do.remove(host)
            self._seeded += 1
            self._zones[self._zone(cluster.hosts[host])] += 1
        servers = list(cluster.on[host])
        places = cluster.places(servers, self._targets(self._clean))
        for server, place in zip(servers, places, strict=True):
            target = self._elsewhere(server) if place is None else place
            if target is None:
                continue
            self._forecast.moves += 1
            self._forecast.twice += place is None
            cluster.move(server, host, target)
            plan.trips.append(
                _Trip('', cluster.hosts[host], cluster.hosts[target])
            )
            plan.seconds.append(self._move_seconds[server])
        plan.closing.append(host)

    def _elsewhere(self, server: int) -> int | None:
        """The emptiest host that is to be done later.

        Whether it takes the server or not: the search makes room there.
        """
        if not self._to_do:
            return None
        targets = self._targets(self._to_do)
        rest = self._cluster.free[:, targets] - self._cluster.need[:, [server]]
        share = (rest / self._cluster.capacity[:, targets]).min(axis=0)
        return int(targets[np.argmax(np.nan_to_num(share, nan=1.0))])

    def _carry_out(self, plan: _Plan, now: float) -> float:
        """Moves run side by side as far as the limits let them.

        :returns: when the plan has ended
        """
        most = maintenance.view_of(self._snapshot.beside).concurrent
        took = makespan.lower_bound(plan.trips, plan.seconds, most)
        for host in plan.closing:
            self._returns[host] = now + took + self._times.beside
        return now + took + EMPTY_SECONDS + TURN_SECONDS / 2
