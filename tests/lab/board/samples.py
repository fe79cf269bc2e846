# SPDX-License-Identifier: Apache-2.0
"""Values of metrics over time, written as OpenMetrics has them.

Only metrics of the catalogue are taken, with the labels that they have there.
"""

import itertools
from collections import defaultdict
from typing import Any

from kronos.metrics.catalogue import BY_NAME
from kronos.metrics.metric import Kind, Source

Labels = tuple[tuple[str, str], ...]
PLACES = {
    Source.APPLIER: 'ctl-1:9100',
    Source.SCHEDULER: 'ctl-2:9100',
    Source.EXPORTER: 'ctl-3:9877',
}
"""Where those who write metrics are; the others are with the applier."""


class Samples:
    """The state of all processes, and what was scraped of it."""

    def __init__(self) -> None:
        self._values: dict[str, dict[Labels, float]] = defaultdict(dict)
        self._scraped: dict[str, dict[Labels, list[str]]] = defaultdict(
            lambda: defaultdict(list)
        )

    def show(self, name: str, value: float, **labels: str) -> None:
        """Set a gauge."""
        self._values[name][self._labels(name, labels)] = value

    def hide(self, name: str) -> None:
        """Drop all series of a gauge."""
        self._values.pop(name, None)

    def add(self, name: str, amount: float = 1, **labels: str) -> None:
        """Raise a counter."""
        key = self._labels(name, labels)
        values = self._values[name]
        values[key] = values.get(key, 0) + amount

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Add a value to a histogram."""
        key = self._labels(name, labels)
        for suffix, amount in (('_sum', value), ('_count', 1.0)):
            values = self._values[name + suffix]
            values[key] = values.get(key, 0) + amount
        buckets = self._values[f'{name}_bucket']
        for bound in (*BY_NAME[name].buckets, float('inf')):
            text = '+Inf' if bound == float('inf') else str(bound)
            row = (*key, ('le', text))
            buckets[row] = buckets.get(row, 0) + (value <= bound)

    def scrape(self, moment: int) -> None:
        """Keep all values as they are.

        :param moment: Unix seconds
        """
        for name, values in self._values.items():
            for labels, value in values.items():
                line = f'{value:.12g} {moment}'
                self._scraped[name][labels].append(line)

    def text(self) -> str:
        """Everything that was scraped."""
        return '\n'.join(
            itertools.chain.from_iterable(
                self._family(metric.name, metric.kind)
                for metric in BY_NAME.values()
            )
        )

    def _family(self, name: str, kind: Kind) -> list[str]:
        lines = [f'# TYPE {name.removesuffix("_total")} {kind.value}']
        endings = ('_bucket', '_sum', '_count')
        for ending in endings if kind is Kind.HISTOGRAM else ('',):
            for labels, rows in self._scraped[name + ending].items():
                text = ','.join(f'{key}="{value}"' for key, value in labels)
                lines += [f'{name}{ending}{{{text}}} {row}' for row in rows]
        return lines

    def _labels(self, name: str, labels: dict[str, Any]) -> Labels:
        metric = BY_NAME[name]
        source = Source(labels.pop('service', metric.source))
        if source is Source.EVERY_SERVICE:
            source = Source.DECISION_ENGINE
        slot = labels.pop('slot', '0')
        if {*labels} != {*metric.labels}:
            raise AssertionError(f'{name} has other labels than {labels}')
        return (
            *labels.items(),
            ('service', source.value),
            ('slot', slot),
            ('instance', PLACES.get(source, PLACES[Source.APPLIER])),
        )
