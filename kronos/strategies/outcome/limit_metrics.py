# SPDX-License-Identifier: Apache-2.0
"""The metrics of what limits a plan: window, disruption budgets, consent.

They are sums over a scope, for no label holds a project or a server.
"""

from collections import Counter
from collections.abc import Iterator

from kronos.engine.types import AggregateResult
from kronos.metrics.store import Gauge


def of_scope(scope: AggregateResult) -> Iterator[Gauge]:
    """Those of one scope, after its plan."""
    own = {'scope': scope.name}
    window = scope.window
    is_open = window is None or window.is_open
    yield Gauge('kronos_scope_window_open', is_open, own)
    if window is not None and window.changes_at is not None:
        name = 'kronos_scope_window_change_timestamp_seconds'
        yield Gauge(name, window.changes_at, own)
    for budget in scope.budgets:
        labels = {**own, 'kind': budget.kind}
        yield Gauge('kronos_scope_budget_used_moves', budget.used, labels)
        yield Gauge('kronos_scope_budget_free_moves', budget.free, labels)
    servers: Counter[str] = Counter()
    for consent in scope.consents:
        servers[consent.kind] += consent.instances
    for kind, number in servers.items():
        yield Gauge('kronos_scope_consents', number, {**own, 'kind': kind})
