# SPDX-License-Identifier: Apache-2.0
"""Days of a made-up cloud in which servers come, work and go.

Boots are placed as Nova's weighers do by memory and vCPUs, and nobody moves.
"""

import random
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from generator import lives, load_format
from generator.lives import Floats, Lives
from generator.load_format import STEP, Days, Fleet
from generator.population import identifier
from generator.wanted import WantedError
from kronos.simulate.load_schema import ServerRow

CORES, VCPUS, GIB = 16, 64, 256
"""Of each host."""
BOOTS = 110.0
"""A day for each host."""
OWN = 0.02
NOWHERE = -1
TICKS = lives.DAY // STEP
PROJECTS = 40


class Kind(StrEnum):
    """What the load of servers is like."""

    NOISY = 'noisy'
    """As in PlanetLab: the last five minutes say little of the next."""
    SLOW = 'slow'
    """A wave a day, each server its own, and little noise."""


@dataclass(frozen=True)
class _Shape:
    """How the load of servers changes from sample to sample."""

    memory: float
    """Correlation of the noise with that of the last sample."""
    wave: float
    """Of the day, as a ratio of the mean."""
    is_common: bool
    """Whether all have it at the same time."""
    idle: float
    """Ratio of samples without any load."""


SHAPES = {
    Kind.NOISY: _Shape(memory=0.15, wave=0.08, is_common=True, idle=0.08),
    Kind.SLOW: _Shape(memory=0.98, wave=0.5, is_common=False, idle=0.0),
}
MEAN, MEAN_SIGMA, MOST_MEAN = 0.069, 1.09, 0.8
"""Of the servers' mean load: log-normal."""
DEVIATION = 0.48, -1.72
"""Its logarithm is a line over that of the mean."""
SLOW_NOISE = 0.35


@dataclass(frozen=True)
class Month:
    """What the caller chooses; the rest is drawn by lot."""

    days: int = 30
    hosts: int = 48
    boots: float = 0.0
    """A day; 0: :data:`BOOTS` for each host."""
    kind: Kind = Kind.NOISY
    seed: int = 1

    @property
    def boots_a_day(self) -> float:
        return self.boots or BOOTS * self.hosts

    def command(self) -> str:
        """The options that make the same again."""
        return (
            f'--format load --days {self.days} --hosts {self.hosts} '
            f'--boots {self.boots_a_day:g} --load {self.kind} '
            f'--seed {self.seed}'
        )


def make(month: Month) -> Days:
    """The days that were asked for; the same for the same.

    :raises WantedError: there is no such cloud
    """
    if month.days < 1 or month.hosts < 2 or month.boots_a_day < 1:
        raise WantedError(
            'a load needs a day, 2 hosts and a boot a day at least'
        )
    rng = np.random.default_rng(month.seed)
    everyone = lives.lives(month.days, month.boots_a_day, rng)
    ticks = month.days * TICKS
    first = np.ceil(np.maximum(everyone.born, 0) / STEP)
    # A sample is taken of those that are there at a tick.
    is_seen = (first * STEP < everyone.gone) & (first < ticks)
    placement = _placed(everyone, is_seen, month, rng)
    return Days(
        Fleet([float(CORES)] * month.hosts, VCPUS, GIB * 1024),
        _rows(everyone.only(is_seen), placement[0], month),
        placement,
        _usage(everyone.only(is_seen), placement, month, rng),
        OWN,
    )


def _rows(
    seen: Lives, at_start: npt.NDArray[np.int32], month: Month
) -> list[ServerRow]:
    # Nothing here is a secret.
    rng = random.Random(month.seed)
    projects = [f'{rng.getrandbits(128):032x}' for _ in range(PROJECTS)]
    hosts = load_format.Fleet([0.0] * month.hosts, 0, 0).names
    return [
        ServerRow(
            identifier(rng),
            f'vm-{number}',
            int(seen.vcpus[number]),
            int(seen.gib[number]) * 1024,
            flavor=f'm{seen.vcpus[number]}.{seen.gib[number]}',
            project_id=rng.choice(projects),
            internal_name=f'instance-{number:08x}',
            host_at_start=hosts[place] if place >= 0 else None,
            born=load_format.BEGIN + float(seen.born[number]),
            gone=load_format.BEGIN + float(seen.gone[number]),
        )
        for number, place in enumerate(at_start.tolist())
    ]


