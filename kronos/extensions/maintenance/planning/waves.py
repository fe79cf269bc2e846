# SPDX-License-Identifier: Apache-2.0
"""The waves: which hosts of a run are emptied next, and where to.

Servers go to hosts that are done, or that are not to be done, so that each
moves once. The heaviest host that fits there whole is next. Only the first
hosts, the seeds, may have to be emptied onto hosts that are to be done later;
those servers move again. There are no barriers: as soon as a host is open
again the next one is closed.
"""

import numpy as np

from kronos.engine import wording
from kronos.engine.arrays import BoolArray
from kronos.engine.planning.phase_input import PhaseInput
from kronos.engine.reasons import Reason
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.types import StopReason
from kronos.extensions.maintenance import host_states, maintenance
from kronos.extensions.maintenance.codes import MaintenanceCode
from kronos.extensions.maintenance.host_states import HostState, State
from kronos.extensions.maintenance.maintenance import Maintenance, Stopped
from kronos.extensions.maintenance.outcome import Waves
from kronos.extensions.maintenance.planning.host_times import HostTimes
from kronos.extensions.maintenance.planning.limits import Limits
from kronos.extensions.maintenance.planning.room import Room

SHOWN = 3
"""Servers that a sentence names."""
LIGHTEST = 4
"""Hosts that are tried as a seed, the lightest first."""
EVICTION_HOSTS = 8
"""Hosts that are tried to make room for one server of a seed."""


def run(simulation: Simulation, inputs: PhaseInput) -> PhaseResult:
    """Empty what is closed, and then as many hosts as may be closed.

    :raises ValueError: the settings are of no maintenance run
    """
    asked = maintenance.of(inputs.settings)
    if asked is None:
        raise ValueError('there is no run')
    return _Search(simulation, inputs, asked).run()


