# SPDX-License-Identifier: Apache-2.0
"""A metric is declared with all that is written and documented of it."""

from oslotest import base

from kronos.metrics import metric
from kronos.metrics.metric import Kind, Source


class MetricTestCase(base.BaseTestCase):
    def test_a_unit_is_the_end_of_a_name(self) -> None:
        for name, unit in (
            ('kronos_a_seconds_total', 'seconds'),
            ('kronos_a_timestamp_seconds', 'Unix time in seconds'),
            ('kronos_a_ratio', 'ratio'),
            ('kronos_ratios', ''),
        ):
            row = metric.gauge(Source.APPLIER, name, 'A')
            self.assertEqual(unit, row.unit, name)

    def test_kinds(self) -> None:
        row = metric.histogram(
            Source.APPLIER, 'kronos_a_seconds', 'A', (1.0, 2.0), 'scope'
        )
        self.assertEqual(Kind.HISTOGRAM, row.kind)
        self.assertEqual((('scope',), (1.0, 2.0)), (row.labels, row.buckets))
        row = metric.counter(Source.APPLIER, 'kronos_a_total', 'A')
        self.assertEqual((Kind.COUNTER, ()), (row.kind, row.labels))
