# SPDX-License-Identifier: Apache-2.0
"""Is a row where its figures put it, in every order?"""

import math
from typing import Any

import hypothesis
from hypothesis import strategies as st
from oslotest import base

from kronos.reports.html import sorting
from kronos.reports.html.hosts import HostFigures


def row(name: str, **fields: Any) -> HostFigures:
    defaults = {'zone': '', 'unavailable': '', 'before': 0, 'after': 0}
    return HostFigures(name, **{**defaults, 'values': [], **fields})


def rows(**fields: list[Any]) -> list[HostFigures]:
    """Hosts with these fields, and as many without as make a long table."""
    (number,) = {len(values) for values in fields.values()}
    measured = [
        row(f'h{index:02}', **{name: fields[name][index] for name in fields})
        for index in range(number)
    ]
    more = range(number, sorting.FEW + 1)
    return measured + [
        row(f'h{index:02}', values=[(None, None)]) for index in more
    ]


def step(index: int, **fields: Any) -> dict[str, Any]:
    return {
        'instance': f'u{index:02}',
        'instance_name': f'web-{index:02}',
        'source': 'a',
        'destination': 'b',
        'phase': 'spread',
        'memory_mb': 1024,
        'gain': 0.1,
        **fields,
    }


STEPS = [step(at) for at in range(sorting.FEW + 1)]


def in_order(order: sorting.Sorting | None, label: str) -> list[int]:
    """The rows as a browser has them: by rank, then as they are."""
    assert order is not None
    name = f'--{order.labels.index(label)}'
    own = [
        dict(part.split(':') for part in style.split(';') if part)
        for style in order.styles
    ]
    return sorted(
        range(len(own)), key=lambda index: int(own[index].get(name, 999999))
    )


class TestRanks(base.BaseTestCase):
    def test_equal_ones_share_one(self) -> None:
        self.assertEqual([2, 1, 2, 3], sorting.ranks(['b', 'a', 'b', 'c']))

    def test_what_is_not_known_has_none(self) -> None:
        self.assertEqual([None, 1, None], sorting.ranks([None, 0.0, None]))

    def test_the_highest_first(self) -> None:
        result = sorting.ranks([0.5, None, 2, 0.5, 1], highest_first=True)
        self.assertEqual([3, None, 1, 3, 2], result)

    @hypothesis.settings(derandomize=True, database=None)
    @hypothesis.given(st.lists(st.none() | st.integers(-9, 9)), st.booleans())
    def test_are_those_of_the_values(
        self, values: list[int | None], highest_first: bool
    ) -> None:
        result = sorting.ranks(values, highest_first)
        pairs = [
            (rank, value)
            for rank, value in zip(result, values, strict=True)
            if rank is not None and value is not None
        ]
        self.assertEqual(
            values.count(None), len(values) - len(pairs), 'a rank for none'
        )
        for rank, value in pairs:
            for other, another in pairs:
                higher = value > another if highest_first else value < another
                self.assertEqual(higher, rank < other)


class TestHosts(base.BaseTestCase):
    def test_a_short_table_has_no_orders(self) -> None:
        some = [
            row(f'h{number}', after=number) for number in range(sorting.FEW)
        ]
        self.assertIsNone(sorting.hosts(some, [], True))
        some.append(row('another'))
        self.assertIsNotNone(sorting.hosts(some, [], True))

    def test_nor_has_one_of_names_alone(self) -> None:
        self.assertIsNone(sorting.hosts(rows(before=[]), [], False))

    def test_servers_after_the_plan(self) -> None:
        some = rows(before=[9, 1, 5, 5], after=[1, 3, 2, 3])
        hosts = sorting.hosts(some, [], True)
        self.assertEqual([1, 3, 2, 0], in_order(hosts, 'servers')[:4])

    def test_values_after_the_plan(self) -> None:
        """What the cell ends with; what is no number comes last."""
        values = [
            [(0.9, 0.1)],
            [(0.2, None)],
            [(0.1, math.nan)],
            [(None, None)],
            [(0.1, 0.3)],
            [(0.1, 0.2)],
        ]
        hosts = sorting.hosts(rows(values=values), ['cpu'], False)
        assert hosts is not None
        self.assertEqual(['name', 'cpu'], hosts.labels)
        last = [2, 3, *range(6, sorting.FEW + 1)]
        self.assertEqual([4, 1, 5, 0, *last], in_order(hosts, 'cpu'))

    def test_moves_out_and_in(self) -> None:
        some = rows(leaving=[[], [1], [2, 3]], coming=[[2], [], [1]])
        hosts = sorting.hosts(some, [], False)
        assert hosts is not None
        self.assertEqual(['name', 'moves'], hosts.labels)
        self.assertEqual([2, 0, 1, 3], in_order(hosts, 'moves')[:4])
        self.assertEqual('', hosts.styles[3])


class TestMoves(base.BaseTestCase):
    def test_a_short_table_has_no_orders(self) -> None:
        self.assertIsNone(sorting.moves(STEPS[:-1], True))
        moves = sorting.moves(STEPS, True)
        assert moves is not None
        self.assertEqual(
            ['order of the plan', 'server', 'from', 'to', 'memory', 'gain'],
            moves.labels,
        )

    def test_where_all_is_equal_the_plan_stays(self) -> None:
        moves = sorting.moves(STEPS, True)
        for label in ('from', 'to', 'memory', 'gain'):
            self.assertEqual(
                list(range(len(STEPS))), in_order(moves, label), label
            )

    def test_each_has_its_order(self) -> None:
        """A server without a name is found by its uuid."""
        some = [
            step(0, source='b', destination='c', memory_mb=1, gain=-0.1),
            step(1, source='a', destination='d', memory_mb=3, gain=0.0),
            step(2, instance_name='', destination='a', memory_mb=9, gain=1),
        ]
        moves = sorting.moves([*some, *STEPS[3:]], True)
        rest = list(range(3, len(STEPS)))
        for label, expected in (
            ('server', [2, 0, 1, *rest]),
            ('from', [1, 2, *rest, 0]),
            ('to', [2, *rest, 0, 1]),
            ('memory', [*rest, 2, 1, 0]),
            ('gain', [2, *rest, 1, 0]),
        ):
            self.assertEqual(expected, in_order(moves, label), label)

    def test_phases_are_told_apart_where_there_are_several(self) -> None:
        drain = step(12, phase='evacuate')
        moves = sorting.moves([*STEPS[:-1], drain], True)
        self.assertEqual(12, in_order(moves, 'why')[0])

    def test_gains_that_are_not_told_or_not_meant(self) -> None:
        old = [dict(template) for template in STEPS]
        for older in old:
            del older['gain']
        for orders in (sorting.moves(old, True), sorting.moves(STEPS, False)):
            assert orders is not None
            self.assertNotIn('gain', orders.labels)
