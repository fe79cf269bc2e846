# SPDX-License-Identifier: Apache-2.0
"""The metrics of windows, disruption budgets and consent, for the list."""

from kronos.metrics import metric
from kronos.metrics.metric import Metric, Source


def _of_scope(name: str, text: str, *labels: str) -> Metric:
    return metric.gauge(Source.DECISION_ENGINE, name, text, 'scope', *labels)


METRICS = (
    _of_scope('kronos_scope_window_open', '1 if its window is open, else 0'),
    _of_scope(
        'kronos_scope_window_change_timestamp_seconds',
        'Time at which its window opens or closes next; no series if it has '
        'no window, or never changes',
    ),
    _of_scope(
        'kronos_scope_budget_used_moves',
        'Moves that use up the disruption budgets of its servers, by kind of '
        'budget: project, group or instance',
        'kind',
    ),
    _of_scope(
        'kronos_scope_budget_free_moves',
        'Moves that these budgets have left, summed, by kind of budget',
        'kind',
    ),
    _of_scope(
        'kronos_scope_consents',
        'Servers whose owners have set a consent that counts, by kind: any, '
        'window, drain, never or unknown',
        'kind',
    ),
)
