# SPDX-License-Identifier: Apache-2.0
"""The options of recovery, as they come."""

from oslotest import base

from kronos.extensions.recovery import conf
from kronos.extensions.recovery.readings.failures import FailureQueries
from tests.unit.strategies import declared


class RecoveryTestCase(base.BaseTestCase):
    def test_as_they_come(self) -> None:
        kronos = declared.kronos()
        self.assertEqual(1, kronos.max_closed_hosts)
        self.assertEqual(
            FailureQueries(conf.HOST_FAULT_QUERY, conf.SERVER_FAULT_QUERY),
            FailureQueries.of(kronos),
        )

    def test_each_server_counts_once(self) -> None:
        """Two Prometheus servers that scrape one agent make no two faults."""
        self.assertIn('count by (host, instance_uuid)', conf.HOST_FAULT_QUERY)
