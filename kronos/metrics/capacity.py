# SPDX-License-Identifier: Apache-2.0
"""The metrics of slots, for the list."""

from kronos.metrics import metric
from kronos.metrics.metric import Source

_LABELS = ('scope', 'flavor')
METRICS = (
    metric.gauge(
        Source.DECISION_ENGINE,
        'kronos_slots',
        'New servers of the flavor that fit into the scope, by the flavors '
        'of watched_flavors',
        *_LABELS,
    ),
    metric.gauge(
        Source.DECISION_ENGINE,
        'kronos_pooled_slots',
        'The same number if the free capacity of all hosts were on one host',
        *_LABELS,
    ),
)