class _Scheduler:
    """What Nova makes of a boot: the host with most room left."""

    def __init__(self, hosts: int, rng: np.random.Generator) -> None:
        self._free = np.array([[VCPUS] * hosts, [GIB] * hosts], float)
        self._rng = rng

    def boot(self, vcpus: int, gib: int) -> int:
        """A host; :data:`NOWHERE`: none has room."""
        need = np.array([[vcpus], [gib]])
        fits = (self._free >= need).all(axis=0)
        if not fits.any():
            return NOWHERE
        weights = self._free / self._free[:, fits].max(axis=1, keepdims=True)
        lot = 1e-6 * self._rng.random(len(fits))
        host = int(np.argmax(np.where(fits, weights.sum(axis=0) + lot, -1)))
        self._free[:, host] -= need[:, 0]
        return host

    def delete(self, host: int, vcpus: int, gib: int) -> None:
        self._free[:, host] += (vcpus, gib)


def _placed(
    everyone: Lives,
    is_seen: npt.NDArray[np.bool_],
    month: Month,
    rng: np.random.Generator,
) -> npt.NDArray[np.int32]:
    """By tick and seen server its host; the unseen take room as well."""
    scheduler = _Scheduler(month.hosts, rng)
    order = np.argsort(
        np.concatenate([everyone.born, everyone.gone]), kind='stable'
    )
    column = np.cumsum(is_seen) - 1
    ticks = month.days * TICKS
    placement = _array((ticks, int(is_seen.sum())), np.int32)
    placement[:] = NOWHERE
    host = np.full(len(everyone), NOWHERE)
    for event in order.tolist():
        server = event % len(everyone)
        size = int(everyone.vcpus[server]), int(everyone.gib[server])
        if event < len(everyone):
            host[server] = scheduler.boot(*size)
            if is_seen[server] and host[server] >= 0:
                born, gone = everyone.born[server], everyone.gone[server]
                begin = max(0, int(np.ceil(born / STEP)))
                end = int(np.ceil(gone / STEP))
                placement[begin:end, column[server]] = host[server]
        elif host[server] >= 0:
            scheduler.delete(int(host[server]), *size)
    return placement


def _usage(
    seen: Lives,
    placement: npt.NDArray[np.int32],
    month: Month,
    rng: np.random.Generator,
) -> npt.NDArray[np.float32]:
    """Cores by tick and server, in whole per cents of its vCPUs."""
    shape = SHAPES[month.kind]
    mean, sigma, phase = _characters(len(seen), month.kind, rng)
    noise = rng.standard_normal(len(seen))
    usage = _array(placement.shape, np.float32)
    for tick, places in enumerate(placement):
        alive = np.flatnonzero(places >= 0)
        fresh = rng.standard_normal(len(alive))
        noise[alive] *= shape.memory
        noise[alive] += np.sqrt(1 - shape.memory**2) * fresh
        spread = sigma[alive]
        wave = np.sin(2 * np.pi * (tick / TICKS + phase[alive]))
        load = mean[alive] * (1 + shape.wave * wave)
        load *= np.exp(spread * noise[alive] - spread**2 / 2)
        load[rng.random(len(alive)) < shape.idle] = 0.0
        usage[tick] = np.nan
        usage[tick, alive] = np.round(np.minimum(load, 1.0), 2)
        usage[tick, alive] *= seen.vcpus[alive]
    return usage


def _characters(
    servers: int, kind: Kind, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Mean load, noise and phase of each server."""
    shape = SHAPES[kind]
    mean = MEAN * np.exp(MEAN_SIGMA * rng.standard_normal(servers))
    mean = np.minimum(mean, MOST_MEAN)
    phase = np.full(servers, 0.25)
    if not shape.is_common:
        phase = rng.random(servers)
    slope, constant = DEVIATION
    deviation = np.exp(slope * np.log(mean) + constant)
    sigma = np.sqrt(np.log1p((deviation / mean) ** 2))
    if kind is Kind.SLOW:
        sigma = np.full(servers, SLOW_NOISE)
    return mean / (1 - shape.idle), sigma, phase


def _array(shape: tuple[int, ...], kind: type[Any]) -> npt.NDArray[Any]:
    """On the disk: a month of many servers is larger than the memory."""
    file = tempfile.TemporaryFile()  # noqa: SIM115
    return np.memmap(file, kind, 'w+', shape=shape)
