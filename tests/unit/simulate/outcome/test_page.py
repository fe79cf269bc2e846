# SPDX-License-Identifier: Apache-2.0
"""Does the page show every column, and nothing unescaped?"""

from typing import Any

import numpy as np
from oslotest import base

from kronos.simulate import loop
from kronos.simulate.columns import Kind, Result
from kronos.simulate.moves import Journey
from kronos.simulate.outcome import page, results
from tests.builders import loads, simulations

HOSTILE = '<script>alert(1)</script>'


def document(outcome: list[Result], **load: Any) -> dict[str, Any]:
    return {
        'sentence': results.sentence(outcome),
        'command': 'kronos-simulate load',
        'load': {
            'path': 'load',
            'start': loads.START,
            'days': 0.07,
            'step': 300,
            'hosts': 3,
            'servers': 12,
            'limits': [],
            **load,
        },
    }


class TestPage(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        load = loads.load(
            simulations.noisy(20, 12), np.arange(12) % 3, [4.0] * 3
        )
        self.outcome = [
            loop.run(load, simulations.column(load, kind))
            for kind in (Kind.NOTHING, Kind.ENGINE)
        ]

    def render(self, **more: Any) -> str:
        return page.render(document(self.outcome, **more), self.outcome, 'T')

    def test_columns(self) -> None:
        text = self.render()
        for word in ('nothing moved', 'engine', 'moves a day', 'Imbalance'):
            self.assertIn(word, text)
        # And one in the key.
        self.assertEqual(3, text.count('class="s-line" d="M'))
        # Only beside the other column is nothing drawn for comparison.
        self.assertEqual(1, text.count('<path class="s-was" fill'))

    def test_wanderers(self) -> None:
        self.outcome[1].journeys = [
            Journey(HOSTILE, f'h{n}', f'h{n + 1}', loads.START + n)
            for n in range(20)
        ]
        text = self.render()
        self.assertNotIn(HOSTILE, text)
        self.assertIn('&lt;script&gt;', text)
        self.assertIn('20 moves', text)
        self.assertIn('(9 more)', text)

    def test_hostile_limit(self) -> None:
        self.assertNotIn(HOSTILE, self.render(limits=[HOSTILE]))

    def test_long_time(self) -> None:
        """A month has no more points than a figure can show."""
        result = self.outcome[1]
        result.imbalance = {'cpu': np.ones(9000, np.float32)}
        result.hot = result.in_use = np.ones(9000, np.float32)
        self.outcome = [result]
        self.assertLess(len(self.render()), 100_000)
