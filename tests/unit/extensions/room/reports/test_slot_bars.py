# SPDX-License-Identifier: Apache-2.0
"""Do the bars of slots show each host, or those that stand out of many?"""

from typing import Any

from oslotest import base

from kronos.extensions.room.reports import slot_bars
from kronos.extensions.room.reports.part import RoomReport
from kronos.reports.html import bars
from tests.builders import rooms


def row(**by_host: tuple[int, int]) -> dict[str, Any]:
    """``room`` of a scope of a report, with slots before and after by host."""
    before, after = zip(*by_host.values(), strict=True)
    return {
        'wanted': {'f': 3},
        'before': {'f': sum(before)},
        'after': {'f': sum(after)},
        'by_sum': {'f': 7},
        'by_host': {
            'f': [
                {'host': host, 'before': first, 'after': last}
                for host, (first, last) in by_host.items()
            ]
        },
    }


class TestFigures(base.BaseTestCase):
    def test_every_host(self) -> None:
        [figure] = slot_bars.figures(row(a=(0, 1), b=(2, 1), c=(0, 0)))
        self.assertEqual(
            [('b', 2, 1), ('a', 0, 1), ('c', 0, 0)],
            [(bar.host, bar.before, bar.after) for bar in figure.bars],
        )
        self.assertEqual(
            ['0', '1', '2'], [tick.label for tick in figure.scale.ticks]
        )
        self.assertEqual(
            [(1000.0, 500.0), (0.0, 500.0), (0.0, 0.0)],
            [(bar.x_before, bar.x_after) for bar in figure.bars],
        )
        self.assertEqual((1, 2), _with_slots(figure))
        self.assertEqual((3, 0), (figure.hosts, figure.gap))

    def test_no_slot_anywhere(self) -> None:
        """A scale without slots is no scale of fractions."""
        [figure] = slot_bars.figures(row(a=(0, 0)))
        self.assertEqual(
            ['0', '1'], [tick.label for tick in figure.scale.ticks]
        )

    def test_many_hosts(self) -> None:
        """Those that change have a bar; the others are counted."""
        slots = {f'h{at:03}': (0, 0) for at in range(300)} | {
            'h150': (0, 1),
            'h200': (0, 2),
        }
        [figure] = slot_bars.figures(row(**slots))
        names = {bar.host for bar in figure.bars}
        self.assertLessEqual({'h150', 'h200'}, names)
        self.assertLessEqual(len(names), bars.ALL)
        between = sum(bar.gap for bar in figure.bars)
        self.assertEqual(300, len(names) + between + figure.gap)

    def test_without_room(self) -> None:
        """Other audits make none, and older reports do not show hosts."""
        self.assertEqual([], slot_bars.figures(None))
        older = row(a=(0, 1))
        del older['by_host']
        self.assertEqual([], slot_bars.figures(older))

    def test_of_a_plan(self) -> None:
        result = rooms.plan(rooms.scope(), flavors={'f8': 1})
        [figure] = RoomReport().figures(RoomReport().scope(result))['slots']
        self.assertEqual((0, 1), (figure.before, figure.after))
        self.assertEqual((0, 1), _with_slots(figure))
        self.assertEqual(1, sum(bar.after for bar in figure.bars))


def _with_slots(figure: slot_bars.SlotFigure) -> tuple[int, int]:
    return figure.with_slots_before, figure.with_slots_after
