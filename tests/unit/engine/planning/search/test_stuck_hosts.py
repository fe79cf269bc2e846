# SPDX-License-Identifier: Apache-2.0
"""Which hosts does no migration help, and are the others left in?"""

import random
from collections.abc import Callable

from oslotest import base

from kronos.engine.planning.search import stuck_hosts
from kronos.engine.settings import Settings
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.types import SetAside
from tests.builders import scopes, spreading, stuck_ends
from tests.builders.stuck_ends import StuckEnds


def made(build: Callable[[StuckEnds], None], policies: int = 1) -> Simulation:
    lot = StuckEnds(random.Random(1), policies)
    build(lot)
    names = ['cpu', 'ram'][:policies]
    used = [scopes.policy(name, 1 / policies) for name in names]
    found = spreading.simulation(lot.snapshot(used), used, Settings())
    assert found is not None
    return found


def aside(simulation: Simulation, exhaust: bool = False) -> list[SetAside]:
    found = stuck_hosts.find(simulation, exhaust)
    return stuck_hosts.descriptions(simulation, found)


def names(simulation: Simulation) -> list[str]:
    return [one.host for one in aside(simulation)]


class TestStuckHosts(base.BaseTestCase):
    def test_zones(self) -> None:
        found = spreading.simulation(*stuck_ends.zone_beside_a_zone())
        assert found is not None
        self.assertEqual(
            [
                (
                    'dc1-0',
                    'highest',
                    'no migration from it lowers its score enough',
                ),
                (
                    'dc1-1',
                    'highest',
                    'no migration from it lowers its score enough',
                ),
                (
                    't1',
                    'lowest',
                    'no instance may move to it: it is pinned to availability '
                    'zone dc1, the host is in tie',
                ),
            ],
            [(one.host, one.end, one.reason) for one in aside(found)],
        )

    def test_each_kind(self) -> None:
        """Alone and above each other, at either end."""
        for kind in stuck_ends.HIGH:
            for other in stuck_ends.LOW:

                def build(
                    lot: StuckEnds, kind: str = kind, other: str = other
                ) -> None:
                    lot.middle()
                    lot.high(kind, 0)
                    lot.high('locked', 1)
                    lot.low(other, 0)
                    lot.low('full', 1)

                found = set(names(made(build)))
                index = made(build).utilization.index.hosts
                ends = {name for name in index if not name.startswith('m')}
                self.assertEqual(ends, found, f'{kind} {other}')

    def test_nothing_is_stuck(self) -> None:
        self.assertEqual([], names(made(StuckEnds.middle)))

    def test_the_odd_one_goes(self) -> None:
        """Not the many hosts that are even."""

        def build(lot: StuckEnds) -> None:
            lot.group('dc1', [0.5] * 3, 5, pinned=True)
            lot.host('t1', 'tie', [0.02], [])

        self.assertEqual(['t1'], names(made(build)))

    def test_an_equal_that_can_be_helped(self) -> None:
        def build(lot: StuckEnds) -> None:
            lot.host('a', 'az', [0.8], [[0.4]] * 2, locked=True)
            lot.host('b', 'az', [0.8], [[0.1]] * 8)
            lot.host('c', 'az', [0.1], [])

        self.assertEqual(['a'], names(made(build)))

    def test_a_migration_that_costs_more_elsewhere(self) -> None:
        """It lowers the host in cpu, and widens ram within its threshold."""

        def build(lot: StuckEnds, ram: float) -> None:
            lot.host('a', 'az', [0.9, 0.5], [[0.05, ram]])
            lot.host('b', 'az', [0.1, 0.5], [])
            lot.host('c', 'az', [0.1, 0.5], [])

        self.assertEqual(
            [], names(made(lambda lot: build(lot, 0.01), policies=2))
        )
        self.assertNotEqual(
            [], names(made(lambda lot: build(lot, 0.07), policies=2))
        )

    def test_thresholds(self) -> None:
        """The others are looked at until they are within."""

        def build(lot: StuckEnds) -> None:
            lot.host('a', 'az', [0.9], [[0.4]], locked=True)
            lot.host('b', 'az', [0.5], [[0.5]], locked=True)
            lot.host('c', 'az', [0.4], [[0.4]], locked=True)
            lot.host('d', 'az', [0.4], [[0.4]], locked=True)

        simulation = made(build)
        self.assertEqual(['a'], names(simulation))
        whatever = [one.host for one in aside(simulation, exhaust=True)]
        self.assertEqual(['a', 'b'], whatever)

    def test_all_are_stuck(self) -> None:
        """What is left of them would be no scope."""

        def build(lot: StuckEnds) -> None:
            lot.host('a', 'az', [0.9], [[0.4]], locked=True)
            lot.host('b', 'az', [0.1], [])

        self.assertEqual([], names(made(build)))
