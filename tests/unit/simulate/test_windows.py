# SPDX-License-Identifier: Apache-2.0
"""Do windows show what Prometheus would?"""

from typing import Any

import numpy as np
from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.policies.windows import NOW, Window
from kronos.simulate import windows
from kronos.simulate.windows import Windowed

NAN = np.nan


class TestWords(base.BaseTestCase):
    def test_there_and_back(self) -> None:
        for text in (
            'now',
            'avg:3600',
            'max:900',
            'quantile:0.9:3600',
            'predict:3600:900',
        ):
            with self.subTest(text=text):
                self.assertEqual(text, str(windows.parse(text)))

    def test_wrong(self) -> None:
        for text in (
            '',
            'avg',
            'avg:0',
            'avg:-1',
            'avg:nan',
            'avg:1e9',
            'now:5',
            'median:300',
            'quantile:2:300',
            'avg:300:300',
            'predict:300:-5',
        ):
            with self.subTest(text=text):
                error = self.assertRaises(
                    ConfigurationError, windows.parse, text
                )
                self.assertIn('it must be now, avg:SECONDS', str(error))


class TestWindowed(base.BaseTestCase):
    def rows(self, table: list[list[float]], text: str) -> Any:
        windowed = Windowed(np.array(table), windows.parse(text), 300.0)
        return [windowed.at(tick).tolist() for tick in range(len(table))]

    def test_now(self) -> None:
        table = [[1.0, 2.0], [3.0, 4.0]]
        self.assertEqual(table, self.rows(table, 'now'))
        self.assertEqual(table, self.rows(table, 'avg:120'))

    def test_average(self) -> None:
        """Of the samples that there are, as of a server that is new."""
        rows = self.rows([[1.0, NAN], [2.0, 8.0], [6.0, 4.0]], 'avg:600')
        np.testing.assert_allclose(rows, [[1.0, NAN], [1.5, 8.0], [4.0, 6.0]])

    def test_average_with_gaps_between_calls(self) -> None:
        rng = np.random.default_rng(1)
        table = rng.random((60, 5))
        table[rng.random(table.shape) < 0.2] = NAN
        windowed = Windowed(table, Window('avg', 1500.0), 300.0)
        for tick in (0, 1, 3, 4, 9, 10, 30, 31, 20, 59, 59):
            np.testing.assert_allclose(
                windowed.at(tick),
                np.nanmean(table[max(0, tick - 4) : tick + 1], axis=0),
            )

    def test_others(self) -> None:
        rng = np.random.default_rng(2)
        table = rng.random((20, 7))
        table[rng.random(table.shape) < 0.2] = NAN
        table[8:12, 0] = NAN
        for text, function in (
            ('max:1200', lambda rows: np.fmax.reduce(rows)),
            (
                'quantile:0.9:1200',
                lambda rows: np.array(
                    [
                        np.quantile(column[~np.isnan(column)], 0.9)
                        if (~np.isnan(column)).any()
                        else NAN
                        for column in rows.T
                    ]
                ),
            ),
        ):
            windowed = Windowed(table, windows.parse(text), 300.0)
            for tick in (0, 2, 11, 19):
                rows = table[max(0, tick - 3) : tick + 1]
                np.testing.assert_allclose(windowed.at(tick), function(rows))

    def test_prediction(self) -> None:
        table = [[0.0, 5.0, NAN], [1.0, 4.0, NAN], [2.0, 3.0, 7.0]]
        windowed = Windowed(
            np.array(table), windows.parse('predict:900:600'), 300.0
        )
        np.testing.assert_allclose(windowed.at(2), [4.0, 1.0, NAN])

    def test_nothing_below_zero_is_predicted(self) -> None:
        windowed = Windowed(
            np.array([[2.0], [1.0]]), windows.parse('predict:600:900'), 300.0
        )
        self.assertEqual([0.0], windowed.at(1).tolist())

    def test_ticks(self) -> None:
        self.assertEqual(1, windows.ticks_of(NOW, 300.0))
        self.assertEqual(12, windows.ticks_of(Window('avg', 3600.0), 300.0))
