# SPDX-License-Identifier: Apache-2.0
"""The boots and deletions of a made-up cloud.

Their figures are those of a public trace of a cloud's month: boots come in
bursts and batches, most of the servers are small and live for less than an
hour, and how long one goes on to live depends on its age alone.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

DAY, HOUR, MINUTE = 86400, 3600, 60
WEEKDAYS = (1.0, 0.97, 0.98, 0.95, 0.92, 0.62, 0.58)
"""From Monday on, of the busiest."""
DAY_SIGMA = 0.25
HOURS = np.array(
    [7.3, 9.4, 5.6, 4.8, 3.6, 5.3, 6.2, 5.2, 5.2, 4.3, 3.4, 4.0]
    + [4.8, 4.0, 3.8, 3.6, 2.7, 2.3, 2.6, 2.4, 2.3, 1.9, 2.6, 2.6]
)
"""Per cent of the boots of a day, from midnight on."""
HOUR_SHAPE, MINUTE_SHAPE = 4.0, 0.5
"""Of the gamma distributions that make bursts."""
BATCHES = ((1, 1, 0.82), (2, 2, 0.10), (3, 17, 0.07), (18, 46, 0.01))
"""Servers of one flavor in one second: from, to, and how often."""
WARM_DAYS = 20
"""Before the first: who is still there has been booted in these."""


@dataclass(frozen=True)
class _Flavor:
    vcpus: int
    gib: int
    odds: float
    short: float
    """Ratio of its servers that live for a minute."""
    hourly: float
    """Ratio of those that live for nearly an hour."""
    median: float
    """Of the others, in seconds."""
    sigma: float


FLAVORS = (
    _Flavor(1, 2, 46.0, 0.0, 0.36, 8600, 1.15),
    _Flavor(1, 1, 22.0, 0.44, 0.0, 2200, 1.6),
    _Flavor(2, 4, 13.0, 0.21, 0.0, 2200, 1.6),
    _Flavor(4, 8, 8.0, 0.31, 0.0, 2200, 1.6),
    _Flavor(1, 4, 3.0, 0.7, 0.0, 2200, 1.6),
    _Flavor(2, 8, 2.0, 0.7, 0.0, 2200, 1.6),
    _Flavor(8, 16, 2.0, 0.85, 0.0, 2200, 1.6),
    _Flavor(4, 16, 2.0, 0.4, 0.0, 2200, 1.6),
    _Flavor(8, 32, 1.0, 0.9, 0.0, 2200, 1.6),
    _Flavor(16, 32, 1.0, 0.95, 0.0, 2200, 1.6),
)
SHORT, SHORT_SIGMA = 46.0, 0.42
HOURLY, HOURLY_SIGMA = 3279.0, 0.22
OLD, OLD_AND_LARGE, LARGE = 0.0125, 0.003, 8
"""Ratio of the servers that live from 5 to 20 days, and of those with so many
vCPUs. Few of these outlive their day: with more, single servers would decide
how even the hosts are, which in the trace they do not."""
OLD_DAYS = (5.0, 20.0)
MOST = 20 * DAY


@dataclass(frozen=True)
class Lives:
    """All servers that there are in some days, in the order of their boots.

    Seconds count from the midnight on which the first day begins.
    """

    born: Floats
    gone: Floats
    vcpus: Integers
    gib: Integers

    def __len__(self) -> int:
        return len(self.born)

    def only(self, rows: npt.NDArray[np.bool_]) -> 'Lives':
        return Lives(
            self.born[rows], self.gone[rows], self.vcpus[rows], self.gib[rows]
        )


def lives(days: int, boots: float, rng: np.random.Generator) -> Lives:
    """Servers that are there in some days.

    :param boots: a day, on average of a week
    """
    seconds, sizes = _batches(days, boots, rng)
    odds = np.array([flavor.odds for flavor in FLAVORS])
    of_batch = rng.choice(len(FLAVORS), len(sizes), p=odds / odds.sum())
    kind = np.repeat(of_batch, sizes)
    born = np.repeat(seconds, sizes)
    result = Lives(
        born,
        born + _seconds(kind, rng),
        np.array([flavor.vcpus for flavor in FLAVORS])[kind],
        np.array([flavor.gib for flavor in FLAVORS])[kind],
    )
    return result.only(result.gone > 0)


def _batches(
    days: int, boots: float, rng: np.random.Generator
) -> tuple[Floats, Integers]:
    """The second of each batch, ascending, and how many come in it."""
    least, most, odds = np.array(BATCHES).T
    mean = float(odds @ (least + most) / 2)
    dates = np.arange(-WARM_DAYS, days)
    weekdays = np.array(WEEKDAYS) / np.mean(WEEKDAYS)
    rate = weekdays[dates % len(WEEKDAYS)] * boots / mean
    rate *= rng.lognormal(-(DAY_SIGMA**2) / 2, DAY_SIGMA, len(dates))
    hours = rate[:, None] * HOURS / HOURS.sum()
    hours *= rng.gamma(HOUR_SHAPE, 1 / HOUR_SHAPE, hours.shape)
    minutes = np.repeat(hours.ravel() / 60, 60)
    minutes *= rng.gamma(MINUTE_SHAPE, 1 / MINUTE_SHAPE, len(minutes))
    begins = np.repeat(np.arange(len(minutes)), rng.poisson(minutes))
    seconds = np.sort(begins * MINUTE + rng.integers(0, MINUTE, len(begins)))
    row = rng.choice(len(odds), len(seconds), p=odds)
    sizes = rng.integers(least[row].astype(int), most[row].astype(int) + 1)
    return seconds - float(WARM_DAYS * DAY), sizes


def _seconds(kind: Integers, rng: np.random.Generator) -> Floats:
    """How long each server lives, by its flavor."""
    short, hourly, median, sigma = np.array(
        [
            (flavor.short, flavor.hourly, flavor.median, flavor.sigma)
            for flavor in FLAVORS
        ]
    ).T
    lot = rng.random(len(kind))
    normal = rng.standard_normal(len(kind))
    result = median[kind] * np.exp(sigma[kind] * normal)
    is_hourly = lot < short[kind] + hourly[kind]
    result[is_hourly] = HOURLY * np.exp(HOURLY_SIGMA * normal[is_hourly])
    is_short = lot < short[kind]
    result[is_short] = SHORT * np.exp(SHORT_SIGMA * normal[is_short])
    vcpus = np.array([flavor.vcpus for flavor in FLAVORS])[kind]
    is_old = rng.random(len(kind)) < np.where(
        vcpus < LARGE, OLD, OLD_AND_LARGE
    )
    result[is_old] = DAY * rng.uniform(*OLD_DAYS, int(is_old.sum()))
    return np.minimum(result, MOST)
