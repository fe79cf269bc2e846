# SPDX-License-Identifier: Apache-2.0
"""The windows over samples: what a query makes of those before it."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from kronos.common.exceptions import ConfigurationError
from kronos.policies.windows import LONGEST, Window

Doubles = npt.NDArray[np.float64]
Table = npt.NDArray[Any]
FORMS = (
    'now, avg:SECONDS, max:SECONDS, quantile:Q:SECONDS or '
    'predict:SECONDS:AHEAD'
)


def parse(text: str) -> Window:
    """A window by its word.

    :raises ConfigurationError: it is none
    """
    kind, *numbers = text.split(':')
    try:
        values = [float(number) for number in numbers]
        if kind == 'quantile':
            values.reverse()
        window = Window(kind, *values)
        count = {'now': 0, 'avg': 1, 'max': 1, 'quantile': 2, 'predict': 2}
        is_right = count[kind] == len(values) and all(
            map(math.isfinite, values)
        )
    except (KeyError, TypeError, ValueError):
        is_right = False
    else:
        is_right = is_right and (
            kind == 'now' or 0 < window.seconds <= LONGEST
        )
        limit = 1.0 if kind == 'quantile' else LONGEST
        is_right = is_right and 0 <= window.number <= limit
    if not is_right:
        raise ConfigurationError(
            reason=f'window {text:.80}: it must be {FORMS}, of at most '
            f'{LONGEST:g} s'
        )
    return window


def ticks_of(window: Window, step: float) -> int:
    """Samples of a window that count, the newest included."""
    return max(1, round(window.seconds / step))


class Windowed:
    """A table of samples as a window shows it, tick by tick.

    What is NaN is not there: the window takes the samples that are.

    :param table: by tick and column; rows up to the one asked for are there
    """

    def __init__(self, table: Table, window: Window, step: float) -> None:
        self._table = table
        self._window = window
        self._step = step
        self._ticks = ticks_of(window, step)
        self._sum: Doubles = np.zeros(table.shape[1:])
        self._count = np.zeros(table.shape[1:])
        self._next = 0

    def at(self, tick: int) -> Doubles:
        """What a query would say at a tick; NaN: nothing."""
        if self._ticks == 1:
            values: Doubles = self._table[tick].astype(float)
            return values
        if self._window.kind == 'avg':
            return self._mean(tick)
        first = max(0, tick - self._ticks + 1)
        return _OF_KIND[self._window.kind](
            self._table[first : tick + 1].astype(float),
            self._window,
            self._step,
        )

    def _mean(self, tick: int) -> Doubles:
        """The sums are carried on from the tick before."""
        if tick < self._next - 1 or tick - self._next > self._ticks:
            self._sum[:], self._count[:] = 0.0, 0.0
            self._next = max(0, tick - self._ticks + 1)
            stale = self._next
        else:
            stale = 0
        for row in range(self._next, tick + 1):
            self._add(row, 1.0)
            if row - self._ticks >= stale:
                self._add(row - self._ticks, -1.0)
        self._next = tick + 1
        with np.errstate(divide='ignore', invalid='ignore'):
            return np.where(self._count > 0.5, self._sum / self._count, np.nan)

    def _add(self, row: int, times: float) -> None:
        values = self._table[row]
        is_there = ~np.isnan(values)
        self._sum += np.where(is_there, values, 0.0) * times
        self._count += is_there * times


def _highest(rows: Doubles, _window: Window, _step: float) -> Doubles:
    highest: Doubles = np.fmax.reduce(rows, axis=0)
    return highest


def _quantile(rows: Doubles, window: Window, _step: float) -> Doubles:
    """As ``quantile_over_time``: between the two next to it."""
    rows = np.sort(rows, axis=0)  # NaN comes last
    count = (~np.isnan(rows)).sum(axis=0)
    rank = window.number * np.maximum(count - 1, 0)
    low = np.floor(rank).astype(int)
    high = np.minimum(low + 1, np.maximum(count - 1, 0))
    columns = np.arange(rows.shape[1])
    weight = rank - low
    values: Doubles = (
        rows[low, columns] * (1 - weight) + rows[high, columns] * weight
    )
    return values


def _predicted(rows: Doubles, window: Window, step: float) -> Doubles:
    """As ``predict_linear``: the line of least squares, ahead of now."""
    times = np.arange(1.0 - len(rows), 1.0)[:, None] * step
    is_there = ~np.isnan(rows)
    count = is_there.sum(axis=0)
    values = np.where(is_there, rows, 0.0)
    with np.errstate(divide='ignore', invalid='ignore'):
        mean_time = (times * is_there).sum(axis=0) / count
        mean = values.sum(axis=0) / count
        apart = (times - mean_time) * is_there
        slope = (apart * values).sum(axis=0) / (apart**2).sum(axis=0)
        ahead = mean + slope * (window.number - mean_time)
    return np.where(count > 1, np.maximum(ahead, 0.0), np.nan)


_OF_KIND: Mapping[str, Callable[[Doubles, Window, float], Doubles]] = {
    'max': _highest,
    'quantile': _quantile,
    'predict': _predicted,
}
