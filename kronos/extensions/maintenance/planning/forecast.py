# SPDX-License-Identifier: Apache-2.0
"""The forecast of a run: how many moves it makes, and when it ends.

The run is gone through to its end, audit by audit, as the search would plan
it and Watcher carry it out: as many plans side by side as it lets run, the
moves of each host one after the other.
"""

from collections.abc import Collection, Mapping

import numpy as np

from kronos.engine.arrays import IntArray
from kronos.engine.settings import Settings
from kronos.engine.types import Snapshot
from kronos.extensions.maintenance import host_states, maintenance
from kronos.extensions.maintenance.host_states import HostState
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.extensions.maintenance.outcome import Forecast
from kronos.extensions.maintenance.planning import starts
from kronos.extensions.maintenance.planning.cluster import Cluster
from kronos.extensions.maintenance.planning.host_times import HostTimes
from kronos.extensions.maintenance.planning.timetable import Plan, Timetable

HEAVIEST = 12
"""Hosts that are tried for a plan, the heaviest first."""
LIGHTEST = 4
"""Hosts that are tried as a seed, the lightest first."""


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
        self._clean = begin.clean
        self._table = Timetable(
            maintenance.view_of(snapshot.beside),
            spec.work_time,
            begin.returns,
        )
        self._forecast = Forecast()
        self._seeded = len(states) - len(self._to_do) - len(blocked)

    def run(self) -> Forecast:
        forecast = self._forecast
        forecast.least_moves = self._bound()
        now: float | None = 0.0
        while now is not None:
            self._open(now)
            if self._table.may_plan(now):
                self._table.carry_out(self._next(now), now)
            now = self._table.next_audit(now)
        forecast.ends = {
            self._cluster.hosts[host]: end
            for host, end in self._table.ends.items()
        }
        forecast.stuck = [self._cluster.hosts[host] for host in self._to_do]
        forecast.seconds = max(forecast.ends.values(), default=0.0)
        return forecast

    def _bound(self) -> int:
        """Moves that no run can do without.

        Each server of a host that is not emptied moves once. Of the first
        host all those move again that do not fit onto clean hosts; as soon as
        it is done, its room is enough for another one's.
        """
        to_move = [*self._emptied, *self._to_do]
        number = sum(len(self._cluster.on[host]) for host in to_move)
        if self._emptied or self._table.closed or not self._to_do:
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
        """Take back the hosts that are open by now."""
        for host in self._table.opened(now):
            self._zones[self._zone(self._cluster.hosts[host])] -= 1
            self._clean.add(host)

    def _next(self, now: float) -> Plan:
        plan = Plan(self._table.done(now))
        for host in self._emptied:
            self._empty(plan, host)
        self._emptied = []
        while self._to_do and self._free_slots(plan) > 0:
            if not (self._heaviest(plan, now) or self._seed(plan, now)):
                break
        return plan

    def _free_slots(self, plan: Plan) -> int:
        taken = self._table.closed + len(plan.closing)
        return self._spec.at_once - self._lost - taken

    def _zone(self, name: str) -> str:
        return self._snapshot.hosts[name].availability_zone

    def _by_weight(self, now: float) -> list[int]:
        """Hosts that may be closed, the heaviest first."""
        on, most = self._cluster.on, self._spec.at_once_per_az
        hosts = [
            host
            for host in self._to_do
            if self._table.is_filled(host, now)
            and (
                most is None
                or self._zones[self._zone(self._cluster.hosts[host])] < most
            )
        ]
        return sorted(hosts, key=lambda host: (-len(on[host]), host))

    def _heaviest(self, plan: Plan, now: float) -> bool:
        """Close the heaviest host that fits onto clean hosts whole."""
        clean = self._targets(self._clean)
        if not clean.size:
            return False
        tried = 0
        for host in self._by_weight(now):
            servers = self._cluster.on[host]
            if not self._cluster.may_fit(servers, clean):
                continue
            tried += 1
            if self._cluster.takes_all(servers, clean):
                self._empty(plan, host)
                return True
            if tried >= HEAVIEST:
                break
        return False

    def _seed(self, plan: Plan, now: float) -> bool:
        """Close the host of which the fewest servers move again."""
        is_still = not (self._table.closed or plan.closing)
        may = self._seeded < self._spec.seed_hosts or is_still
        if not (self._spec.seed_hosts and may):
            return False
        clean = self._targets(self._clean)
        costs = []
        for host in self._by_weight(now)[::-1][:LIGHTEST]:
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

    def _empty(self, plan: Plan, host: int) -> None:
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
            plan.seconds[host] += self._move_seconds[server]
            if place is None:
                plan.filled.add(target)
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
        return int(targets[share.argmax()])
