# SPDX-License-Identifier: Apache-2.0
"""Metrics are off unless a directory is named."""

from oslo_config import cfg
from oslotest import base

from kronos.conf import metrics
from kronos.metrics.process import Settings


class MetricsOptsTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.conf = cfg.ConfigOpts()
        self.conf.register_opts(metrics.OPTS, metrics.GROUP)
        self.conf([])

    def test_defaults(self) -> None:
        settings = Settings.of(self.conf.kronos_metrics)
        self.assertEqual(Settings('', 15, False, 3600), settings)

    def test_limits(self) -> None:
        for name, value in (('interval', 0.5), ('scope_ttl', 10)):
            self.assertRaises(
                ValueError,
                self.conf.set_override,
                name,
                value,
                metrics.GROUP,
            )
