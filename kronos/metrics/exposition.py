# SPDX-License-Identifier: Apache-2.0
"""The text format of Prometheus: written from a store, and read again.

prometheus_client is imported by who writes, and only then: its import takes a
second under load. It writes no timestamps, no ``_created`` and the same help
in every file, else node_exporter drops what differs.
"""

import itertools
import math
import pathlib
from collections.abc import Iterator
from typing import Any

from kronos.common import plain_files
from kronos.metrics import catalogue
from kronos.metrics.metric import PROCESS_LABELS, Kind, Metric
from kronos.metrics.store import Distribution, Labels, Store

MOST_BYTES = 32 * 2**20
"""Of a file that is read."""


def text_of(store: Store, process: Labels) -> bytes:
    """All metrics of a process.

    :param process: the values of ``PROCESS_LABELS``; (): it has none
    """
    import prometheus_client

    registry = prometheus_client.CollectorRegistry()
    collector: Any = _Collector(store, process)
    registry.register(collector)
    return prometheus_client.generate_latest(registry)


class _Collector:
    """The values of a store as prometheus_client takes them."""

    def __init__(self, store: Store, process: Labels) -> None:
        self._store = store
        self._process = process

    def describe(self) -> list[Any]:
        """Nothing: to register it must not collect."""
        return []

    def collect(self) -> Iterator[Any]:
        names = PROCESS_LABELS if self._process else ()
        by_row = itertools.groupby(
            self._store.values(), key=lambda value: value[0]
        )
        for row, values in by_row:
            family = _family(row, (*row.labels, *names))
            for _, labels, value in values:
                _add(family, row, (*labels, *self._process), value)
            yield family


def _family(row: Metric, labels: Labels) -> Any:
    from prometheus_client import core

    kinds = {
        Kind.COUNTER: core.CounterMetricFamily,
        Kind.GAUGE: core.GaugeMetricFamily,
        Kind.HISTOGRAM: core.HistogramMetricFamily,
    }
    return kinds[row.kind](row.name, row.help, labels=labels)


def _add(
    family: Any, row: Metric, labels: Labels, value: float | Distribution
) -> None:
    if not isinstance(value, Distribution):
        family.add_metric(labels, value)
        return
    bounds = [*map(str, row.buckets), '+Inf']
    buckets = zip(bounds, itertools.accumulate(value.counts), strict=True)
    family.add_metric(labels, list(buckets), value.total)


def file_text(path: pathlib.Path) -> str:
    """What a file of metrics holds; whatever else is there is not read.

    :raises OSError: it is a link, a pipe or a device, or cannot be read
    :raises ValueError: it is too large, or no text
    """
    content = plain_files.read(path, MOST_BYTES + 1, follow_links=False)
    if len(content) > MOST_BYTES:
        raise ValueError('it is too large')
    return content.decode('utf-8')


def take_over(store: Store, text: str) -> None:
    """Go on with the counters and histograms of an earlier process.

    :param text: its file; what the catalogue does not have is left out
    :raises ValueError: it is not in the format
    """
    from prometheus_client import parser

    for family in parser.text_string_to_metric_families(text):
        row = catalogue.BY_NAME.get(family.name) or catalogue.BY_NAME.get(
            f'{family.name}_total'
        )
        if row is None or row.kind is Kind.GAUGE:
            continue
        series: dict[Labels, dict[str, float]] = {}
        for sample in family.samples:
            if not {*row.labels} <= sample.labels.keys():
                continue
            labels = tuple(sample.labels[name] for name in row.labels)
            ending = sample.labels.get('le') or sample.name
            series.setdefault(labels, {})[ending] = sample.value
        for labels, values in series.items():
            value = _read(row, values)
            if value is not None:
                store.take_over(row.name, labels, value)


def _read(
    row: Metric, values: dict[str, float]
) -> float | Distribution | None:
    if row.kind is Kind.COUNTER:
        return values.get(row.name)
    bounds = [*map(str, row.buckets), '+Inf']
    if not {*bounds} <= values.keys():
        # Of a release with other buckets.
        return None
    counts = [values[bound] for bound in bounds]
    steps = [b - a for a, b in zip([0.0, *counts], counts, strict=False)]
    total = values.get(f'{row.name}_sum', 0.0)
    return Distribution(steps, total if math.isfinite(total) else 0.0)
