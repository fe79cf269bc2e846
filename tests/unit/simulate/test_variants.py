# SPDX-License-Identifier: Apache-2.0
"""Does a call get the columns that it asks for?"""

from typing import Any

import numpy as np
from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.policies.models import Mode
from kronos.simulate import variants
from kronos.simulate.columns import Column, Kind
from kronos.simulate.variants import BASE, Request
from tests.builders import loads


class VariantsTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.load = loads.load(np.ones((4, 4)), [0, 0, 1, 2], [8.0] * 3)

    def columns(self, **fields: Any) -> list[Column]:
        return variants.columns(self.load, Request(**fields))

    def fault(self, *settings: tuple[str, str]) -> str:
        error = self.assertRaises(
            ConfigurationError, self.columns, settings=[settings]
        )
        return str(error)


class TestColumns(VariantsTestCase):
    def test_always(self) -> None:
        columns = self.columns()
        self.assertEqual(
            [Kind.AS_IT_WAS, Kind.NOTHING, Kind.PLAIN_RULE, Kind.ENGINE],
            [column.kind for column in columns],
        )
        self.assertEqual('as recorded', columns[BASE].name)
        self.assertFalse(columns[BASE].fills)

    def test_settings(self) -> None:
        settings = [
            [('threshold.cpu', '0.3'), ('max_migrations', '7')],
            [('cooldown', '900'), ('interval', '600'), ('boots', 'kronos')],
        ]
        columns = self.columns(settings=settings)
        first, second = (column.audits[0] for column in columns[BASE + 1 :])
        self.assertEqual(0.3, first.policies[0].threshold)
        self.assertEqual(7, first.settings.max_migrations)
        self.assertEqual(900, second.settings.cooldown_seconds)
        self.assertEqual(600, second.interval)
        self.assertEqual(100.0, columns[-1].boots.multiplier)
        self.assertEqual(
            'threshold.cpu=0.3 max_migrations=7', columns[BASE + 1].name
        )
        self.assertEqual(0.15, columns[BASE].audits[0].policies[0].threshold)

    def test_base(self) -> None:
        """What holds for all holds for those that change more."""
        columns = self.columns(
            base=[('interval', '900'), ('failures', '.1')],
            settings=[[('cooldown', '0')]],
        )
        self.assertEqual([900.0] * 5, [c.audits[0].interval for c in columns])
        self.assertEqual(
            [0.0, 0.0, 0.1, 0.1, 0.1], [column.failures for column in columns]
        )

    def test_strategies(self) -> None:
        columns = self.columns(strategies=['pack', 'spread', 'spread,pack'])
        self.assertEqual(
            ['pack', 'spread', 'spread,pack'],
            [column.name for column in columns[BASE:]],
        )
        self.assertTrue(columns[BASE].fills)
        self.assertEqual(
            [Mode.SPREAD, Mode.PACK],
            [audit.policies[0].mode for audit in columns[-1].audits],
        )

    def test_policies(self) -> None:
        other = [loads.policy(threshold=0.4)]
        columns = self.columns(policies=other, compare={'x.yaml': other})
        self.assertEqual('these policies', columns[BASE].name)
        self.assertEqual(['x.yaml'], [c.name for c in columns[BASE + 1 :]])
        self.assertEqual(
            {0.4}, {c.audits[0].policies[0].threshold for c in columns}
        )


class TestWindows(VariantsTestCase):
    def windows(self, *settings: tuple[str, str], **policy: str) -> list[str]:
        policies = [loads.policy(**policy)]
        [audit] = self.columns(policies=policies, base=settings)[BASE].audits
        windows = audit.windows['cpu']
        return [
            str(windows.servers),
            str(windows.hosts),
            str(windows.capacity),
        ]

    def test_of_queries(self) -> None:
        self.assertEqual(
            ['avg:3600', 'avg:1800', 'max:7200'],
            self.windows(
                vm_profile_query='rate(a[1h])',
                imbalance_query='rate(b[30m])',
                capacity_query='max_over_time(c[2h])',
            ),
        )

    def test_of_load(self) -> None:
        """A recording rule tells nobody its window."""
        self.load.meta.policies['cpu'].window = 'avg:900'
        self.load.meta.policies['cpu'].host_window = 'avg:600'
        self.assertEqual(['avg:900', 'avg:600', 'now'], self.windows())

    def test_chosen(self) -> None:
        self.assertEqual(
            ['avg:3600', 'avg:3600', 'now'],
            self.windows(('window.cpu', 'avg:3600')),
        )
        self.assertEqual(
            ['avg:3600', 'None', 'now'],
            self.windows(
                ('host_window.cpu', 'servers'), ('window.cpu', 'avg:3600')
            ),
        )

    def test_in_words(self) -> None:
        columns = self.columns(
            settings=[
                [('window.cpu', 'avg:3600'), ('host_window.cpu', 'servers')],
                [('cooldown', '900')],
            ]
        )
        self.assertEqual(
            [
                'the average of 60 min of cpu and hosts that follow their '
                'servers',
                'cooldown = 900',
            ],
            [column.words for column in columns[BASE + 1 :]],
        )
        self.assertEqual(
            'the policies and options of the load', columns[BASE].words
        )
        columns = self.columns(strategies=['spread', 'spread,pack'])
        self.assertEqual(
            ['', '', '', 'strategy spread', 'strategies spread and pack'],
            [column.words for column in columns],
        )

    def test_one_window_of_several_policies(self) -> None:
        policies = [loads.policy(weight=0.5), loads.policy('ram', weight=0.5)]
        self.load = loads.load(
            np.ones((4, 4)), [0, 0, 1, 2], [8.0] * 3, policies
        )
        columns = self.columns(
            settings=[[('window.cpu', 'avg:600'), ('window.ram', 'avg:600')]]
        )
        self.assertEqual(
            'the average of 10 min of cpu and ram', columns[-1].words
        )


class TestFaults(VariantsTestCase):
    def test_settings(self) -> None:
        for name, text, words in (
            ('window.ram', 'now', 'no usage by policy "ram"'),
            ('window.cpu', 'servers', 'window.cpu=servers: the window must'),
            ('host_window.cpu', 'server', 'or servers'),
            ('mode', 'pack', '--strategy'),
            ('interval', '0', 'a number from 1 to 604800'),
            ('interval', 'inf', 'a number from 1'),
            ('max_migrations', '1.5', 'a whole number from 1'),
            ('failures', '2', 'from 0 to 1'),
            ('boots', 'somewhere', 'one of recorded, nova, kronos'),
            ('cooldwn', '1', 'did you mean cooldown'),
            ('threshold.cpu', '7', 'threshold'),
        ):
            with self.subTest(name=name, text=text):
                self.assertIn(words, self.fault((name, text)))

    def test_strategy(self) -> None:
        error = self.assertRaises(
            ConfigurationError, self.columns, strategies=['recover']
        )
        self.assertIn('one of spread, pack', str(error))
        for names, words in (
            ('spread,', 'no strategy is called ""'),
            ('spread,spread', 'a strategy is there twice'),
        ):
            error = self.assertRaises(
                ConfigurationError, self.columns, strategies=[names]
            )
            self.assertIn(words, str(error))

    def test_policy_without_usage(self) -> None:
        error = self.assertRaises(
            ConfigurationError, self.columns, policies=[loads.policy('ram')]
        )
        self.assertIn('the load has no usage for it', str(error))
