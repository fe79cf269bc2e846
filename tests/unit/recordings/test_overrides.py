# SPDX-License-Identifier: Apache-2.0
"""Is an override taken, or refused with all that is wrong?"""

from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.engine.settings import Settings, TieBreak
from kronos.policies.models import Fallback
from kronos.recordings import overrides
from tests.builders import recordings


class TestPolicies(base.BaseTestCase):
    def test_fields_of_each_kind(self) -> None:
        known = recordings.policies()
        found = overrides.policies(
            known,
            {
                'threshold.cpu': '0.25',
                'enabled.net': 'false',
                'metrics_window.net': '900',
                'capacity_query.net': '5',
                'max_migrations_per_cycle.ram': '7',
                'imbalance_query.ram': '5',
                'vm_profile_fallback.cpu': 'host_average',
                'keep_hosts': '2',
            },
        )
        cpu, ram, net = found
        self.assertEqual(0.25, cpu.threshold)
        self.assertIs(Fallback.HOST_AVERAGE, cpu.vm_profile_fallback)
        self.assertEqual(
            (7, '5'), (ram.max_migrations_per_cycle, ram.imbalance_query)
        )
        self.assertFalse(net.enabled)
        self.assertEqual((900, '5'), (net.metrics_window, net.capacity_query))
        self.assertEqual(recordings.policies(), known)

    def test_none(self) -> None:
        known = recordings.policies()
        self.assertEqual(known, overrides.policies(known, {'keep_hosts': '2'}))

    def test_values_are_judged_as_a_file_is(self) -> None:
        for name, text, words in (
            ('threshold.cpu', '7', 'must be a number from 0 to 1'),
            ('weight.cpu', '0.1', 'must sum to 1'),
            ('imbalance_query.cpu', '', 'must be a non-empty PromQL query'),
        ):
            with self.subTest(name=name):
                error = self.assertRaises(
                    ConfigurationError,
                    overrides.policies,
                    recordings.policies(),
                    {name: text},
                )
                self.assertIn(words, str(error))
                self.assertIn(f'with {name}={text}', str(error))


class TestSettings(base.BaseTestCase):
    def test_by_the_name_of_the_option(self) -> None:
        settings = Settings()
        overrides.apply(
            settings,
            {
                'cooldown': '60',
                'tie_break': 'first',
                'allowed_extra_specs': 'a,b',
                'threshold.cpu': '0.5',
            },
        )
        self.assertEqual(
            Settings(
                cooldown_seconds=60,
                tie_break=TieBreak.FIRST,
                allowed_extra_specs=['a', 'b'],
            ),
            settings,
        )


class TestRequireSense(base.BaseTestCase):
    def test_all_that_is_wrong_at_once(self) -> None:
        error = self.assertRaises(
            ConfigurationError,
            overrides.require_sense,
            recordings.policies(),
            {
                'threshold.gpu': '1',
                'treshold.cpu': '1',
                'keep_host': '1',
                'keep_hosts': '0',
                'threshold.cpu': 'judged later',
            },
        )
        for words in (
            'threshold.gpu: there is no policy "gpu"',
            'treshold.cpu: a policy has no field "treshold"; did you mean '
            'threshold?',
            'keep_host: neither an option of [kronos]',
            'did you mean keep_hosts?',
            'keep_hosts=0: ',
        ):
            self.assertIn(words, str(error))
        self.assertNotIn('judged later', str(error))

    def test_a_field_without_its_policy(self) -> None:
        """The policies are known, so each is named."""
        for name in ('threshold', 'treshold'):
            error = self.assertRaises(
                ConfigurationError,
                overrides.require_sense,
                recordings.policies(),
                {name: '0.2'},
            )
            names = [f'threshold.{p.name}' for p in recordings.policies()]
            for text in ('did you mean threshold.', *names):
                self.assertIn(text, str(error))
            self.assertNotIn('allowed_extra_specs', str(error))

    def test_a_duration(self) -> None:
        error = self.assertRaises(
            ConfigurationError,
            overrides.require_sense,
            recordings.policies(),
            {'cooldown': '5m'},
        )
        self.assertIn('of seconds: write 300', str(error))

    def test_sense(self) -> None:
        overrides.require_sense(
            recordings.policies(),
            {'threshold.cpu': '0.1', 'keep_hosts': '2'},
        )
