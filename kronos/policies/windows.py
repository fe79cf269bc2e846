# SPDX-License-Identifier: Apache-2.0
"""The windows of queries: over how much of the past an answer looks."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kronos.policies import promql
from kronos.policies.promql import Call, Ranged

LONGEST = 604800.0
"""Seconds; what is longer counts as that."""
AVERAGE, MAXIMUM, QUANTILE, PREDICTION = 'avg', 'max', 'quantile', 'predict'


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
        """A query with this window, such as ``avg_over_time(load[60s])``."""
        span = f'load[{self.seconds:g}s]'
        return {
            'now': 'load',
            'quantile': f'quantile_over_time({self.number:g}, {span})',
            'predict': f'predict_linear({span}, {self.number:g})',
        }.get(self.kind, f'{self.kind}_over_time({span})')

    def still_shows(self, age: float) -> float:
        """What share of a load that left so long ago is still shown."""
        match self.kind:
            case 'now':
                return 0.0
            case 'max':
                return float(age < self.seconds)
            case 'quantile':
                return float(age < self.number * self.seconds)
        return max(0.0, 1.0 - max(0.0, age) / self.seconds)

    def lacks(self, age: float) -> float:
        """What share of a load that came so long ago is not shown yet."""
        match self.kind:
            case 'now' | 'max':
                return 0.0
            case 'quantile':
                return float(age < (1.0 - self.number) * self.seconds)
        return self.still_shows(age)


NOW = Window()
"""The values of the moment."""

_KINDS = {
    'max_over_time': MAXIMUM,
    'quantile_over_time': QUANTILE,
    'predict_linear': PREDICTION,
    'irate': NOW.kind,
    'idelta': NOW.kind,
    'last_over_time': NOW.kind,
}
"""Of functions of ranges; all others are taken for averages."""
_OF_RANGES = frozenset(
    {
        'rate',
        'increase',
        'delta',
        'deriv',
        'predict_linear',
        'holt_winters',
        'double_exponential_smoothing',
    }
)


def of_query(query: str) -> Window:
    """The widest window of a query; the values of the moment if it has none.

    A range that a recording rule hides is not known.
    """
    try:
        items = promql.parse(query)
    except ValueError:
        return NOW
    return max(_windows(items), key=lambda w: w.seconds, default=NOW)


def _windows(items: Iterable[promql.Item]) -> Iterator[Window]:
    """Those of all calls, the inner ones first."""
    for item in items:
        if isinstance(item, Ranged):
            yield from _windows(item.items)
        elif isinstance(item, Call):
            for argument in item.arguments:
                yield from _windows(argument)
            yield _window(item)


def _window(call: Call) -> Window:
    ranged = next(filter(None, map(promql.ranged, call.arguments)), None)
    kind = _KINDS.get(call.name, AVERAGE)
    is_of_ranges = call.name.endswith('_over_time') or call.name in _OF_RANGES
    if ranged is None or not is_of_ranges or kind == NOW.kind:
        return NOW
    first, last = (
        promql.text(call.arguments[place]).strip() for place in (0, -1)
    )
    number = 0.0
    if kind == QUANTILE:
        number = min(promql.seconds_of(first), 1.0)
    elif kind == PREDICTION:
        number = math.prod(map(promql.seconds_of, last.split('*')))
    seconds = min(ranged.seconds, LONGEST)
    return Window(kind, seconds, number) if seconds else NOW
