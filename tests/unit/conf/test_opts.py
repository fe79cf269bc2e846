# SPDX-License-Identifier: Apache-2.0
"""The options: registered anywhere, with the defaults that were decided."""

import contextlib
import io
import logging

import fixtures
from oslo_config import cfg, generator
from oslo_reports.generators import conf as conf_generator
from oslotest import base

from kronos.conf import opts as conf_opts


def conf(*lines):
    """A configuration as a process has it that loads Kronos."""
    found = cfg.ConfigOpts()
    conf_opts.register_opts(found)
    found(list(lines), default_config_files=[], default_config_dirs=[])
    return found


class TestRegister(base.BaseTestCase):
    def test_again_changes_nothing(self):
        found = conf()
        found.set_override('cooldown', 7, 'kronos')
        conf_opts.register_opts(found)
        self.assertEqual(7, found.kronos.cooldown)

    def test_after_the_files_were_read(self):
        """As in a scheduler, which loads its weighers late."""
        found = cfg.ConfigOpts()
        found([], default_config_files=[], default_config_dirs=[])
        conf_opts.register_opts(found)
        self.assertEqual(600, found.kronos.cooldown)


class TestSwapMoves(base.BaseTestCase):
    def test_a_choice_or_what_was_a_flag(self):
        found = conf()
        self.assertEqual('safe', found.kronos.swap_moves)
        for text, expected in (
            ('any', 'any'),
            ('ANY', 'any'),
            ('none', 'none'),
            ('True', 'safe'),
            ('yes', 'safe'),
            ('off', 'none'),
            (False, 'none'),
        ):
            found.set_override('swap_moves', text, 'kronos')
            self.assertEqual(expected, found.kronos.swap_moves, text)
        self.assertRaises(
            ValueError, found.set_override, 'swap_moves', 'some', 'kronos'
        )


class TestDefaults(base.BaseTestCase):
    def test_of_kronos(self):
        """What an operator gets who sets nothing."""
        found = conf().kronos
        for name, value in {
            'policies_file': '/etc/kronos/policies.yaml',
            'aggregates': [],
            'include_unassigned_hosts': False,
            'hypervisor_types': ['QEMU', 'KVM'],
            'restrict_to_az': False,
            'require_all_policies': False,
            'min_host_coverage': 0.9,
            'host_match': 'exact',
            'partial_answers': 'warn',
            'check_disk': False,
            'cooldown': 600,
            'evacuate_disabled_hosts': False,
            'drain_may_exceed_threshold': False,
            'enforce_hard_affinity': False,
            'enforce_soft_affinity': False,
            'soft_rules': 'veto',
            'soft_rule_penalty': 0.05,
            'pack_partial_drains': False,
            'keep_hosts': 1,
            'headroom_hosts': 0,
            'instance_cooldown': 21600,
            'instance_quarantine_seconds': 3600,
            'return_guard': 86400,
            'cell_source': 'metadata',
            'pack_policies_file': None,
            'report_dir': None,
            'report_keep': 100,
            'report_html': False,
            'record_dir': None,
            'record_keep': 100,
            'record_max_age': 30,
            'max_concurrent_migrations': 2,
            'migration_timeout': 600,
            'queue_timeout': 1800,
            'migration_poll_interval': 5,
        }.items():
            self.assertEqual(value, found[name], name)

    def test_of_prometheus(self):
        found = conf().kronos_prometheus
        for name, value in {
            'url': None,
            'timeout': 30,
            'max_retries': 3,
            'retry_backoff': 1,
            'staleness_threshold': 300,
            'bearer_token': None,
            'password': None,
            'headers': [],
        }.items():
            self.assertEqual(value, found[name], name)

    def test_limits(self):
        for group, name, value in [
            ('kronos', 'min_host_coverage', 1.1),
            ('kronos', 'min_host_coverage', -0.1),
            ('kronos', 'host_match', 'regex'),
            ('kronos', 'partial_answers', 'maybe'),
            ('kronos', 'cooldown', -1),
            ('kronos', 'tie_break', 'chance'),
            ('kronos', 'soft_rules', 'never'),
            ('kronos', 'instance_quarantine_seconds', -2),
            ('kronos', 'keep_hosts', 0),
            ('kronos', 'report_keep', 0),
            ('kronos', 'cell_source', 'name'),
            ('kronos', 'max_concurrent_migrations', 0),
            ('kronos_prometheus', 'url', 'ftp://host'),
            ('kronos_prometheus', 'timeout', 0),
            ('kronos_prometheus', 'interface', 'private'),
        ]:
            found = conf()
            self.assertRaises(
                ValueError, found.set_override, name, value, group
            )


class TestHelp(base.BaseTestCase):
    def test_secrets_are_secret(self):
        """They never reach a log: oslo.config prints them as ****."""
        secret = {
            opt.dest
            for _, opts in conf_opts.list_opts()
            for opt in opts
            if opt.secret
        }
        self.assertEqual(
            {
                'bearer_token',
                'headers',
                'maintenance_webhook_url',
                'password',
                'proxy',
                'url',
            },
            secret,
        )

    def test_every_option_has_help(self):
        for group, opts in conf_opts.list_opts():
            for opt in opts:
                self.assertTrue(opt.help, f'[{group}] {opt.name}')

    def test_generator_prints_what_the_commands_need(self):
        """oslo-config-generator --namespace kronos.credentials."""
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            generator.main(['--namespace', 'kronos.credentials'])
        lines = text.getvalue().splitlines()
        for line in (
            '[nova]',
            '#auth_type = <None>',
            '#auth_url = <None>',
            '#password = <None>',
            '#region_name = <None>',
            '[placement]',
        ):
            self.assertIn(line, lines)

    def test_generator_prints_both_groups(self):
        """oslo-config-generator --namespace kronos."""
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            generator.main(['--namespace', 'kronos'])
        lines = text.getvalue().splitlines()
        for group, opts in conf_opts.list_opts():
            self.assertIn(f'[{group}]', lines)
            for opt in opts:
                known = [
                    one for one in lines if one.startswith(f'#{opt.dest} =')
                ]
                self.assertNotEqual([], known, opt.dest)


class TestSecrets(base.BaseTestCase):
    """What a service logs of its options, and shows at a signal."""

    SECRETS = ('joe', 'hunter2', 'tok3n', 'pa55word', 't3nant')

    def setUp(self):
        super().setUp()
        self.conf = conf()
        for name, value in {
            'url': 'https://joe:hunter2@prom.example.org:9090/x',
            'bearer_token': 'tok3n',
            'password': 'pa55word',
            'headers': ['X-Scope-OrgID: t3nant'],
        }.items():
            self.conf.set_override(name, value, 'kronos_prometheus')

    def check(self, text):
        self.assertIn('staleness_threshold', text)
        for secret in self.SECRETS:
            self.assertNotIn(secret, text)

    def test_option_log(self):
        log = self.useFixture(fixtures.FakeLogger(level=logging.DEBUG))
        self.conf.log_opt_values(logging.getLogger(), logging.DEBUG)
        self.check(log.output)

    def test_guru_meditation_report(self):
        report = conf_generator.ConfigReportGenerator(self.conf)()
        report.set_current_view_type('text')
        self.check(str(report))
