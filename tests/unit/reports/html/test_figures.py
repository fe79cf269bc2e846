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

FAST = hypothesis.settings(
    max_examples=100, deadline=None, derandomize=True, database=None
)


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
            {'host': f'h{at}', 'value': value, 'after': after}
            for at, (value, after) in enumerate(pairs)
        ],
    }


def step(source: str, destination: str, phase: str = 'spread') -> Any:
    return {'source': source, 'destination': destination, 'phase': phase}


class TestScale(base.BaseTestCase):
    @FAST
    @hypothesis.given(st.lists(st.floats(-1, 1e6), max_size=9))
    def test_holds_every_value(self, values: list[float]) -> None:
        found = scale.scale(values)
        self.assertGreaterEqual(found.top, max([0.0, *values]))
        self.assertEqual(0.0, found.ticks[0].percent)
        self.assertEqual(100.0, found.ticks[-1].percent)
        self.assertLessEqual(len(found.ticks), 11)
        for value in values:
            self.assertTrue(0 <= found.position(value) <= scale.WIDTH)

    def test_starts_at_zero(self) -> None:
        found = scale.scale([0.8])
        self.assertEqual(['0', '0.2', '0.4', '0.6', '0.8'], _labels(found))
        self.assertEqual(2 * found.position(0.3), found.position(0.6))


def _labels(found: scale.Scale) -> list[str]:
    return [tick.label for tick in found.ticks]


class TestBars(base.BaseTestCase):
    def test_over_is_what_the_engine_calls_over(self) -> None:
        """Further than the threshold above the lowest host."""
        found = bars.figure(policy([(0.3, 0.2), (0.2, 0.2), (0.31, 0.31)]))
        over = {
            one.host: (one.over_before, one.over_after) for one in found.bars
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
        found = bars.figure(policy(pairs) | {'mode': 'pack'})
        self.assertTrue(found.fills)
        for one in found.bars:
            self.assertFalse(one.over_before or one.over_after)

    @FAST
    @hypothesis.given(st.integers(1, 400), st.integers(0, 2**32))
    def test_every_host_is_a_bar_or_counted(self, n: int, seed: int) -> None:
        rng = random.Random(seed)
        pairs = [(rng.random(), rng.random()) for _ in range(n)]
        found = bars.figure(policy(pairs))
        gaps = sum(one.gap for one in found.bars) + found.gap
        self.assertEqual(n, len(found.bars) + gaps)
        values = [one.before for one in found.bars]
        self.assertEqual(sorted(values, reverse=True), values)
        for ends in (0, 1):
            shown = [(one.before, one.after)[ends] for one in found.bars]
            self.assertIn(max(pair[ends] for pair in pairs), shown)
            self.assertIn(min(pair[ends] for pair in pairs), shown)
        if n > bars.ALL:
            assert found.overview is not None
            for side in ('before', 'after'):
                bins = [getattr(one, side) for one in found.overview.bins]
                self.assertEqual(n, sum(one.hosts for one in bins))
                told = getattr(found.overview, side)
                self.assertEqual(told.over, sum(one.over for one in bins))

    def test_a_value_that_is_not_known_after(self) -> None:
        found = bars.figure(policy([(0.3, None), (0.2, 0.2)]))
        self.assertIsNone(found.after)
        self.assertEqual([None, None], [one.after for one in found.bars])


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
        found = sankey.flow(steps, {})
        assert found is not None
        self.assertEqual(number, sum(one.count for one in found.links))
        for ends, key in (
            (found.sources, 'source'),
            (found.destinations, 'destination'),
        ):
            self.assertLessEqual(len(ends), sankey.ENDS)
            numbers = sorted(n for one in ends for n in one.numbers)
            self.assertEqual(list(range(1, number + 1)), numbers)
            hosts = {one[key] for one in steps}
            others = sum(one.others for one in ends)
            named = sum(bool(one.host) for one in ends)
            self.assertEqual(len(hosts), named + others)

    def test_phases_have_lines_of_their_own(self) -> None:
        found = sankey.flow([step('a', 'b'), step('a', 'b', 'evacuate')], {})
        assert found is not None
        self.assertEqual(2, len(found.links))

    def test_lines_do_not_cross_without_need(self) -> None:
        steps = [step('a', 'z'), step('b', 'y'), step('c', 'x')]
        found = sankey.flow(steps, {})
        assert found is not None
        pairs = dict(
            zip(
                (one.host for one in found.sources),
                (one.host for one in found.destinations),
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
            [(one.name, one.before, one.after) for one in rows],
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
                'uuid': f'g{at:03}',
                'name': f'group {at}',
                'policy': 'affinity',
                'enforced': True,
                'members': ['u1'] if at == 99 else ['u2'],
                'elsewhere': 0,
                'broken_before': '',
                'broken_after': 'bad' if at == 98 else '',
            }
            for at in range(100)
        ]
        found = grouping.groups(scope, hosts.instance_hosts(scope))
        assert found is not None
        self.assertEqual(
            ['g098', 'g099'], [one.uuid for one in found.listed[:2]]
        )
        self.assertEqual(100, len(found.listed) + found.unlisted)
        self.assertEqual(grouping.QUIET, len(found.listed))
        (member,) = found.listed[1].hosts['h3']
        self.assertEqual(('one', 'h1'), (member.name, member.came_from))


class TestStaying(base.BaseTestCase):
    @FAST
    @hypothesis.given(st.integers(0, 300), st.integers(1, 100))
    def test_nobody_is_lost(self, number: int, kinds: int) -> None:
        reasons = {f'u{at}': f'why {at % kinds}' for at in range(number)}
        scope = {'stayed': reasons, 'unmovable': {'u0': 'why 0'}}
        found = unmoved.staying(scope, hosts.InstanceHosts(False))
        listed = sum(one.count for one in found.reasons)
        self.assertEqual(number, listed + found.rare_count)
        counts = Counter(reasons.values())
        self.assertLessEqual(len(found.reasons), unmoved.REASONS)
        if number:
            most = max(counts.values())
            self.assertIn(found.reasons[0].count, (most, most - 1))
        for one in found.reasons:
            self.assertEqual(one.count, len(one.examples) + one.unnamed)
