# SPDX-License-Identifier: Apache-2.0
"""The options of the monitor: each with help, and those of a sink by name."""

from oslo_config import cfg
from oslotest import base

from kronos.conf import monitor


class TestOptions(base.BaseTestCase):
    def test_every_option_has_help(self) -> None:
        for group, opts in monitor.list_opts():
            theirs = {one.dest for one in monitor.credentials('')}
            for opt in opts:
                self.assertTrue(opt.help, f'[{group}] {opt.name}')
                if opt.dest not in theirs:
                    self.assertTrue(opt.help.endswith('.'), opt.name)

    def test_secrets_are_secret(self) -> None:
        secret = {
            opt.name
            for _, opts in monitor.list_opts()
            for opt in opts
            if opt.secret
        }
        self.assertEqual({'url', 'password'}, secret)

    def test_a_sink(self) -> None:
        """Its own driver has its options; one that is unknown has few."""
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[], default_config_dirs=[])
        monitor.register_opts(conf)
        self.assertEqual('webhook', monitor.driver_of(conf, 'webhook'))
        monitor.register_sink(conf, 'webhook', 'webhook')
        self.assertIsNone(conf.kronos_monitor_webhook.url)
        self.assertEqual('pager', monitor.driver_of(conf, 'pager'))
        monitor.register_sink(conf, 'pager', 'pager')
        self.assertEqual(10, conf.kronos_monitor_pager.timeout)

    def test_credentials(self) -> None:
        """Those of the plugin; none is there twice."""
        for auth_type, wanted in (
            ('', 'password'),
            ('unknown', 'password'),
            ('v3applicationcredential', 'application_credential_secret'),
        ):
            found = [
                one.dest for one in monitor.opts_of('masakari', auth_type)
            ]
            self.assertIn(wanted, found)
            self.assertEqual(sorted({*found}), sorted(found))
