# SPDX-License-Identifier: Apache-2.0
"""The windows of queries: over how much of the past an answer looks."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

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


def seconds_of(text: str) -> float:
    """A duration of PromQL, such as ``1h30m``; without a unit: seconds."""
    parts = re.findall(r'(\d+\.?\d*|\.\d+)(ms|[smhdwy])?', text)
    return math.fsum(
        float(number) * _UNITS[unit or 's'] for number, unit in parts
    )


def _window(name: str, numbers: Sequence[str]) -> Window:
    """That of one call, by the numbers and ranges among its arguments."""
    ranges = [seconds_of(text[1:]) for text in numbers if text[0] == '[']
    kind = _KINDS.get(name, AVERAGE)
    is_of_ranges = name.endswith('_over_time') or name in _OF_RANGES
    if not ranges or kind == NOW.kind or not is_of_ranges or not ranges[-1]:
        return NOW
    plain = [text for text in numbers if text[0] != '[']
    number = 0.0
    if kind == QUANTILE:
        number = min(max(_float(plain[:1]), 0.0), 1.0)
    elif kind == PREDICTION:
        number = seconds_of(plain[-1]) if plain else 0.0
    return Window(kind, min(ranges[-1], LONGEST), number)


def _float(texts: Sequence[str]) -> float:
    try:
        return float(texts[0])
    except (IndexError, ValueError):
        return 0.0
