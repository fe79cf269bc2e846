# SPDX-License-Identifier: Apache-2.0
"""Which window forecasts best, on loads of which that is known?"""

import numpy as np
from oslotest import base

from kronos.policies.windows import NOW, Window
from kronos.simulate.outcome import forecast

HOUR = Window('avg', 3600.0)


class TestErrors(base.BaseTestCase):
    def test_noise(self) -> None:
        """The longer, the better, if only means differ."""
        rng = np.random.default_rng(1)
        usage = rng.lognormal(0, 0.5, (300, 40)) * rng.random(40)
        errors = forecast.errors(usage, 300.0)
        self.assertLess(errors[HOUR], 0.6 * errors[NOW])

    def test_slow_wave(self) -> None:
        """The moment says most, where load changes slowly."""
        time = np.arange(300)[:, None]
        usage = 2 + np.sin(2 * np.pi * (time / 96 + np.arange(40) / 40))
        errors = forecast.errors(usage, 300.0)
        self.assertLess(errors[NOW], errors[HOUR])

    def test_steady(self) -> None:
        errors = forecast.errors(np.ones((100, 3)), 300.0)
        self.assertEqual({0.0}, set(errors.values()))

    def test_short_load(self) -> None:
        """Windows that are longer than the load are not judged."""
        errors = forecast.errors(np.ones((15, 3)), 300.0)
        self.assertEqual(
            [NOW, Window('avg', 900.0), Window('avg', 1800.0)], list(errors)
        )

    def test_the_same_moments(self) -> None:
        """What only short windows could be judged by counts for none."""
        rng = np.random.default_rng(1)
        usage = rng.lognormal(0, 0.1, (200, 40))
        usage[:40] = rng.lognormal(0, 2.0, (40, 40))
        four_hours = Window('avg', 14400.0)
        later, usual = (
            forecast.errors(table, 300.0, [NOW, HOUR, four_hours])
            for table in (usage[40:], usage)
        )
        self.assertAlmostEqual(later[NOW], usual[NOW], 1)
        self.assertLess(usual[NOW], 0.2)

    def test_births(self) -> None:
        usage = np.ones((60, 3))
        usage[:30, 0] = np.nan
        usage[:, 1] = np.nan
        self.assertEqual(0.0, forecast.errors(usage, 300.0)[NOW])

    def test_nothing_known(self) -> None:
        usage = np.full((60, 3), np.nan)
        self.assertEqual({}, forecast.errors(usage, 300.0))


class TestBest(base.BaseTestCase):
    def test_the_shortest_of_good_ones(self) -> None:
        long = Window('avg', 14400.0)
        errors = {NOW: 0.37, HOUR: 0.19, long: 0.184}
        self.assertEqual(HOUR, forecast.best(errors))
        self.assertEqual(long, forecast.best(errors | {HOUR: 0.2}))
