# SPDX-License-Identifier: Apache-2.0
"""The public experiment on consolidation, on days of PlanetLab.

Its hosts, servers and rules are those of CloudSim 3.0.3: the paper is
doi:10.1002/cpe.1867, the traces come with the code. None of them is here.
"""

import os
import pathlib
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from kronos.simulate import accounting

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Plan = list[tuple[int, int]]
"""Of servers and the hosts that they go to."""
Planner = Callable[[int, 'DataCenter'], Plan]

HOSTS = 800
STEP = 300.0
SAMPLES = 288
LATE = 0.1
"""Seconds by which the clock of CloudSim is behind the samples."""
MIB_PER_SECOND = 62.5
"""Of a migration: half of a network card of 1 Gbit/s, as CloudSim counts."""
CORES = 1860.0, 2660.0
"""MIPS of a core of every other host; each has two."""
MEMORY = 4096
GRID = np.linspace(0, 1, 11)
WATTS = (
    (86, 89.4, 92.6, 96, 99.5, 102, 106, 108, 112, 114, 117),
    (93.7, 97, 101, 105, 110, 116, 121, 125, 129, 133, 135),
)
"""Of HP ProLiant ML110, generations 4 and 5, by tenths of CPU in use."""
FLAVORS = ((2500.0, 870), (2000.0, 1740), (1000.0, 1740), (500.0, 613))
"""MIPS and MB, each of a quarter of the servers in the order of files."""
PER_HOST = 10


class PlanetlabError(Exception):
    """No day of PlanetLab can be read."""


def files(folder: pathlib.Path, by_name: bool) -> list[pathlib.Path]:
    """The traces of a day, in the order that decides about flavors.

    CloudSim takes them in that of the directory, which is the file system's.
    Where that is another than it was, a file beside the directory, of the
    same name and ``.order``, may list their names.
    """
    if by_name:
        return sorted(folder.iterdir())
    order = folder.with_name(folder.name + '.order')
    if not order.exists():
        return [folder / name for name in os.listdir(folder)]
    return [folder / name for name in order.read_text().splitlines()]


def read(folder: pathlib.Path, by_name: bool = False) -> Floats:
    """The load of each server of a day, as ratios [server, sample].

    :param by_name: whether the files are sorted
    :raises PlanetlabError: it is no such day
    """
    try:
        rows = [
            [float(line) for line in file.read_text().split()[:SAMPLES]]
            for file in files(folder, by_name)
        ]
    except (OSError, ValueError) as error:
        raise PlanetlabError(f'{folder}: {error}') from None
    if not rows or any(len(row) != SAMPLES for row in rows):
        raise PlanetlabError(f'{folder}: not {SAMPLES} samples in each file')
    return np.array(rows) / 100


class DataCenter:
    """The hosts and servers of a day.

    A server that asks for nothing is taken for finished and removed, as
    CloudSim does.

    :param load: as :func:`read` gives it
    """

    first = 1
    """The tick of the first plan."""

    def __init__(self, load: Floats, hosts: int = HOSTS) -> None:
        self.load = self._sampled(load)
        self.servers, self.ticks = self.load.shape
        quarter = -(-self.servers // len(FLAVORS))
        flavors = np.array(FLAVORS)[np.arange(self.servers) // quarter]
        self.mips, self.memory = flavors.T
        self.asked = self.load * self.mips[:, None]
        self.kind = np.arange(hosts) % 2
        self.core = np.array(CORES)[self.kind]
        self.capacity = 2 * self.core
        self.host = np.full(self.servers, -1)
        self.accounting = accounting.Accounting(
            self.capacity, self.watts, self.core
        )

    def _sampled(self, load: Floats) -> Floats:
        """What is asked for at each tick."""
        late = load.copy()
        late[:, :-1] += np.diff(load) * (LATE / STEP)
        return late

    @property
    def hosts(self) -> int:
        return len(self.kind)

    def watts(self, used: Floats) -> Floats:
        g4, g5 = (np.interp(used, GRID, row) for row in WATTS)
        return np.where(self.kind == 1, g5, g4)

    def sums(self, values: Floats, host: Integers | None = None) -> Floats:
        """Of the values of the servers on each host."""
        host = self.host if host is None else host
        placed = host >= 0
        return np.bincount(
            host[placed], weights=values[placed], minlength=self.hosts
        )

    def place(self, saves_power: bool) -> None:
        """Place all servers by their flavors.

        :param saves_power: where the power rises least, over an idle host;
            else the first host that has room
        """
        free, memory = self.capacity.copy(), np.full(self.hosts, MEMORY)
        count = np.zeros(self.hosts, int)
        idle = self.watts(np.zeros(self.hosts))
        for server in range(self.servers):
            mips = self.mips[server]
            has_room = (
                (self.core >= mips)
                & (free >= mips)
                & (memory >= self.memory[server])
                & (count < PER_HOST)
            )
            cost = np.arange(self.hosts, dtype=float)
            if saves_power:
                used = 1 - (free - mips) / self.capacity
                cost = self.watts(used) - idle
            host = int(np.argmin(np.where(has_room, cost, np.inf)))
            if not has_room[host]:
                raise PlanetlabError(f'{self.hosts} hosts have no room')
            self.host[server] = host
            free[host] -= mips
            memory[host] -= int(self.memory[server])
            count[host] += 1

    def run(self, planner: Planner | None = None) -> accounting.Figures:
        """The whole day, with what a planner decides at every sample."""
        for tick in range(self.first, self.ticks - 1):
            self._remove(tick)
            plan = planner(tick, self) if planner else []
            self._carry_out(tick, plan)
        return self.accounting.figures()

    def _remove(self, tick: int) -> None:
        """Let servers be finished."""
        self.host[self.asked[:, tick] <= 0] = -1

    def _carry_out(self, tick: int, plan: Sequence[tuple[int, int]]) -> None:
        moves = [
            accounting.Move(
                server,
                int(self.host[server]),
                host,
                0.0,
                float(self.memory[server]) / MIB_PER_SECOND,
                float(self.memory[server]),
            )
            for server, host in plan
        ]
        self.accounting.interval(
            self.asked[:, tick],
            self.asked[:, tick + 1],
            self.host,
            moves,
            STEP,
        )
        for server, host in plan:
            self.host[server] = host


class Balanced(DataCenter):
    """Fewer hosts, on which all servers stay for the whole day.

    They are placed as Nova would, which sees their flavors alone.
    """

    first = 0

    def __init__(self, load: Floats, hosts: int) -> None:
        super().__init__(load, hosts)
        used = np.zeros(hosts)
        for server, mips in enumerate(self.mips):
            share = (used + mips) / self.capacity
            # The largest flavor is for the larger hosts, or nearly so.
            is_small = self.core < 0.74 * mips
            host = int(np.argmin(np.where(is_small, np.inf, share)))
            self.host[server] = host
            used[host] += mips

    def _sampled(self, load: Floats) -> Floats:
        return np.append(load, load[:, -1:], axis=1)

    def _remove(self, tick: int) -> None:
        pass
