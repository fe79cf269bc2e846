# SPDX-License-Identifier: Apache-2.0
"""How many hosts can ever be unavailable at once?"""

import ddt
from oslotest import base

from kronos.engine.types import ServerGroup
from kronos.extensions.maintenance import outcome
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.extensions.maintenance.planning import widths
from tests.unit.extensions.maintenance.planning import searches

FOUR = {'a': [8], 'b': [8], 'c': [8], 'd': [8]}
LIGHT = {'a': [6], 'b': [6], 'c': [6], 'd': [6]}


@ddt.ddt
class TestWidest(base.BaseTestCase):
    @ddt.data(
        ({'a': [], 'b': [], 'c': []}, 2),
        (FOUR, 2),
        ({'a': [16], 'b': [16]}, 0),
        ({'a': [12, 4], 'b': [16], 'c': [1]}, 0),
        ({'a': [1]}, 0),
    )
    @ddt.unpack
    def test_by_memory(self, servers: dict[str, list[int]], most: int) -> None:
        self.assertEqual(most, widths.widest(searches.run(servers).cloud))

    def test_the_small_ones_first(self) -> None:
        cloud = searches.run(FOUR).cloud
        for name in 'ab':
            room = cloud.hosts[name].headroom
            assert room is not None
            room['MEMORY_MB'].capacity //= 2
        self.assertEqual(2, widths.widest(cloud))

    def test_a_host_that_placement_does_not_know(self) -> None:
        cloud = searches.run(FOUR).cloud
        cloud.hosts['a'].headroom = None
        self.assertEqual(3, widths.widest(cloud))

    @ddt.data((1, 1), (2, 2), (3, 2))
    @ddt.unpack
    def test_groups(self, each: int, most: int) -> None:
        """Three members, of which some may share a host."""
        cloud = searches.run(FOUR).cloud
        group = ServerGroup(
            'g', 'anti-affinity', ['a0', 'b0', 'c0', 'gone'], '', each
        )
        cloud.groups.append(group)
        self.assertEqual(most, widths.widest(cloud))
        group.policy = 'soft-anti-affinity'
        self.assertEqual(2, widths.widest(cloud))


class TestSearch(base.BaseTestCase):
    def test_larger_than_can_ever_work(self) -> None:
        """Nothing is closed, and the number that works is told."""
        spec = Maintenance('r', tuple(LIGHT), at_once=3)
        planned = outcome.of(searches.run(LIGHT, spec).plan())
        self.assertEqual([], planned.waves.closing)
        self.assertIn('at_once is 3', planned.waves.waits)
        self.assertIn('set at_once to 2 or less', planned.waves.waits)

    def test_a_run_that_has_begun_goes_on(self) -> None:
        spec = Maintenance('r', tuple(LIGHT), at_once=3)
        case = searches.run(LIGHT, spec)
        case.done.add('a')
        planned = outcome.of(case.plan())
        self.assertNotEqual([], planned.waves.closing)
