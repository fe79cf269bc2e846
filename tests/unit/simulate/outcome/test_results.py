# SPDX-License-Identifier: Apache-2.0
"""Is what decides said first, and rightly?"""

import dataclasses
from typing import Any

import numpy as np
from oslotest import base

from kronos.simulate import loop
from kronos.simulate.columns import Kind, Result
from kronos.simulate.moves import Journey
from kronos.simulate.outcome import results
from tests.builders import loads, simulations


def made(name: str, kind: Kind = Kind.ENGINE, **fields: Any) -> Result:
    """A result with some figures as they are wanted."""
    load = loads.load(np.ones((4, 2)), [0, 1], [4.0, 4.0])
    result = loop.run(load, simulations.column(load, kind))
    of_series = ('imbalance', 'in_use')
    figures = {k: v for k, v in fields.items() if k not in of_series}
    figures = {'days': 1.0, **figures}
    return dataclasses.replace(
        result,
        name=name,
        words=name,
        figures=dataclasses.replace(result.figures, **figures),
        imbalance={
            'cpu': np.full(3, fields.get('imbalance', 0.5), np.float32)
        },
        in_use=np.full(3, fields.get('in_use', 2), np.float32),
    )


class TestSentence(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.nothing = made('nothing moved', Kind.NOTHING, imbalance=0.7)
        self.base = made('as recorded', moves=286, imbalance=0.49)

    def sentence(self, *others: Result, fills: bool = False) -> str:
        return results.sentence([self.nothing, self.base, *others], fills)

    def test_fewer_moves(self) -> None:
        hour = made("the hour's average", moves=60, imbalance=0.41)
        busy = made('more', moves=734, imbalance=0.504)
        self.assertEqual(
            "With the hour's average: 60 moves a day instead of 286, "
            'imbalance 0.41 instead of 0.49.',
            self.sentence(busy, hour),
        )

    def test_nothing_is_better(self) -> None:
        self.assertEqual(
            'With as recorded: 286 moves a day instead of 0, imbalance 0.49 '
            'instead of 0.70 without any move.',
            self.sentence(made('worse', moves=300, imbalance=0.5)),
        )

    def test_fewer_moves_for_less_balance_are_not_better(self) -> None:
        self.assertIn(
            'With as recorded',
            self.sentence(made('lazy', moves=5, imbalance=0.65)),
        )

    def test_much_more_even(self) -> None:
        self.assertIn(
            'With eager: 400 moves a day instead of 286',
            self.sentence(made('eager', moves=400, imbalance=0.3)),
        )

    def test_hosts_are_filled(self) -> None:
        calm = made('calm', moves=100, in_use=1, full_hours=0.0)
        short = made('short', moves=50, in_use=1, full_hours=24.0)
        sentence = self.sentence(calm, short, fills=True)
        self.assertIn('With calm', sentence)
        self.assertIn('1.0 hosts in use instead of 2.0', sentence)

    def test_none(self) -> None:
        self.assertEqual(
            'No audit was simulated.', results.sentence([self.nothing])
        )


class TestFigures(base.BaseTestCase):
    def test_rows(self) -> None:
        columns = [
            made('nothing moved', Kind.NOTHING),
            made('x', moves=10, returns=1, gone=5, gib=48.0, days=2.0),
        ]
        rows = {row.key: row.values for row in results.rows(columns)}
        self.assertEqual([0.0, 5.0], rows['moves_per_day'])
        self.assertEqual([None, 10.0], rows['back_percent'])
        self.assertEqual([None, 50.0], rows['gone_percent'])
        self.assertEqual([0.0, 24.0], rows['gib_per_day'])
        self.assertEqual([0.5, 0.5], rows['imbalance_cpu'])
        self.assertEqual([None, None], rows['kwh_per_day'])
        self.assertEqual(
            ['moves_per_day', 'imbalance_cpu', 'imbalance_cpu_95'],
            list(rows)[:3],
        )

    def test_what_did_not_happen_is_not_worth_reading(self) -> None:
        columns = [made('x', moves=10), made('y', moves=10)]
        keys = {row.key for row in results.worth_reading(columns)}
        rare = {'failed', 'gone_percent', 'kwh_per_day', 'boots_without_room'}
        self.assertEqual(set(), rare & keys)
        self.assertIn('back_percent', keys)
        columns.append(made('z', moves=10, failed=1, kwh=3.0))
        keys = {row.key for row in results.worth_reading(columns)}
        self.assertEqual({'failed', 'kwh_per_day'}, rare & keys)

    def test_document(self) -> None:
        [column] = results.document([made('x', moves=10)])
        self.assertEqual(('x', 'engine'), (column['name'], column['kind']))
        self.assertEqual(10.0, column['figures']['moves_per_day'])
        self.assertIsNone(column['figures']['kwh_per_day'])
        self.assertEqual(
            {'cpu': {'mean': 0.5, 'percentile_95': 0.5}}, column['imbalance']
        )

    def test_most_moved(self) -> None:
        result = made('x')
        result.journeys = [
            Journey('a', 'h2', 'h3', 20.0),
            Journey('a', 'h1', 'h2', 10.0),
            Journey('b', 'h1', 'h2', 5.0),
        ]
        first, second = results.most_moved(result)
        self.assertEqual(['h1', 'h2', 'h3'], first.route)
        self.assertEqual(('b', 1), (second.instance, second.moves))
        self.assertEqual(1, len(results.most_moved(result, 1)))
