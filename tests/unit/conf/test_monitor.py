# SPDX-License-Identifier: Apache-2.0
"""The options of the monitor: each with help, and those of a sink by name."""

from oslo_config import cfg
from oslotest import base

from kronos.conf import monitor


class TestOptions(base.BaseTestCase):
    def test_every_option_has_help(self) -> None:
        for group, opts in monitor.list_opts():
            for opt in opts:
                self.assertTrue(opt.help, f'[{group}] {opt.name}')
                self.assertTrue(opt.help.endswith('.'), opt.name)

    def test_secrets_are_secret(self) -> None:
        secret = {
            opt.name
            for _, opts in monitor.list_opts()
            for opt in opts
            if opt.secret
        }
        self.assertEqual({'url'}, secret)

    def test_a_sink(self) -> None:
        """Its own driver has its options; one that is unknown has few."""
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[], default_config_dirs=[])
        monitor.register_opts(conf)
        self.assertEqual('webhook', monitor.register_sink(conf, 'webhook'))
        self.assertIsNone(conf.kronos_monitor_webhook.url)
        self.assertEqual('pager', monitor.register_sink(conf, 'pager'))
        self.assertEqual(10, conf.kronos_monitor_pager.timeout)
