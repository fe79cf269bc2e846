# SPDX-License-Identifier: Apache-2.0
"""The raw query of a policy: what it asks for, without its windows.

A loop applies windows itself, on what it has simulated. So it needs the usage
of each step alone: the average of the step, wherever a query looks back.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from kronos.clients.prometheus import selectors
from kronos.engine import wording
from kronos.policies import promql
from kronos.policies.promql import Call, Ranged

RATES = frozenset({'rate', 'irate', 'increase'})
"""Of a counter."""
AVERAGED = frozenset(
    {
        *('avg_over_time', 'max_over_time', 'min_over_time'),
        *('quantile_over_time', 'mad_over_time', 'predict_linear'),
        *('holt_winters', 'double_exponential_smoothing'),
    }
)
"""Of a gauge: each gives a value in the gauge's own unit."""
LOOKBACKS = frozenset({'last_over_time', 'present_over_time'})
"""They look for the newest sample alone, so their range is no window."""
_RECORDED = re.compile(r'[A-Za-z_]\w*:[\w:]*')
"""The name of a recording rule, by Prometheus' convention."""


@dataclass(frozen=True)
class RawQuery:
    """A query for the usage of each step."""

    text: str
    seconds: float = 0.0
    """Over which it averages; 0: it takes the newest sample."""
    doubts: Sequence[str] = field(default_factory=tuple)
    """Where a window may be left in it, as sentences."""
    is_windowed: bool = False
    """Whether the policy's own windows are in it."""


def derived(query: str, seconds: float) -> RawQuery:
    """The raw query of another one.

    :param seconds: over which it is to average, at least the step
    """
    writer = _Writer(seconds)
    text = writer.text(promql.parse(query))
    doubts = [
        f'{name}() looks back as it does in the policy'
        for name in dict.fromkeys(writer.unknown)
    ]
    recorded = [*filter(_RECORDED.fullmatch, selectors.names(query))]
    if recorded:
        rules = wording.counted(len(recorded), 'recording rule')
        doubts.append(f'it uses {rules}, whose windows are not visible')
    return RawQuery(text.strip(), seconds if writer.averages else 0.0, doubts)


class _Writer:
    """Writes an expression anew."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.averages = False
        self.unknown: list[str] = []

    def text(self, items: Sequence[promql.Item]) -> str:
        return ''.join(map(self._item, items))

    def _item(self, item: promql.Item) -> str:
        if isinstance(item, str):
            return item
        if isinstance(item, Ranged):
            return f'{self.text(item.items)}[{item.range}]'
        ranged = next(filter(None, map(promql.ranged, item.arguments)), None)
        if ranged is None or item.name in LOOKBACKS:
            arguments = ','.join(map(self.text, item.arguments))
            return f'{item.name}{item.space}({arguments})'
        if item.name in RATES:
            return self._rate(item, ranged)
        if item.name in AVERAGED:
            return self._average(ranged)
        self.unknown.append(item.name)
        return promql.text([item])

    def _rate(self, call: Call, ranged: Ranged) -> str:
        self.averages = True
        inner = self.text(ranged.items)
        window = promql.duration(self._seconds)
        if ranged.resolution:
            # A rate needs two points.
            least = max(self._seconds, 2 * ranged.resolution)
            resolution = promql.duration(ranged.resolution)
            window = f'{promql.duration(least)}:{resolution}'
        rate = f'rate({inner}[{window}]{ranged.modifiers})'
        if call.name == 'increase':
            return f'({rate} * {ranged.seconds:g})'
        return rate

    def _average(self, ranged: Ranged) -> str:
        self.averages = False
        inner = self.text(ranged.items)
        is_average, self.averages = self.averages, True
        if is_average and not ranged.modifiers:
            return f'({inner})'
        window = promql.duration(self._seconds)
        if ranged.is_subquery:
            resolution = min(ranged.resolution, self._seconds)
            window += ':' + (promql.duration(resolution) if resolution else '')
        return f'avg_over_time({inner}[{window}]{ranged.modifiers})'
