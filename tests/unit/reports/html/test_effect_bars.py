# SPDX-License-Identifier: Apache-2.0
"""Has each measured plan a bar, and no other?"""

from typing import Any

from oslotest import base

from kronos.reports.html import effect_bars


def plan(uuid: str, **changes: Any) -> dict[str, Any]:
    """:param changes: predicted and realised, by policy; None: unmeasured"""
    return {
        'uuid': uuid,
        'started': uuid != 'u0',
        'policies': [
            {'name': name, 'predicted': values[0], 'realised': values[1]}
            for name, values in changes.items()
        ],
    }


class TestFigures(base.BaseTestCase):
    def test_nothing_measured(self) -> None:
        self.assertEqual([], effect_bars.figures(None))
        self.assertEqual([], effect_bars.figures({'plans': []}))
        lost = plan('u1', cpu=(None, None))
        self.assertEqual([], effect_bars.figures({'plans': [lost]}))

    def test_a_figure_for_each_policy(self) -> None:
        figures = effect_bars.figures(
            {
                'plans': [
                    plan('u2', cpu=(0.4, 0.2), ram=(0.1, -0.3)),
                    plan('u1', cpu=(None, None)),
                    plan('u0', cpu=(0.2, 0.6)),
                ]
            }
        )
        self.assertEqual(['cpu', 'ram'], [x.policy for x in figures])
        cpu, ram = figures
        self.assertEqual(
            [('u2', True), ('u0', False)],
            [(bar.plan, bar.is_started) for bar in cpu.bars],
        )
        newest, oldest = cpu.bars
        self.assertAlmostEqual(
            newest.x_predicted, 2 * newest.x_realised, delta=0.2
        )
        self.assertAlmostEqual(
            oldest.x_realised, 3 * oldest.x_predicted, delta=0.2
        )
        self.assertGreaterEqual(cpu.scale.top, 0.6)
        [bar] = ram.bars
        self.assertEqual((-0.3, 0.0), (bar.realised, bar.x_realised))
