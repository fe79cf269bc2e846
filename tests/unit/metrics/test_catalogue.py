# SPDX-License-Identifier: Apache-2.0
"""The list of metrics keeps the rules of Prometheus and of its readers."""

from oslotest import base

from kronos.metrics import catalogue, maintenance
from kronos.metrics.metric import PROCESS_LABELS, Kind

LABELS = {
    'error_type', 'file', 'flavor', 'host', 'kind', 'outcome', 'part',
    'phase', 'policy', 'reason', 'result', 'run', 'scope', 'state',
    'strategy', 'version',
}  # fmt: skip
"""All that a label may be about: no instance, project, uuid or free text."""


class CatalogueTestCase(base.BaseTestCase):
    def test_names(self) -> None:
        self.assertEqual(len(catalogue.METRICS), len(catalogue.BY_NAME))
        for row in catalogue.METRICS:
            self.assertRegex(row.name, '^kronos_[a-z_]+$')
            is_counter = row.kind is Kind.COUNTER
            self.assertEqual(is_counter, row.name.endswith('_total'), row)

    def test_histograms_are_in_seconds(self) -> None:
        for row in catalogue.METRICS:
            is_histogram = row.kind is Kind.HISTOGRAM
            self.assertEqual(is_histogram, bool(row.buckets), row)
            self.assertEqual(sorted(set(row.buckets)), [*row.buckets])
            if is_histogram:
                self.assertEqual('seconds', row.unit)

    def test_labels(self) -> None:
        for row in catalogue.METRICS:
            self.assertEqual(set(), {*row.labels} - LABELS, row)
            self.assertFalse({*row.labels} & {*PROCESS_LABELS}, row)
            # A label about a host costs a series each.
            is_of_run = row in maintenance.METRICS
            is_paid = row.per_host or is_of_run
            self.assertLessEqual('host' in row.labels, is_paid, row)
            self.assertLessEqual(row.per_host, 'host' in row.labels, row)
            self.assertEqual('run' in row.labels, is_of_run, row)

    def test_helps_fit_a_line(self) -> None:
        for row in catalogue.METRICS:
            self.assertTrue(row.help[0].isupper() or row.help[0] == '1', row)
            self.assertNotIn('\n', row.help)
            self.assertFalse(row.help.endswith('.'), row)

    def test_units(self) -> None:
        units = {row.name: row.unit for row in catalogue.METRICS}
        self.assertEqual('bytes', units['kronos_migration_bytes_total'])
        self.assertEqual('ratio', units['kronos_effect_ratio'])
        self.assertEqual('', units['kronos_scope_hosts'])
        self.assertEqual(
            'Unix time in seconds',
            units['kronos_weigher_samples_timestamp_seconds'],
        )
