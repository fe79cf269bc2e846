# SPDX-License-Identifier: Apache-2.0
"""Is what an operator configured what planning goes by?"""

import dataclasses

from oslo_config import cfg
from oslotest import base

from kronos.conf import opts
from kronos.engine.settings import PlanMode, Settings, SoftRules, SwapMoves
from kronos.extensions.recovery.options import RecoveryOptions
from kronos.snapshots import settings_from_conf


class TestSettings(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.conf = cfg.ConfigOpts()
        opts.register_opts(self.conf)
        self.conf([], default_config_files=[], default_config_dirs=[])

    def set(self, **values: object) -> None:
        for name, value in values.items():
            self.conf.set_override(name, value, 'kronos')

    def test_of_each_option_the_field(self) -> None:
        self.set(cooldown=7, soft_rules='penalty', check_disk=True)
        found = settings_from_conf.settings_of(self.conf.kronos)
        self.assertEqual(
            (7, SoftRules.PENALTY, True),
            (found.cooldown_seconds, found.soft_rules, found.check_disk),
        )
        self.set(restart_servers=True)
        found = settings_from_conf.settings_of(self.conf.kronos)
        self.assertEqual(
            RecoveryOptions(restart_servers=True),
            found.options(RecoveryOptions),
        )

    def test_what_nobody_configured(self) -> None:
        self.assertEqual(
            settings_from_conf.settings_of(self.conf.kronos),
            settings_from_conf.default_settings(),
        )
        self.assertEqual(2, settings_from_conf.default_concurrency())

    def test_scopes(self) -> None:
        self.set(aggregates=['a', 'b'], include_unassigned_hosts=True)
        found = settings_from_conf.request_of(self.conf.kronos)
        self.assertEqual(
            (['a', 'b'], True), (found.aggregates, found.include_unassigned)
        )


class TestAsk(base.BaseTestCase):
    def test_only_what_is_asked_for(self) -> None:
        """The mode decides the rest, by what is configured."""
        configured = Settings(evacuate=True, restrict_to_az=True)
        settings = Settings(max_migrations=3)
        settings_from_conf.ask(
            settings, configured, None, max_migrations=None, evacuate=False
        )
        self.assertEqual(Settings(max_migrations=3), settings)
        settings_from_conf.ask(settings, configured, PlanMode.SPREAD)
        self.assertTrue(settings.evacuate)
        self.assertFalse(settings.restrict_to_az)
        settings_from_conf.ask(
            settings,
            configured,
            PlanMode.SPREAD,
            max_migrations=7,
            restrict_to_az=True,
            evacuate=False,
        )
        self.assertEqual(
            (7, True, False),
            (
                settings.max_migrations,
                settings.restrict_to_az,
                settings.evacuate,
            ),
        )


class TestUnderstood(base.BaseTestCase):
    def test_values(self) -> None:
        for option, text, value in (
            ('keep_hosts', '3', 3),
            ('restrict_to_az', 'true', True),
            ('swap_moves', 'any', SwapMoves.ANY),
            ('allowed_extra_specs', 'a, b', ['a', 'b']),
            ('min_host_coverage', '0.5', 0.5),
            ('partial_answers', 'skip', 'skip'),
            ('max_closed_hosts', '2', 2),
        ):
            self.assertEqual(
                value, settings_from_conf.understood(option, text)
            )

    def test_set_for_one_copy(self) -> None:
        """Those of an extension, too."""
        first = settings_from_conf.default_settings()
        second = dataclasses.replace(first)
        for option, text in (
            ('keep_hosts', '3'),
            ('max_closed_hosts', '2'),
            ('restart_servers', 'true'),
        ):
            settings_from_conf.override(second, option, text)
        self.assertEqual(settings_from_conf.default_settings(), first)
        self.assertEqual(3, second.keep_hosts)
        self.assertEqual([RecoveryOptions(2, True)], second.beside)
        settings_from_conf.override(second, 'max_closed_hosts', '1')
        settings_from_conf.override(second, 'restart_servers', 'false')
        self.assertEqual([], second.beside)

    def test_what_is_none(self) -> None:
        for option, text in (
            ('keep_hosts', 'many'),
            ('keep_hosts', ''),
            ('min_host_coverage', '1.5'),
            ('min_host_coverage', 'nan'),
            ('swap_moves', 'sometimes'),
        ):
            self.assertRaises(
                ValueError, settings_from_conf.understood, option, text
            )

    def test_an_option_of_no_plan(self) -> None:
        for option in ('policies_file', 'nonsense'):
            self.assertRaises(
                KeyError, settings_from_conf.understood, option, '1'
            )


class TestFaults(base.BaseTestCase):
    def fault(self, **more: object) -> str:
        settings = settings_from_conf.default_settings()
        return settings_from_conf.fault_of(
            dataclasses.replace(settings, **more)  # type: ignore
        )

    def test_what_no_configuration_says(self) -> None:
        self.assertEqual('', self.fault())
        for more, text in (
            ({'min_host_coverage': 1.5}, 'min_host_coverage: must be at most'),
            ({'keep_hosts': 0}, 'keep_hosts: must be at least 1'),
            (
                {'beside': [RecoveryOptions(max_closed_hosts=-1)]},
                'max_closed_hosts: must be at least 0',
            ),
            ({'max_migrations': 0}, 'max_migrations: must be at least 1'),
            ({'rebalance': False}, 'rebalance: it contains no phase'),
        ):
            self.assertIn(text, self.fault(**more))
