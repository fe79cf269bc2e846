# SPDX-License-Identifier: Apache-2.0
"""The windows of queries: what a query makes of the samples before it."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kronos.common.exceptions import ConfigurationError
from kronos.simulate.load_schema import LONGEST_WINDOW

Doubles = npt.NDArray[np.float64]
Table = npt.NDArray[Any]
FORMS = (
    'now, avg:SECONDS, max:SECONDS, quantile:Q:SECONDS or '
    'predict:SECONDS:AHEAD'
)


@dataclass(frozen=True)
class Window:
    """A function over a range of time, in seconds."""

    kind: str = 'now'
    seconds: float = 0.0
    number: float = 0.0
    """The quantile, or the seconds that are looked ahead."""

    def __str__(self) -> str:
        seconds = f'{self.seconds:g}'
        return {
            'now': 'now',
            'quantile': f'quantile:{self.number:g}:{seconds}',
            'predict': f'predict:{seconds}:{self.number:g}',
        }.get(self.kind, f'{self.kind}:{seconds}')

    @property
    def words(self) -> str:
        """For people: ``the average of 60 min``."""
        span = f'{self.seconds / 60:g} min'
        return {
            'now': 'the values of the moment',
            'avg': f'the average of {span}',
            'max': f'the maximum of {span}',
            'quantile': f'the {self.number:g} quantile of {span}',
            'predict': f'the line through {span}, {self.number / 60:g} min '
            'ahead',
        }[self.kind]

    @property
    def query(self) -> str:
        """A query that has it, for those who ask a query for its window."""
        span = f'load[{self.seconds:g}s]'
        return {
            'now': 'load',
            'quantile': f'quantile_over_time({self.number:g}, {span})',
            'predict': f'predict_linear({span}, {self.number:g})',
        }.get(self.kind, f'{self.kind}_over_time({span})')

    def ticks(self, step: float) -> int:
        """Samples that count, the newest included."""
        return max(1, round(self.seconds / step))


NOW = Window()


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
            kind == 'now' or 0 < window.seconds <= LONGEST_WINDOW
        )
        limit = 1.0 if kind == 'quantile' else LONGEST_WINDOW
        is_right = is_right and 0 <= window.number <= limit
    if not is_right:
        raise ConfigurationError(
            reason=f'window {text:.80}: it must be {FORMS}, of at most '
            f'{LONGEST_WINDOW} s'
        )
    return window


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`[^`]*`|#[^\n]*')
_TOKEN = re.compile(
    r'(?P<call>[a-zA-Z_]\w*)\s*\(|(?P<open>[({])|(?P<close>[)}])'
    r'|\[\s*(?P<range>[\dsmhdwy.]+)\s*(?::\s*[\dsmhdwy.]*\s*)?\]'
    r'|(?P<comma>,)|(?P<number>[\dsmhdwy.eE]+)'
)
_UNITS = {
    'ms': 0.001,
    's': 1.0,
    'm': 60.0,
    'h': 3600.0,
    'd': 86400.0,
    'w': 604800.0,
    'y': 31536000.0,
}
_KINDS = {
    'max_over_time': 'max',
    'quantile_over_time': 'quantile',
    'predict_linear': 'predict',
    'irate': 'now',
    'idelta': 'now',
    'last_over_time': 'now',
}
"""Of functions of ranges; all others are taken for averages."""


def seconds_of(text: str) -> float:
    """A duration of PromQL, such as ``1h30m``; without a unit: seconds."""
    parts = re.findall(r'([\d.]+)(ms|[smhdwy])?', text)
    return math.fsum(
        float(number) * _UNITS[unit or 's'] for number, unit in parts
    )


def of_query(query: str) -> Window:
    """The widest window of a query; the values of the moment if it has none.

    Other, narrower ranges within are passed over: they are those of
    :func:`raw`, or nearly so.
    """
    widest, stack = NOW, list[tuple[str, list[str]]]()
    for token in _TOKEN.finditer(_STRING.sub('', query)):
        if token['call'] or token['open']:
            stack.append((token['call'] or '', []))
        elif token['close'] and stack:
            name, numbers = stack.pop()
            if stack:
                stack[-1][1].extend(
                    number for number in numbers if '[' in number
                )
            widest = max(
                widest, _window(name, numbers), key=lambda w: w.seconds
            )
        elif token['range'] and stack:
            stack[-1][1].append(f'[{token["range"]}')
        elif token['number'] and stack:
            stack[-1][1].append(token['number'])
    return widest


def _window(name: str, numbers: list[str]) -> Window:
    """That of one call, by the numbers and ranges among its arguments."""
    ranges = [seconds_of(text[1:]) for text in numbers if text[0] == '[']
    kind = _KINDS.get(name, 'avg')
    if not ranges or kind == 'now' or not _takes_range(name):
        return NOW
    plain = [text for text in numbers if text[0] != '[']
    number = 0.0
    if kind == 'quantile':
        number = min(max(_float(plain[:1]), 0.0), 1.0)
    elif kind == 'predict':
        number = seconds_of(plain[-1]) if plain else 0.0
    seconds = min(ranges[-1], float(LONGEST_WINDOW))
    return Window(kind, seconds, number)


def _takes_range(name: str) -> bool:
    return name.endswith('_over_time') or name in {
        'rate',
        'increase',
        'delta',
        'deriv',
        'predict_linear',
        'holt_winters',
        'double_exponential_smoothing',
    }


def _float(texts: list[str]) -> float:
    try:
        return float(texts[0])
    except (IndexError, ValueError):
        return 0.0


class Windowed:
    """A table of samples as a window shows it, tick by tick.

    What is NaN is not there: the window takes the samples that are.

    :param table: by tick and column; rows up to the one asked for are there
    """

    def __init__(self, table: Table, window: Window, step: float) -> None:
        self._table = table
        self._window = window
        self._step = step
        self._ticks = window.ticks(step)
        self._sum: Doubles = np.zeros(table.shape[1:])
        self._count = np.zeros(table.shape[1:])
        self._next = 0

    def at(self, tick: int) -> Doubles:
        """What a query would say at a tick; NaN: nothing."""
        if self._window.kind == 'now' or self._ticks == 1:
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
