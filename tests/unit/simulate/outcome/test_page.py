# SPDX-License-Identifier: Apache-2.0
"""Does the page show every column, and nothing unescaped?"""

import re
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

    def test_text_alternatives(self) -> None:
        """Each figure says in words what it shows."""
        text = self.render()
        self.assertEqual(
            text.count('preserveAspectRatio'), text.count('role="img"')
        )
        self.assertRegex(
            text, 'aria-label="Imbalance cpu over time: .* on average'
        )
        moves = len(self.outcome[1].journeys)
        self.assertIn(f'aria-label="Moves: {moves}, at most', text)
        self.assertIn('Hosts in use: 3 all the time', text)
        self.assertIn('servers stay where they start', text)

    def test_columns_share_their_scales(self) -> None:
        """Half as many hosts above 90 % are half as high."""
        for result, hosts in zip(self.outcome, (2.0, 1.0), strict=True):
            result.hot = np.full(19, hosts, np.float32)
        drawings = re.findall(
            'class="s-hot" d="M0 300V([0-9]*)', self.render()
        )
        self.assertEqual(['0', '150'], drawings)

    def test_times(self) -> None:
        for days, labels in (
            (
                0.07,
                ['0 h', '0.25 h', '0.5 h', '0.75 h', '1 h', '1.25 h', '1.5 h'],
            ),
            (1.0, ['0 h', '6 h', '12 h', '18 h']),
            (7.0, [f'{day} d' for day in range(7)]),
            (30.0, ['0 d', '7 d', '14 d', '21 d']),
        ):
            with self.subTest(days=days):
                shown = re.findall(
                    'class="tick"[^>]*>([^<]*)<', self.render(days=days)
                )
                self.assertEqual(labels, shown[: len(labels)])
                self.assertEqual(
                    '0 h' if days < 7 else '0 d', shown[len(labels)]
                )

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
        self.outcome[1].journeys[0].name = HOSTILE
        self.assertNotIn(HOSTILE, self.render())

    def test_hostile_limit(self) -> None:
        self.assertNotIn(HOSTILE, self.render(limits=[HOSTILE]))

    def test_long_time(self) -> None:
        """A month has no more points than a figure can show."""
        result = self.outcome[1]
        result.imbalance = {'cpu': np.ones(9000, np.float32)}
        result.hot = result.in_use = np.ones(9000, np.float32)
        self.outcome = [result]
        self.assertLess(len(self.render()), 100_000)
