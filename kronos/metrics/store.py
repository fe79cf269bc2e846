# SPDX-License-Identifier: Apache-2.0
"""The store: what a process has counted and shows, in memory alone.

No I/O and no waiting: a request of nova-scheduler counts in it. What is
counted or shown is looked up in the catalogue, so that nothing else can ever
be written.
"""

import bisect
import functools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kronos.common import plain_text
from kronos.metrics import catalogue
from kronos.metrics.metric import Kind, Metric

LONGEST = 200
"""Characters of a label's value: names of aggregates have up to 255."""
Labels = tuple[str, ...]
"""Values of the labels of a metric, in their order."""


@dataclass(frozen=True)
class Gauge:
    """A value that is shown until its group is shown anew."""

    name: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Distribution:
    """What a histogram holds of one set of labels."""

    counts: list[float]
    """By bucket, not cumulated; the last one is without an upper bound."""
    total: float = 0.0
    """The sum of all values."""


@dataclass
class _Shown:
    """The gauges of a group and scope."""

    gauges: dict[tuple[str, Labels], float]
    ends_at: float


class Store:
    """The counters, histograms and gauges of one process.

    :param per_host: whether metrics about single hosts are shown
    :param scope_ttl: seconds after which gauges about a scope are dropped
    :param clock: seconds that only grow
    """

    is_on = True

    def __init__(
        self,
        per_host: bool = False,
        scope_ttl: float = 3600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._per_host = per_host
        self._scope_ttl = scope_ttl
        self._clock = clock
        self._lock = threading.Lock()
        self._counters: dict[tuple[str, Labels], float] = {}
        self._histograms: dict[tuple[str, Labels], Distribution] = {}
        self._shown: dict[tuple[str, str], _Shown] = {}

    def count(self, name: str, value: float = 1.0, **labels: str) -> None:
        """Add to a counter.

        :raises KeyError: the catalogue has no such metric, or other labels
        """
        _, key = _key(Kind.COUNTER, name, tuple(labels.items()))
        with self._lock:
            self._counters[key] = self._counters.get(key, 0.0) + value

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Add a value to a histogram.

        :raises KeyError: as for :meth:`count`
        """
        row, key = _key(Kind.HISTOGRAM, name, tuple(labels.items()))
        with self._lock:
            distribution = self._histograms.get(key)
            if distribution is None:
                distribution = Distribution([0.0] * (len(row.buckets) + 1))
                self._histograms[key] = distribution
            position = bisect.bisect_left(row.buckets, value)
            distribution.counts[position] += 1
            distribution.total += value

    def show(
        self,
        group: str,
        gauges: Iterable[Gauge],
        scope: str = '',
        expires: bool = False,
    ) -> None:
        """Show these gauges instead of those of the group and scope.

        :param scope: '': they are about no scope
        :param expires: whether they are dropped after ``scope_ttl``, as those
            about a scope always are
        :raises KeyError: as for :meth:`count`
        """
        values = {}
        for gauge in gauges:
            items = tuple(gauge.labels.items())
            row, key = _key(Kind.GAUGE, gauge.name, items)
            if self._per_host or not row.per_host:
                values[key] = float(gauge.value)
        ends_at = float('inf')
        if scope or expires:
            ends_at = self._clock() + self._scope_ttl
        with self._lock:
            self._shown[group, scope] = _Shown(values, ends_at)

    def take_over(
        self, name: str, labels: Labels, value: float | Distribution
    ) -> None:
        """Go on from what an earlier process had counted."""
        key = name, labels
        with self._lock:
            if isinstance(value, Distribution):
                own = self._histograms.setdefault(
                    key, Distribution([0.0] * len(value.counts))
                )
                pairs = zip(own.counts, value.counts, strict=True)
                own.counts = [a + b for a, b in pairs]
                own.total += value.total
            else:
                self._counters[key] = self._counters.get(key, 0.0) + value

    def values(
        self,
    ) -> Iterator[tuple[Metric, Labels, float | Distribution]]:
        """All that is to be written now, in the order of the catalogue."""
        now = self._clock()
        with self._lock:
            for key, shown in list(self._shown.items()):
                if shown.ends_at <= now:
                    del self._shown[key]
            everything: dict[tuple[str, Labels], float | Distribution] = {
                **self._counters,
                **{
                    key: Distribution(list(value.counts), value.total)
                    for key, value in self._histograms.items()
                },
            }
            for shown in self._shown.values():
                everything.update(shown.gauges)
        order = {row.name: n for n, row in enumerate(catalogue.METRICS)}
        for name, labels in sorted(
            everything, key=lambda key: (order[key[0]], key[1])
        ):
            yield catalogue.BY_NAME[name], labels, everything[name, labels]


class Off(Store):
    """The store of a process that writes no metrics: it holds nothing."""

    is_on = False

    def count(self, name: str, value: float = 1.0, **labels: str) -> None:
        """Count nothing."""

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Observe nothing."""

    def show(
        self,
        group: str,
        gauges: Iterable[Gauge],
        scope: str = '',
        expires: bool = False,
    ) -> None:
        """Show nothing."""


@functools.lru_cache(4096)
def _key(
    kind: Kind, name: str, items: tuple[tuple[str, str], ...]
) -> tuple[Metric, tuple[str, Labels]]:
    """What a value belongs to; remembered, since weighings ask for it.

    :raises KeyError: the catalogue has no such metric, or other labels
    """
    row, labels = catalogue.BY_NAME[name], dict(items)
    if row.kind is not kind:
        raise KeyError(f'{name} is a {row.kind.value}, and no {kind.value}')
    if labels.keys() != {*row.labels}:
        raise KeyError(f'{name} has the labels {", ".join(row.labels)}')
    values = tuple(
        plain_text.line(str(labels[label]))[:LONGEST] for label in row.labels
    )
    return row, (name, values)
