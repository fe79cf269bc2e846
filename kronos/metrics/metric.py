# SPDX-License-Identifier: Apache-2.0
"""A metric as it is declared: the form of the rows of the catalogue."""

from dataclasses import dataclass
from enum import StrEnum

PROCESS_LABELS = 'service', 'slot'
"""Labels of every series of a service: which process wrote it. Two processes
on a host would show the same series otherwise."""


SECONDS_OF_WORK = 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0
SECONDS_OF_MOVES = 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0
SECONDS_OF_WEIGHING = 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0


class Kind(StrEnum):
    """What Prometheus may do with a metric."""

    COUNTER = 'counter'
    GAUGE = 'gauge'
    HISTOGRAM = 'histogram'


class Source(StrEnum):
    """Who shows a metric."""

    DECISION_ENGINE = 'decision-engine'
    APPLIER = 'applier'
    SCHEDULER = 'scheduler'
    EVERY_SERVICE = 'every service'
    EXPORTER = 'kronos-exporter'


@dataclass(frozen=True)
class Metric:
    """One metric, as it is declared, written and documented."""

    name: str
    kind: Kind
    source: Source
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    """Upper bounds of a histogram, without infinity."""
    per_host: bool = False
    """Whether it is shown only with ``per_host = true``."""

    @property
    def unit(self) -> str:
        """The unit by the end of its name; '': a number of things."""
        base = self.name.removesuffix('_total')
        for ending, unit in _UNITS.items():
            if base.endswith(ending):
                return unit
        return ''


_UNITS = {
    '_timestamp_seconds': 'Unix time in seconds',
    '_seconds': 'seconds',
    '_bytes': 'bytes',
    '_ratio': 'ratio',
}


def counter(source: Source, name: str, text: str, *labels: str) -> Metric:
    return Metric(name, Kind.COUNTER, source, text, labels)


def gauge(source: Source, name: str, text: str, *labels: str) -> Metric:
    return Metric(name, Kind.GAUGE, source, text, labels)


def histogram(
    source: Source,
    name: str,
    text: str,
    buckets: tuple[float, ...],
    *labels: str,
) -> Metric:
    return Metric(name, Kind.HISTOGRAM, source, text, labels, buckets)
