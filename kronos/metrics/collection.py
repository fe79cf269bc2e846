# SPDX-License-Identifier: Apache-2.0
"""The files of all processes of a host together, as one page.

What is stale or broken is left out, counted and named: one bad file must not
cost the page.
"""

import os
import pathlib
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from kronos.metrics import exposition
from kronos.metrics.store import Gauge, Store

STALE_SECONDS = 600.0
"""Age of a file whose process is dead."""
OURS = re.compile(r'kronos-[a-z-]{1,40}-\d{1,3}\.prom')


@dataclass(eq=False)
class _Page:
    """What the good files hold together."""

    families: dict[str, Any] = field(default_factory=dict)
    series: set[tuple[str, tuple[tuple[str, str], ...]]] = field(
        default_factory=set
    )
    states: dict[str, str] = field(default_factory=dict)
    """By the name of each file: good, stale or broken."""

    def collect(self) -> Iterator[Any]:
        yield from self.families.values()


class Collection:
    """The files of a directory.

    :param wall: Unix seconds
    """

    def __init__(
        self, directory: str, wall: Callable[[], float] = time.time
    ) -> None:
        self._directory = pathlib.Path(directory)
        self._wall = wall

    def text(self) -> bytes:
        """The page, with what is said of the files.

        :raises OSError: the directory cannot be read
        """
        import prometheus_client

        page = _Page()
        for name in sorted(os.listdir(self._directory)):
            if OURS.fullmatch(name):
                page.states[name] = self._add(page, name)
        registry = prometheus_client.CollectorRegistry(auto_describe=False)
        collector: Any = page
        registry.register(collector)
        return prometheus_client.generate_latest(registry) + _own(page.states)

    def _add(self, page: _Page, name: str) -> str:
        """Add a file to the page.

        :returns: its state
        """
        path = self._directory / name
        try:
            if self._wall() - path.lstat().st_mtime > STALE_SECONDS:
                return 'stale'
            families = _read(path)
        except FileNotFoundError:
            # Its process has just ended.
            return 'stale'
        except Exception:
            return 'broken'
        series = [
            (sample.name, tuple(sorted(sample.labels.items())))
            for family in families
            for sample in family.samples
        ]
        if len({*series}) < len(series) or page.series.intersection(series):
            return 'broken'
        if not all(_fits(page.families, family) for family in families):
            return 'broken'
        page.series.update(series)
        for family in families:
            first = page.families.setdefault(family.name, family)
            if first is not family:
                first.samples += family.samples
        return 'good'


def _fits(families: dict[str, Any], family: Any) -> bool:
    other = families.get(family.name, family)
    return bool(other.type == family.type)


def _read(path: pathlib.Path) -> list[Any]:
    """:raises Exception: it cannot be read, or is not in the format"""
    from prometheus_client import parser

    text = exposition.file_text(path)
    families = list(parser.text_string_to_metric_families(text))
    for family in families:
        own = family.name.startswith('kronos_exporter_')
        if own or not family.name.startswith('kronos_'):
            raise ValueError('it holds others')
    return families


def _own(states: dict[str, str]) -> bytes:
    """What the exporter says of the files itself."""
    store = Store()
    counts = dict.fromkeys(('good', 'stale', 'broken'), 0)
    gauges = []
    for name, state in states.items():
        counts[state] += 1
        if state != 'good':
            labels = {'file': name, 'reason': state}
            gauges.append(Gauge('kronos_exporter_ignored_file', 1, labels))
    gauges += [
        Gauge('kronos_exporter_files', number, {'state': state})
        for state, number in counts.items()
    ]
    store.show('exporter', gauges)
    return exposition.text_of(store, ())
