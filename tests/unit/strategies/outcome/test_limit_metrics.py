# SPDX-License-Identifier: Apache-2.0
"""An audit shows what limits its plans, without a project or a server."""

from kronos.engine.settings import Settings
from kronos.engine.types import AggregateResult, CycleReport, ScopeWindow
from kronos.strategies.outcome import audit_metrics
from tests.builders import limited
from tests.unit.metrics import measured
from tests.unit.strategies.outcome import test_status_messages


class TestLimitMetrics(measured.MeasuredTestCase):
    def planned(self, scope: AggregateResult) -> None:
        audit_metrics.planned(CycleReport([scope]), [], Settings(), {})

    def scope_values(self, name: str) -> dict[tuple[str, ...], float]:
        return self.values(f'kronos_scope_{name}')

    def test_all(self) -> None:
        self.planned(limited.scope())
        for name, values in (
            ('window_open', {('agg',): 1}),
            (
                'window_change_timestamp_seconds',
                {('agg',): limited.NOW + 7200},
            ),
            (
                'budget_used_moves',
                {('agg', 'project'): 1, ('agg', 'group'): 0},
            ),
            (
                'budget_free_moves',
                {('agg', 'project'): 3, ('agg', 'group'): 1},
            ),
            ('consents', {('agg', 'unknown'): 1, ('agg', 'drain'): 1}),
        ):
            self.assertEqual(values, self.scope_values(name), name)

    def test_nothing_is_set(self) -> None:
        self.planned(test_status_messages.scope())
        self.assertEqual({('alpha',): 1}, self.scope_values('window_open'))
        for name in (
            'window_change_timestamp_seconds',
            'budget_used_moves',
            'budget_free_moves',
            'consents',
        ):
            self.assertEqual({}, self.scope_values(name), name)

    def test_a_window_that_never_opens(self) -> None:
        self.planned(test_status_messages.scope(window=ScopeWindow(False)))
        self.assertEqual({('alpha',): 0}, self.scope_values('window_open'))
        name = 'window_change_timestamp_seconds'
        self.assertEqual({}, self.scope_values(name))
