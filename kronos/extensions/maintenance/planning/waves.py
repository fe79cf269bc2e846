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
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.extensions.maintenance import host_states, maintenance
from kronos.extensions.maintenance.host_states import State
from kronos.extensions.maintenance.maintenance import Maintenance, Stopped
from kronos.extensions.maintenance.outcome import Waves
from kronos.extensions.maintenance.planning import (
    busy_hosts,
    endings,
    widths,
)
from kronos.extensions.maintenance.planning.host_times import HostTimes
from kronos.extensions.maintenance.planning.limits import Limits
from kronos.extensions.maintenance.planning.room import Room
from kronos.extensions.maintenance.planning.seeds import Seeds

SHOWN = 3
"""Servers that a sentence names."""
LIGHTEST = 4
"""Hosts that are tried as a seed, the lightest first."""
BEGUN = (
    State.EMPTYING,
    State.HANDED_OVER,
    State.OCCUPIED,
    State.LATE,
    State.RETURNING,
    State.DONE,
)
"""States of hosts that were or are emptied."""


def run(simulation: Simulation, inputs: PhaseInput) -> PhaseResult:
    """Empty what is closed, and then as many hosts as may be closed.

    :raises ValueError: the settings are of no maintenance run
    """
    spec = maintenance.of(inputs.settings)
    if spec is None:
        raise ValueError('there is no run')
    return _Search(simulation, inputs, spec).run()


class _Search:
    def __init__(
        self, simulation: Simulation, inputs: PhaseInput, spec: Maintenance
    ) -> None:
        self._spec = spec
        self._simulation = simulation
        self._inputs = inputs
        self._index = simulation.utilization.index
        self._room = Room(simulation, inputs.snapshot)
        self._seeds = Seeds(simulation, self._room)
        self._states = host_states.of(inputs.snapshot, spec)
        self._waves = Waves()
        self._widest = widths.widest(inputs.snapshot)
        view = maintenance.view_of(inputs.snapshot.beside)
        self._in_hand = {*view.in_hand}
        self._busy = busy_hosts.of(inputs.snapshot, inputs.settings)
        self._held = ''
        """Why a host that could be emptied is not closed now."""
        self._closed = host_states.unavailable(inputs.snapshot, self._states)
        """Hosts that take no server, or that a started plan closes."""
        self._gone = host_states.gone(inputs.snapshot, spec)
        self._closed += [
            name
            for name in self._in_state(State.TO_DO)
            if name in self._in_hand
        ]
        times = HostTimes(inputs.snapshot, inputs.settings, spec, inputs.fixed)
        self._limits = Limits(inputs.snapshot, spec, times)

    def run(self) -> PhaseResult:
        for name in self._in_state(State.EMPTYING, State.OCCUPIED, State.LATE):
            is_source = self._index.host[name] in self._inputs.sources
            if is_source and name not in self._in_hand:
                self._go_on(self._index.host[name])
        while self._may_close():
            if not (self._close_heaviest() or self._close_seed()):
                break
        return endings.ended(
            self._simulation, self._states, self._waves, self._spec.run
        )

    def _in_state(self, *states: State) -> list[str]:
        return [
            name for name, row in self._states.items() if row.state in states
        ]

    def _to_do(self) -> list[str]:
        """Hosts that are still to be closed, the heaviest first."""
        hosts = [
            name
            for name in self._in_state(State.TO_DO)
            if name not in {*self._waves.closing, *self._in_hand}
        ]
        load = np.bincount(
            self._simulation.placement.host_of,
            minlength=len(self._index.hosts),
        )
        return sorted(hosts, key=lambda n: (-load[self._index.host[n]], n))

    def _targets(self, spared: list[str]) -> BoolArray:
        """[H]: hosts to be done that take servers of a seed."""
        return self._mask([n for n in self._to_do() if n not in spared])

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
        if self._spec.seed_hosts:
            self._room.place_some(host, self._mask(self._to_do()))

    def _may_close(self) -> bool:
        spec, waves = self._spec, self._waves
        late = self._in_state(State.LATE)
        if not self._to_do():
            return False
        if maintenance.view_of(self._inputs.snapshot.beside).unknown:
            waves.waits = 'it is unknown which hosts are done'
        elif spec.at_once > self._widest and not self._seeded():
            waves.waits = endings.too_wide(spec.at_once, self._widest)
        elif len(late) >= spec.max_late > 0:
            waves.waits = endings.late(late)
        elif len(self._closed) + len(self._gone) >= spec.at_once:
            waves.waits = endings.full(
                len(self._closed), self._gone, spec.at_once
            )
        return not waves.waits

    def _candidates(self) -> list[str]:
        """Hosts that may be closed now, the heaviest first."""
        candidates = []
        self._held = ''
        for name in self._to_do():
            if name in self._busy:
                self._held = endings.busy(name)
                continue
            blockers = _blockers(
                self._simulation, self._inputs, self._spec, name
            )
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
        begun = {*self._in_state(*BEGUN), *self._waves.closing}
        return len(begun | self._in_hand)

    def _may_seed(self) -> bool:
        """Whether servers may go to hosts that are to be done.

        Beyond the seeds only if the run stands still without.
        """
        if not self._spec.seed_hosts:
            return False
        open_ = self._in_state(
            State.EMPTYING,
            State.HANDED_OVER,
            State.OCCUPIED,
            State.RETURNING,
        )
        is_still = not (open_ or self._waves.closing or self._in_hand)
        return self._seeded() < self._spec.seed_hosts or is_still

    def _close_seed(self) -> bool:
        """Close the host that is emptied with the fewest further moves."""
        candidates = self._candidates()[::-1]
        if not self._may_seed():
            if candidates:
                self._waves.waits = (
                    'the hosts that are done, or need no maintenance, have '
                    'too little room for the servers of another one'
                )
            else:
                self._waves.waits = self._held
            return False
        seeds = max(1, self._spec.seed_hosts - self._seeded())
        clean = self._clean()
        best: tuple[int, str] | None = None
        for name in candidates[: max(LIGHTEST, seeds)]:
            spared = [*candidates[:seeds], name]
            start = len(self._simulation.steps)
            cost = self._seeds.empty(
                self._index.host[name], clean, self._targets(spared)
            )
            self._room.take_back(start)
            if cost is not None and (best is None or cost < best[0]):
                best = cost, name
        if best is None:
            waits = '' if candidates else self._held
            self._waves.waits = waits or endings.why_none(self._waves)
            return False
        name = best[1]
        spared = [*candidates[:seeds], name]
        self._seeds.empty(self._index.host[name], clean, self._targets(spared))
        self._close(name)
        self._waves.seeds.append(name)
        return True


def _blockers(
    simulation: Simulation, inputs: PhaseInput, spec: Maintenance, host: str
) -> dict[str, str]:
    """The servers of a host that cannot leave and must: why, by name."""
    index, blockers = simulation.utilization.index, {}
    for instance in simulation.placement.on(index.host[host]).tolist():
        uuid = index.instances[instance]
        server = inputs.snapshot.instances[uuid]
        may_stay = (
            server.status == maintenance.SHUTOFF
            and spec.stopped is Stopped.STAY
        )
        if uuid in inputs.fixed and not may_stay:
            blockers[index.server(instance)] = str(inputs.fixed[uuid])
    return blockers
