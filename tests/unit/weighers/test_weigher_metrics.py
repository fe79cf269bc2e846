# SPDX-License-Identifier: Apache-2.0
"""Weighings and refreshes are counted by what came of them."""

from kronos.weighers import weigher_metrics
from tests.unit.metrics import measured


class Shown:
    rows = dict.fromkeys(('h1', 'h2', 'h3'))
    scored = 2

    def __init__(self, *troubles: str) -> None:
        self.troubles = list(troubles)


class WeigherMetricsTestCase(measured.MeasuredTestCase):
    def test_weighings(self) -> None:
        weigher_metrics.Weighing().done([0.0, 0.5])
        weigher_metrics.Weighing().done([0.0, 0.0])
        weigher_metrics.Weighing().failed()
        self.assertEqual(
            {('scored',): 1.0, ('neutral',): 1.0, ('failed',): 1.0},
            self.values('kronos_weighings_total'),
        )
        seconds = self.values('kronos_weighing_seconds')[()]
        self.assertEqual(3.0, sum(seconds.counts))

    def test_faults(self) -> None:
        weigher_metrics.fault(KeyError('s3cret'))
        weigher_metrics.fault(OSError('s3cret'))
        weigher_metrics.fault(KeyError('other'))
        self.assertEqual(
            {('KeyError',): 2.0, ('OSError',): 1.0},
            self.values('kronos_weigher_faults_total'),
        )

    def test_refreshes(self) -> None:
        weigher_metrics.refreshed(None, 0.0)
        weigher_metrics.refreshed(Shown('cpu: no sample'), 0.0)
        weigher_metrics.refreshed(Shown(), 0.0)
        newest = self.values('kronos_weigher_samples_timestamp_seconds')
        weigher_metrics.refresh_failed()
        self.assertEqual(
            {('good',): 1.0, ('troubled',): 2.0, ('failed',): 1.0},
            self.values('kronos_weigher_refreshes_total'),
        )
        self.assertEqual(
            {('scored',): 2.0, ('neutral',): 1.0},
            self.values('kronos_weigher_hosts'),
        )
        # What is in use is still the same.
        self.assertEqual(
            newest, self.values('kronos_weigher_samples_timestamp_seconds')
        )
