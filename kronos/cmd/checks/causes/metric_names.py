# SPDX-License-Identifier: Apache-2.0
"""The causes of empty answers: a metric that nothing exports, or a window."""

from kronos.clients.prometheus import selectors
from kronos.cmd.checks.cached_clients import OncePrometheus
from kronos.cmd.checks.policies import windows

MOST = 3
"""Metrics of a query that are asked for."""


def remedy(query: str, prometheus: OncePrometheus) -> str:
    """What to do about a query that gives no series.

    :returns: '' if it names no metric
    """
    names = selectors.names(query)[:MOST]
    absent = [name for name in names if not _is_there(name, prometheus)]
    if absent:
        return (
            f'correct the name {absent[0]}, which has no series in '
            'Prometheus, or have its exporter scraped'
        )
    shortest = min(windows(query), default=None)
    if shortest is not None:
        return (
            f'widen its window [{shortest[1]}] to four times the scrape '
            'interval of Prometheus, or correct the labels in its selector'
        )
    if names:
        return f'correct the labels in its selector of {names[0]}'
    return ''


def _is_there(name: str, prometheus: OncePrometheus) -> bool:
    """Whether Prometheus has a metric; True if that is not known."""
    reading = prometheus.instant_query(f'count({name})', '')
    return bool(reading.samples or reading.error)
