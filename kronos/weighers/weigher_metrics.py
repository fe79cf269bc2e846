# SPDX-License-Identifier: Apache-2.0
"""The metrics of the weigher: what becomes of weighings and refreshes.

A weighing only counts in memory; the thread of the process writes.
"""

import time
from collections.abc import Sequence

from kronos.metrics import process
from kronos.metrics.store import Gauge
from kronos.weighers.host_scores import HostScores


class Weighing:
    """One weighing, from now on."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    def done(self, weights: Sequence[float]) -> None:
        """Note that it gave these weights."""
        self._end('scored' if any(weights) else 'neutral')

    def failed(self) -> None:
        """Note that it gave none."""
        self._end('failed')

    def _end(self, result: str) -> None:
        store = process.of_process()
        store.count('kronos_weighings_total', result=result)
        seconds = time.perf_counter() - self._began
        store.observe('kronos_weighing_seconds', seconds)


def refreshed(shown: HostScores | None, age: float) -> None:
    """Note a refresh that went through.

    :param age: seconds since Prometheus was asked
    """
    store = process.of_process()
    is_good = shown is not None and not shown.troubles
    result = 'good' if is_good else 'troubled'
    store.count('kronos_weigher_refreshes_total', result=result)
    if shown is None:
        return
    name, scored = 'kronos_weigher_hosts', shown.scored
    neutral = len(shown.rows) - scored
    store.show(
        'weigher',
        [
            Gauge(name, scored, {'state': 'scored'}),
            Gauge(name, neutral, {'state': 'neutral'}),
            Gauge(
                'kronos_weigher_samples_timestamp_seconds', time.time() - age
            ),
        ],
    )


def refresh_failed() -> None:
    """Note a refresh that did not; the samples stay what they are."""
    process.of_process().count(
        'kronos_weigher_refreshes_total', result='failed'
    )


def fault(error: BaseException) -> None:
    """Note what went wrong, in a weighing or beside one."""
    process.of_process().count(
        'kronos_weigher_faults_total', error_type=type(error).__name__
    )
