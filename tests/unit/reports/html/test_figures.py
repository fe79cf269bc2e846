# SPDX-License-Identifier: Apache-2.0
"""Are figures honest about every host and every move?"""

import random
from collections import Counter
from typing import Any

import hypothesis
from hypothesis import strategies as st
from oslotest import base

from kronos.reports.html import (
    bars,
    grouping,
    hosts,
    sankey,
    scale,
    unmoved,
)

FAST = hypothesis.settings(max_examples=100, derandomize=True, database=None)


def policy(pairs: Any, threshold: float = 0.1) -> dict[str, Any]:
    return {
        'name': 'cpu',
        'weight': 1.0,
        'threshold': threshold,
        'skipped': '',
        'health': 'healthy',
        'imbalance_before': 0.0,
        'imbalance_after': 0.0,
        'missing_hosts': [],
        'unmatched_labels': [],
        'scores': [
            {'host': f'h{index}', 'value': value, 'after': after}
            for index, (value, after) in enumerate(pairs)
        ],
    }


def step(source: str, destination: str, phase: str = 'spread') -> Any:
    return {'source': source, 'destination': destination, 'phase': phase}


class TestScale(base.BaseTestCase):
    @FAST
    @hypothesis.given(st.lists(st.floats(-1, 1e6), max_size=9))
    def test_holds_every_value(self, values: list[float]) -> None:
        axis = scale.scale(values)
        self.assertGreaterEqual(axis.top, max([0.0, *values]))
        self.assertEqual(0.0, axis.ticks[0].percent)
        self.assertEqual(100.0, axis.ticks[-1].percent)
        self.assertLessEqual(len(axis.ticks), 11)
        for value in values:
            self.assertTrue(0 <= axis.position(value) <= scale.WIDTH)

    def test_starts_at_zero(self) -> None:
        axis = scale.scale([0.8])
        self.assertEqual(['0', '0.2', '0.4', '0.6', '0.8'], _labels(axis))
        self.assertEqual(2 * axis.position(0.3), axis.position(0.6))


def _labels(axis: scale.Scale) -> list[str]:
    return [tick.label for tick in axis.ticks]


class TestBars(base.BaseTestCase):
    def test_over_is_what_the_engine_calls_over(self) -> None:
        """Further than the threshold above the lowest host."""
        figure = bars.figure(policy([(0.3, 0.2), (0.2, 0.2), (0.31, 0.31)]))
        over = {
            bar.host: (bar.over_before, bar.over_after) for bar in figure.bars
        }
        self.assertEqual(
            {
                'h2': (True, True),
                'h0': (False, False),
                'h1': (False, False),
            },
            over,
        )

    def test_nothing_is_over_where_hosts_are_filled(self) -> None:
        pairs = [(0.3, 0.9), (0.2, 0.0)]
        figure = bars.figure(policy(pairs) | {'mode': 'pack'})
        self.assertTrue(figure.fills)
        for bar in figure.bars:
            self.assertFalse(bar.over_before or bar.over_after)

    @FAST
    @hypothesis.given(st.integers(1, 400), st.integers(0, 2**32))
    def test_every_host_is_a_bar_or_counted(self, n: int, seed: int) -> None:
        rng = random.Random(seed)
        pairs = [(rng.random(), rng.random()) for _ in range(n)]
        figure = bars.figure(policy(pairs))
        gaps = sum(bar.gap for bar in figure.bars) + figure.gap
        self.assertEqual(n, len(figure.bars) + gaps)
        values = [bar.before for bar in figure.bars]
        self.assertEqual(sorted(values, reverse=True), values)
        for ends in (0, 1):
            shown = [(bar.before, bar.after)[ends] for bar in figure.bars]
            self.assertIn(max(pair[ends] for pair in pairs), shown)
            self.assertIn(min(pair[ends] for pair in pairs), shown)
        if n > bars.ALL:
            assert figure.overview is not None
            for side in ('before', 'after'):
                bins = [getattr(row, side) for row in figure.overview.bins]
                self.assertEqual(n, sum(part.hosts for part in bins))
                total = getattr(figure.overview, side)
                self.assertEqual(total.over, sum(part.over for part in bins))

    def test_a_value_that_is_not_known_after(self) -> None:
        figure = bars.figure(policy([(0.3, None), (0.2, 0.2)]))
        self.assertIsNone(figure.after)
        self.assertEqual([None, None], [bar.after for bar in figure.bars])