class _Search:
    def __init__(
        self, simulation: Simulation, inputs: PhaseInput, asked: Maintenance
    ) -> None:
        self._asked = asked
        self._simulation = simulation
        self._inputs = inputs
        self._index = simulation.utilization.index
        self._room = Room(simulation, inputs.snapshot)
        self._states = host_states.of(inputs.snapshot, asked)
        self._waves = Waves()
        self._held = ''
        """Why a host that could be emptied is not closed now."""
        self._closed = host_states.unavailable(inputs.snapshot, self._states)
        """Hosts that take no server."""
        times = HostTimes(
            inputs.snapshot, inputs.settings, asked, inputs.fixed
        )
        self._limits = Limits(inputs.snapshot, asked, times)

    def run(self) -> PhaseResult:
        for name in self._in_state(State.EMPTYING, State.LATE):
            if self._index.host[name] in self._inputs.sources:
                self._go_on(self._index.host[name])
        while self._may_close():
            if not (self._close_heaviest() or self._close_seed()):
                break
        return self._end()

    def _in_state(self, *states: State) -> list[str]:
        return [
            name for name, row in self._states.items() if row.state in states
        ]

    def _to_do(self) -> list[str]:
        """Hosts that are still to be closed, the heaviest first."""
        hosts = [
            name
            for name in self._in_state(State.TO_DO)
            if name not in self._waves.closing
        ]
        load = np.bincount(
            self._simulation.placement.host_of,
            minlength=len(self._index.hosts),
        )
        return sorted(hosts, key=lambda n: (-load[self._index.host[n]], n))

    def _mask(self, names: list[str]) -> BoolArray:
        """[H]"""
        return np.isin(self._index.hosts, names)

    def _clean(self) -> BoolArray:
        """[H]: hosts that are done, or are not to be done."""
        done = {*self._in_state(State.DONE)}
        others = [name for name in self._index.hosts if name in done]
        others += [
            name for name in self._index.hosts if name not in self._states
        ]
        return self._mask(others)

    def _go_on(self, host: int) -> None:
        """Empty a host that is closed.

        What finds no place on a clean host goes to one that is to be done:
        nobody remembers whether this one is a seed.
        """
        clean = self._clean()
        if self._room.place_all(host, clean):
            return
        if not self._room.place_some(host, clean).size:
            return
        if self._asked.seed_hosts:
            self._room.place_some(host, self._mask(self._to_do()))

    def _may_close(self) -> bool:
        asked, waves = self._asked, self._waves
        late = self._in_state(State.LATE)
        if not self._to_do():
            return False
        if maintenance.view_of(self._inputs.snapshot.beside).unknown:
            waves.waits = 'nobody knows which hosts are done'
        elif len(late) >= asked.max_late > 0:
            waves.waits = f'{wording.some(late)} is late'
        elif len(self._closed) >= asked.at_once:
            waves.waits = (
                f'{wording.counted(len(self._closed), "host")} of the scope '
                f'cannot take servers, and at_once is {asked.at_once}'
            )
        return not waves.waits

    def _blockers(self, host: int) -> dict[str, str]:
        """The servers of a host that cannot leave and must: why, by name."""
        placement, fixed = self._simulation.placement, self._inputs.fixed
        blockers = {}
        for instance in placement.on(host).tolist():
            uuid = self._index.instances[instance]
            server = self._inputs.snapshot.instances[uuid]
            may_stay = (
                server.status == maintenance.SHUTOFF
                and self._asked.stopped is Stopped.STAY
            )
            if uuid in fixed and not may_stay:
                blockers[self._index.server(instance)] = str(fixed[uuid])
        return blockers

    def _candidates(self) -> list[str]:
        """Hosts that may be closed now, the heaviest first."""
        candidates = []
        self._held = ''
        for name in self._to_do():
            blockers = self._blockers(self._index.host[name])
            if blockers:
                some = [f'{who}: {why}' for who, why in blockers.items()]
                self._waves.blocked[name] = wording.some(some, SHOWN)
                continue
            why = self._limits.why_not(name, self._closed)
            if why:
                self._held = why
            else:
                candidates.append(name)
        return candidates

    def _close_heaviest(self) -> bool:
        """Close the heaviest host that fits onto clean hosts whole."""
        clean = self._clean()
        for name in self._candidates():
            if self._room.place_all(self._index.host[name], clean):
                self._close(name)
                return True
        return False

    def _close(self, name: str) -> None:
        self._waves.closing.append(name)
        self._closed.append(name)

    def _seeded(self) -> int:
        """Hosts of the run that were or are emptied."""
        begun = self._in_state(
            State.EMPTYING,
            State.HANDED_OVER,
            State.LATE,
            State.RETURNING,
            State.DONE,
        )
        return len(begun) + len(self._waves.closing)

    def _may_seed(self) -> bool:
        """Whether servers may go to hosts that are to be done.

        Beyond the seeds only if the run stands still without.
        """
        if not self._asked.seed_hosts:
            return False
        open_ = self._in_state(
            State.EMPTYING, State.HANDED_OVER, State.RETURNING
        )
        is_still = not (open_ or self._waves.closing)
        return self._seeded() < self._asked.seed_hosts or is_still

    def _close_seed(self) -> bool:
        """Close the host that is emptied with the fewest further moves."""
        candidates = self._candidates()[::-1]
        if not self._may_seed():
            if candidates:
                self._waves.waits = (
                    'no host that is to be done fits onto hosts that are '
                    'done or not to be done'
                )
            else:
                self._waves.waits = self._held
            return False
        seeds = max(1, self._asked.seed_hosts - self._seeded())
        best: tuple[int, str] | None = None
        for name in candidates[: max(LIGHTEST, seeds)]:
            spared = [*candidates[:seeds], name]
            start = len(self._simulation.steps)
            cost = self._empty_seed(self._index.host[name], spared)
            self._room.take_back(start)
            if cost is not None and (best is None or cost < best[0]):
                best = cost, name
        if best is None:
            waits = '' if candidates else self._held
            self._waves.waits = waits or self._why_none()
            return False
        name = best[1]
        self._empty_seed(self._index.host[name], [*candidates[:seeds], name])
        self._close(name)
        self._waves.seeds.append(name)
        return True

    def _why_none(self) -> str:
        """Why no host of the run can be emptied."""
        blocked = self._waves.blocked
        if not blocked:
            return 'the hosts have too little room to empty any of them'
        host, why = min(blocked.items())
        more = f', and {len(blocked) - 1} more' if len(blocked) > 1 else ''
        return f'{host} cannot be emptied ({why}){more}'

    def _empty_seed(self, host: int, spared: list[str]) -> int | None:
        """Empty a host, onto hosts that are to be done where it must be.

        :param spared: hosts to be done that take none of it
        :returns: how many moves are made again later; None: it stays
        """
        clean = self._clean()
        start = len(self._simulation.steps)
        others = [name for name in self._to_do() if name not in spared]
        targets = self._mask(others)
        staying = self._room.place_some(host, clean)
        first = len(self._simulation.steps)
        for instance in staying.tolist():
            if self._room.place(instance, targets):
                continue
            if not self._make_room(instance, targets):
                self._room.take_back(start)
                return None
        return len(self._simulation.steps) - first

    def _make_room(self, instance: int, targets: BoolArray) -> bool:
        """Have few servers of another host make room for one."""
        lacking = self._room.lacking(instance)
        hosts = np.flatnonzero(targets)
        hosts = hosts[np.argsort(lacking[hosts], kind='stable')]
        start = len(self._simulation.steps)
        best: tuple[int, int] | None = None
        for host in hosts[:EVICTION_HOSTS].tolist():
            if self._evict(instance, host, targets):
                number = len(self._simulation.steps) - start
                if best is None or number < best[0]:
                    best = number, host
            self._room.take_back(start)
        return best is not None and self._evict(instance, best[1], targets)

    def _evict(self, instance: int, host: int, targets: BoolArray) -> bool:
        """Move servers of a host elsewhere until another one fits there."""
        elsewhere = targets.copy()
        elsewhere[host] = False
        only = np.zeros_like(targets)
        only[host] = True
        for other in self._simulation.on(host).tolist():
            if self._room.place(instance, only):
                return True
            self._room.place(other, elsewhere)
        return self._room.place(instance, only)

    def _end(self) -> PhaseResult:
        stayed = {}
        for instance in np.flatnonzero(self._simulation.movable).tolist():
            host = int(self._simulation.placement.host_of[instance])
            stayed[instance] = self._why_stays(self._index.hosts[host])
        waves = self._waves
        parts = []
        if waves.closing:
            parts.append(f'closes {wording.some(waves.closing)}')
        if waves.waits:
            parts.append(waves.waits)
        reason = '; '.join(parts) or 'no further host is to be closed'
        return PhaseResult(
            StopReason.DONE,
            reason,
            stayed,
            [f'host {name}: {why}' for name, why in waves.blocked.items()],
            beside={maintenance.NAME: waves},
        )

    def _why_stays(self, host: str) -> Reason:
        row: HostState | None = self._states.get(host)
        if row is None or row.state is State.DONE:
            return Reason(
                f'{host} is not emptied', MaintenanceCode.HOST_NOT_TO_DO
            )
        if row.state in (State.EMPTYING, State.LATE):
            return Reason(
                f'no host that is done has room for it; {host} is being '
                'emptied',
                MaintenanceCode.NO_ROOM_YET,
            )
        return Reason(
            f'{host} waits for its turn in run {self._asked.run}',
            MaintenanceCode.HOST_WAITS,
        )
