# SPDX-License-Identifier: Apache-2.0
"""The time that the metrics add to a weighing and to planning.

By turns without and with them, in one process: what is compared is the
``weigh_objects`` of the weigher alone, and a plan with what the decision
engine notes of it. Both of a pair note the same plan: what making it takes
differs by more than the notes. Files are written by another thread, whose time
is a figure of its own.
"""

import gc
import importlib.util
import operator
import pathlib
import statistics
import tempfile
import types
from collections.abc import Callable, Iterator
from typing import Any

from bench import case, clusters, plans, processes, table, weighing
from kronos.engine.planning import propose
from kronos.engine.types import Snapshot
from kronos.metrics import exposition, process
from kronos.metrics.metric import Source
from kronos.policies.models import Policy
from kronos.recordings.formats import cluster

PAIRS = {'weighing': 301, 'planning': 21}
MOST_RATIO = 1.03
NEEDED = {'weighing': 'nova', 'planning': 'watcher'}
"""The package of each, without which it is not measured."""
COLUMNS = {
    'part': ('', 's'),
    'hosts': ('hosts', ',d'),
    'instances': ('instances', ',d'),
    'without_ms': ('without ms', ',.3f'),
    'with_ms': ('with ms', ',.3f'),
    'ratio': ('ratio', '.4f'),
    'write_ms': ('a file ms', '.1f'),
    'result': ('', 's'),
}
LEGEND = (
    'ratio: the median of pairs; a file: what a thread takes to make the text '
    'of the file, every 15 s'
)
Work = tuple[float, Callable[[], object]]
"""Seconds that a part took without any metrics, and what is left of it."""


def rows(folder: pathlib.Path) -> list[dict[str, Any]]:
    """A weighing and a plan of 1,000 hosts; what is installed of both.

    :param folder: where the made-up cluster may lie
    """
    return [
        processes.run('bench.metered', part=part, path=_cluster(part, folder))
        for part, package in NEEDED.items()
        if importlib.util.find_spec(package) is not None
    ]


def text(found: list[dict[str, Any]]) -> str:
    if not found:
        return 'metrics: not measured, neither Nova nor Watcher is installed'
    return f'{table.text(COLUMNS, found)}\n{LEGEND}'


def is_met(found: list[dict[str, Any]]) -> bool:
    """Whether the metrics add as little as they may."""
    return all(row['ratio'] <= MOST_RATIO for row in found)


def measured(part: str, path: str, pairs: int = 0) -> dict[str, Any]:
    """What the metrics add to a part.

    :param part: ``weighing`` or ``planning``
    :param path: of a cluster/1 file, for planning
    :param pairs: how often; 0: as usual
    """
    if part == 'planning':
        row, work = _planning(path)
        return row | _compared(work, pairs or PAIRS[part])
    hosts = weighing.SIZES[0]
    with (
        tempfile.TemporaryDirectory() as folder,
        weighing.Rig(hosts, folder) as rig,
    ):
        work = ((0.0, run) for run in rig.work_of_weighing())
        row = {'part': part, 'hosts': hosts, 'instances': None}
        return row | _compared(work, pairs or PAIRS[part])


def _cluster(part: str, folder: pathlib.Path) -> str:
    if part != 'planning':
        return ''
    return clusters.file(folder, hosts=plans.REFERENCE)


def _planning(path: str) -> tuple[dict[str, Any], Iterator[Work]]:
    result = cluster.read(path)
    row = {
        'part': 'planning',
        'hosts': len(result.snapshot.hosts),
        'instances': len(result.snapshot.instances),
    }
    return row, _plans(result.snapshot, result.policies)


def _plans(snapshot: Snapshot, policies: list[Policy]) -> Iterator[Work]:
    from kronos.strategies.outcome import audit_metrics

    settings = case.spreading('greedy', plans.MOVES)
    timings = {'collect': 1.0, 'propose': 1.0}
    reports = []

    def plan() -> None:
        report = propose.propose([snapshot], policies, settings)
        reports.append(report)

    def note() -> None:
        audit_metrics.planned(reports[-1], [snapshot], settings, timings)
        audit_metrics.written(reports[-1])

    while True:
        reports.clear()
        gc.collect()
        yield weighing.timed(plan), note


def _compared(work: Iterator[Work], pairs: int) -> dict[str, Any]:
    """Seconds without the metrics and with them, by turns."""
    found = []
    # The first one imports and remembers.
    for number in range(pairs + 1):
        turn = -1 if number % 2 else 1
        _switch(False)
        seconds, run = next(work)
        both = []
        for is_on in (False, True)[::turn]:
            _switch(is_on)
            both.append(seconds + weighing.timed(run))
            if is_on:
                write = weighing.timed(_write)
        found.append((*both[::turn], write))
    _switch(False)
    without, metered, writes = zip(*found[1:], strict=True)
    ratio = statistics.median(map(operator.truediv, metered, without))
    return {
        'without_ms': 1e3 * statistics.median(without),
        'with_ms': 1e3 * statistics.median(metered),
        'ratio': ratio,
        'write_ms': 1e3 * statistics.median(writes),
        'result': '' if ratio <= MOST_RATIO else 'too much',
    }


def _switch(is_on: bool) -> None:
    """Have metrics in this process, or none."""
    process.end()
    if is_on:
        group = types.SimpleNamespace(
            directory='/nowhere', interval=15, per_host=True, scope_ttl=3600
        )
        process.prepare(Source.SCHEDULER, group)


def _write() -> None:
    exposition.text_of(process.of_process(), ('service', '0'))


if __name__ == '__main__':
    processes.answer(measured(**processes.wanted()))
