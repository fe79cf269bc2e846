# SPDX-License-Identifier: Apache-2.0
"""Does the lab's exporter play a trace to the very second?"""

import math
import sys

from oslotest import base

from tests import places

sys.path.insert(0, str(places.TOP / 'tools'))

from labkit import counters, demand, topology  # noqa: E402
from labkit.trace import Trace  # noqa: E402

START, STEP = 1000.0, 10.0
FILE = {'start': START, 'step': STEP, 'cores': {'web': [1, 2, 0.5]}}
HOST = 'cmp1'


def guest(name: str, **more: bool) -> demand.Guest:
    domain, project, flavor = 'instance-00000001', 'p', 'f'
    return demand.Guest(
        name, name, domain, HOST, 4, 8192, project, flavor, 1.0, 1.0, **more
    )


class TestTrace(base.BaseTestCase):
    def test_values_by_the_clock(self) -> None:
        trace = Trace.of(FILE)
        moments = [0.0, 999.9, 1000.0, 1009.9, 1010.0, 1020.0, 5000.0]
        self.assertEqual(
            [1.0, 1.0, 1.0, 1.0, 2.0, 0.5, 0.5],
            [trace.at('web', moment) for moment in moments],
        )
        self.assertIsNone(trace.at('other', START))

    def test_switches(self) -> None:
        trace = Trace.of(FILE)
        self.assertEqual([1010.0, 1020.0], [*trace.switches(0.0, 1e9)])
        self.assertEqual([1020.0], [*trace.switches(1010.0, 1020.0)])
        self.assertEqual([], [*trace.switches(1020.0, 1e9)])

    def test_one_that_has_not_begun(self) -> None:
        trace = Trace.of({'step': 1, 'cores': {'web': [3, 4]}})
        self.assertEqual(3.0, trace.at('web', 1e12))
        self.assertEqual([], [*trace.switches(0.0, 1e12)])
        self.assertEqual(math.inf, trace.start)

    def test_none(self) -> None:
        self.assertIsNone(Trace.of({}).at('web', START))
        self.assertEqual([], [*Trace().switches(0.0, 1e12)])

    def test_what_makes_no_sense(self) -> None:
        for wrong in ({'step': 0}, {'cores': {'web': []}}):
            self.assertRaises(ValueError, Trace.of, FILE | wrong)
        self.assertRaises(ValueError, Trace.of, {'cores': {}})


class TestWorld(base.BaseTestCase):
    def world(self, **more: bool) -> counters.World:
        world = counters.World(START)
        load = demand.Load({'web': guest('web', **more)}, trace=Trace.of(FILE))
        world.update(load, START)
        return world

    def test_counters_follow_whenever_they_are_scraped(self) -> None:
        """However rarely the world is looked at: 10 s at 1, 10 s at 2."""
        for moments in ([1025.0], [1004.0, 1011.0, 1025.0]):
            world = self.world()
            for moment in moments:
                world.play(moment)
            host = world.hosts[HOST]
            expected = 10 * 1 + 10 * 2 + 5 * 0.5
            self.assertAlmostEqual(expected, host.guest_time['web'].at(1025.0))
            own = 25 * topology.HOSTS[HOST].base_cores
            self.assertAlmostEqual(expected + own, host.busy.at(1025.0))

    def test_another_look_at_nova(self) -> None:
        """The trace goes on behind what is read anew."""
        world = self.world()
        load = demand.Load({'web': guest('web')}, trace=Trace.of(FILE))
        world.update(load, 1015.0)
        time = world.hosts[HOST].guest_time['web']
        self.assertAlmostEqual(20.0, time.at(1015.0))
        self.assertEqual(2.0, time.per_second)

    def test_one_that_is_paused_uses_nothing_more(self) -> None:
        world = self.world(is_running=False)
        world.play(1015.0)
        time = world.hosts[HOST].guest_time['web']
        self.assertAlmostEqual(15 * 1.0, time.at(1015.0))