class TestFlow(base.BaseTestCase):
    def test_nothing_moves(self) -> None:
        self.assertIsNone(sankey.flow([], {}))

    @FAST
    @hypothesis.given(st.integers(1, 200), st.integers(0, 2**32))
    def test_every_move_is_in_it(self, number: int, seed: int) -> None:
        rng = random.Random(seed)
        steps = [
            step(f'a{rng.randrange(90)}', f'b{rng.randrange(90)}')
            for _ in range(number)
        ]
        flow = sankey.flow(steps, {})
        assert flow is not None
        self.assertEqual(number, sum(link.count for link in flow.links))
        for ends, key in (
            (flow.sources, 'source'),
            (flow.destinations, 'destination'),
        ):
            self.assertLessEqual(len(ends), sankey.ENDS)
            numbers = sorted(n for end in ends for n in end.numbers)
            self.assertEqual(list(range(1, number + 1)), numbers)
            hosts = {row[key] for row in steps}
            others = sum(end.others for end in ends)
            named = sum(bool(end.host) for end in ends)
            self.assertEqual(len(hosts), named + others)

    def test_phases_have_lines_of_their_own(self) -> None:
        flow = sankey.flow([step('a', 'b'), step('a', 'b', 'evacuate')], {})
        assert flow is not None
        self.assertEqual(2, len(flow.links))

    def test_lines_do_not_cross_without_need(self) -> None:
        steps = [step('a', 'z'), step('b', 'y'), step('c', 'x')]
        flow = sankey.flow(steps, {})
        assert flow is not None
        pairs = dict(
            zip(
                (source.host for source in flow.sources),
                (destination.host for destination in flow.destinations),
                strict=True,
            )
        )
        self.assertEqual({'a': 'z', 'b': 'y', 'c': 'x'}, pairs)


class TestPlaces(base.BaseTestCase):
    def scope(self) -> dict[str, Any]:
        return {
            'hosts': [
                {'name': name, 'availability_zone': zone, 'unavailable': ''}
                for name, zone in (('h1', 'a'), ('h2', 'a'), ('h3', 'b'))
            ],
            'policies': [],
            'instances': {
                'u1': {'name': 'one', 'host': 'h1'},
                'u2': {'name': '', 'host': 'h1'},
            },
            'steps': [
                {'instance': 'u1', 'source': 'h1', 'destination': 'h2'},
                {'instance': 'u1', 'source': 'h2', 'destination': 'h3'},
            ],
            'groups': [],
        }

    def test_the_last_move_counts(self) -> None:
        scope = self.scope()
        where = hosts.instance_hosts(scope)
        self.assertEqual({'u1': 'h3', 'u2': 'h1'}, where.after)
        rows = hosts.hosts(scope, where, [])
        self.assertEqual(
            [('h1', 2, 1), ('h2', 0, 0), ('h3', 0, 1)],
            [(row.name, row.before, row.after) for row in rows],
        )
        zones = hosts.zones(rows, scope['steps'])
        self.assertEqual(
            [('a', 2, 1, 1, 1, 0), ('b', 0, 1, 0, 0, 1)],
            [
                (z.name, z.before, z.after, z.inside, z.leaving, z.entering)
                for z in zones
            ],
        )

    def test_groups_that_matter_come_first(self) -> None:
        scope = self.scope()
        scope['groups'] = [
            {
                'uuid': f'g{number:03}',
                'name': f'group {number}',
                'policy': 'affinity',
                'enforced': True,
                'members': ['u1'] if number == 99 else ['u2'],
                'elsewhere': 0,
                'broken_before': '',
                'broken_after': 'bad' if number == 98 else '',
            }
            for number in range(100)
        ]
        groups = grouping.groups(scope, hosts.instance_hosts(scope))
        assert groups is not None
        self.assertEqual(
            ['g098', 'g099'], [group.uuid for group in groups.listed[:2]]
        )
        self.assertEqual(100, len(groups.listed) + groups.unlisted)
        self.assertEqual(grouping.QUIET, len(groups.listed))
        (member,) = groups.listed[1].hosts['h3']
        self.assertEqual(('one', 'h1'), (member.name, member.came_from))


class TestStaying(base.BaseTestCase):
    @FAST
    @hypothesis.given(st.integers(0, 300), st.integers(1, 100))
    def test_nobody_is_lost(self, number: int, kinds: int) -> None:
        reasons = {
            f'u{index}': f'why {index % kinds}' for index in range(number)
        }
        scope = {'stayed': reasons, 'unmovable': {'u0': 'why 0'}}
        staying = unmoved.staying(scope, hosts.InstanceHosts(False))
        listed = sum(reason.count for reason in staying.reasons)
        self.assertEqual(number, listed + staying.rare_count)
        counts = Counter(reasons.values())
        self.assertLessEqual(len(staying.reasons), unmoved.REASONS)
        if number:
            most = max(counts.values())
            self.assertIn(staying.reasons[0].count, (most, most - 1))
        for reason in staying.reasons:
            self.assertEqual(
                reason.count, len(reason.examples) + reason.unnamed
            )
