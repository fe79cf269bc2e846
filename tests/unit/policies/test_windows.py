# SPDX-License-Identifier: Apache-2.0
"""How far do queries look back, and what of a move do they show?"""

from oslotest import base

from kronos.policies import windows
from kronos.policies.windows import Window

IDLE = 'rate(node_cpu_seconds_total{mode="idle"}[2m])'


class TestWords(base.BaseTestCase):
    def test_as_queries(self) -> None:
        for window in (
            Window(),
            Window('avg', 3600.0),
            Window('max', 900.0),
            Window('quantile', 3600.0, 0.9),
            Window('predict', 3600.0, 900.0),
        ):
            self.assertEqual(window, windows.of_query(window.query))

    def test_for_people(self) -> None:
        self.assertEqual('the average of 60 min', Window('avg', 3600.0).words)


class TestQueries(base.BaseTestCase):
    def test_by_word(self) -> None:
        for query, text in (
            ('up', 'now'),
            ('rate(x[30m])', 'avg:1800'),
            ('sum by (h) (irate(x{a="[1h]"}[5m]))', 'now'),
            ('avg_over_time((sum by (i) (rate(x[5m])))[1h:5m])', 'avg:3600'),
            ('clamp(max_over_time(x[1h30m]), 0, 1)', 'max:5400'),
            ('quantile_over_time(0.9, x[1h:])', 'quantile:0.9:3600'),
            ('predict_linear(x[1h], 900)', 'predict:3600:900'),
            (
                'predict_linear(rate(x[5m])[1h:1m], 15 * 60)',
                'predict:3600:900',
            ),
            ('last_over_time(x[2h])', 'now'),
            ('# rate(x[1h])\nup', 'now'),
            ('rate(x[2m]) / rate(y[15m])', 'avg:900'),
            ('((((', 'now'),
            (')]}rate(x[5m])', 'avg:300'),
        ):
            with self.subTest(query=query):
                self.assertEqual(text, str(windows.of_query(query)))

    def test_window(self) -> None:
        for query, expected in (
            ('up', Window()),
            (f'1 - sum by (instance) ({IDLE})', Window('avg', 120.0)),
            (
                f'label_replace(max_over_time((1 - {IDLE})[1h:1m]), '
                '"host", "$1", "instance", "([^:]+)(:[0-9]+)?")',
                Window('max', 3600.0),
            ),
            ('avg_over_time(x[1h30m])', Window('avg', 5400.0)),
            ('quantile_over_time(.9, x[1h])', Window('quantile', 3600.0, 0.9)),
            ('predict_linear(x[1h], 900)', Window('predict', 3600.0, 900.0)),
            ('irate(x[5m])', Window()),
            ('x{label="rate(y[1h])"} # rate(z[1h])', Window()),
            ('rate(x[0s])', Window()),
            ('rate(x[', Window()),
            ('rate(x[2y])', Window('avg', windows.LONGEST)),
        ):
            self.assertEqual(expected, windows.of_query(query), query)

    def test_the_widest(self) -> None:
        query = 'avg_over_time(x[10m]) + max_over_time(y[1h]) + rate(z[2m])'
        self.assertEqual(Window('max', 3600.0), windows.of_query(query))


class TestMoves(base.BaseTestCase):
    def test_average(self) -> None:
        for kind in ('avg', 'predict'):
            window = Window(kind, 1000.0)
            for age, share in (
                (-5.0, 1.0),
                (0.0, 1.0),
                (250.0, 0.75),
                (1e4, 0.0),
            ):
                self.assertEqual(share, window.still_shows(age))
                self.assertEqual(share, window.lacks(age))

    def test_others(self) -> None:
        """The highest of the past is forgotten late and seen at once."""
        highest = Window('max', 1000.0)
        self.assertEqual(1.0, highest.still_shows(999.0))
        self.assertEqual(0.0, highest.still_shows(1000.0))
        self.assertEqual(0.0, highest.lacks(0.0))
        most = Window('quantile', 1000.0, 0.75)
        self.assertEqual(1.0, most.still_shows(749.0))
        self.assertEqual(0.0, most.still_shows(750.0))
        self.assertEqual(1.0, most.lacks(249.0))
        self.assertEqual(0.0, most.lacks(250.0))
        now = Window()
        self.assertEqual((0.0, 0.0), (now.still_shows(0), now.lacks(0)))
