# SPDX-License-Identifier: Apache-2.0
"""Does a column come to what its load and its plans make of it?"""

from collections import Counter
from typing import Any

import numpy as np
from oslotest import base

from kronos.engine.settings import PlanMode
from kronos.policies.windows import Window
from kronos.simulate import loop
from kronos.simulate.boots import Boots
from kronos.simulate.columns import Kind, Result
from kronos.simulate.load import Load
from kronos.simulate.meter import QueryWindows
from tests.builders import loads, simulations


def run(load: Load, kind: Kind = Kind.ENGINE, **fields: Any) -> Result:
    return loop.run(load, simulations.column(load, kind, **fields))


class TestSteadyLoad(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        usage = np.array([[3.0, 2.0, 1.0, 1.0, 1.0, 1.0]] * 24)
        self.load = loads.load(usage, [0, 0, 0, 1, 1, 2], [8.0] * 3)

    def test_nothing_moved(self) -> None:
        result = run(self.load, Kind.NOTHING)
        self.assertEqual(0, result.figures.moves)
        np.testing.assert_allclose(result.imbalance['cpu'], 5 / 8)
        self.assertEqual(23, len(result.imbalance['cpu']))
        self.assertEqual([3.0] * 23, result.in_use.tolist())

    def test_engine(self) -> None:
        """It evens out what can be, and is quiet then."""
        result = run(self.load)
        self.assertEqual(2, result.figures.moves)
        self.assertEqual(2, result.first_plan)
        self.assertEqual(2, len(result.journeys))
        np.testing.assert_allclose(result.imbalance['cpu'][1:], 0)
        # The move ends some seconds after the first audit.
        self.assertEqual({'balanced': 22, 'cooldown': 1}, dict(result.ends))
        self.assertEqual(22, result.plans)

    def test_pack(self) -> None:
        self.load.recording.policies = [loads.policy(mode='pack')]
        result = run(self.load, mode=PlanMode.PACK, budget=10)
        self.assertEqual(2, result.in_use[-1])

    def test_interval(self) -> None:
        result = run(self.load, interval=3600.0)
        self.assertEqual(2, sum(result.ends.values()))

    def test_plain_rule(self) -> None:
        result = run(self.load, Kind.PLAIN_RULE)
        self.assertEqual(2, result.figures.moves)

    def test_failures(self) -> None:
        column = simulations.column(self.load)
        column.failures = 1.0
        result = loop.run(self.load, column)
        self.assertEqual(0, result.figures.moves)
        self.assertGreater(result.figures.failed, 0)
        # A server whose move failed is in quarantine.
        self.assertLess(result.figures.failed, 23)
        np.testing.assert_allclose(result.imbalance['cpu'], 5 / 8)


class TestLimits(base.BaseTestCase):
    """Loads change all the time, from 22:15 UTC on, a Tuesday."""

    def setUp(self) -> None:
        super().setUp()
        usage = simulations.noisy(24, 12)
        self.load = loads.load(usage, [0] * 12, [8.0] * 3, project='p1')

    def minutes(self, **options: Any) -> list[float]:
        """After the first audit, at which moves arrive."""
        column = simulations.column(
            self.load,
            cooldown_seconds=0.0,
            instance_cooldown_seconds=0.0,
            return_guard_seconds=0.0,
        )
        for name, value in options.items():
            setattr(column.audits[0].settings, name, value)
        journeys = loop.run(self.load, column).journeys
        return [(each.at - loads.START) / 60 for each in journeys]

    def test_windows(self) -> None:
        inside = self.minutes(windows=['Tue 22:35-22:55 UTC'])
        self.assertLess(min(self.minutes()), 20)
        self.assertTrue(inside)
        self.assertTrue(all(20 <= time <= 40 for time in inside), str(inside))

    def test_budgets(self) -> None:
        """One plan leaves the next ones less."""
        self.assertLess(2, len(self.minutes()))
        first, second = self.minutes(project_budget='1/3600')
        self.assertGreaterEqual(second - first, 60)


class TestLongPlan(base.BaseTestCase):
    def test_audits_wait_for_it(self) -> None:
        """As in Watcher, whatever the cooldown of the scope is."""
        load = loads.load([[1.0] * 4] * 10, [0] * 4, [8.0, 8.0])
        column = simulations.column(load)
        [audit] = column.audits
        audit.settings.cooldown_seconds = 0.0
        audit.settings.migration_bandwidth = 3.0
        result = loop.run(load, column)
        self.assertEqual(2, result.figures.moves)
        self.assertEqual(4, result.ends[loop.SKIPPED])
        self.assertEqual(5, result.ends['balanced'])


class TestAsItWas(base.BaseTestCase):
    def test_moves_of_the_load(self) -> None:
        places = np.array([[0, 0]] * 3 + [[1, 0]] * 3)
        load = loads.load(np.ones((6, 2)), places, [4.0, 4.0])
        result = run(load, Kind.AS_IT_WAS)
        self.assertEqual(1, result.figures.moves)
        [journey] = result.journeys
        self.assertEqual(
            ('h0000', 'h0001'),
            (
                journey.source,
                journey.destination,
            ),
        )
        self.assertEqual(loads.START + 900, journey.at)
        np.testing.assert_allclose(
            result.imbalance['cpu'], [0.5, 0.5, 0.5, 0, 0]
        )
        others = run(load, Kind.NOTHING)
        np.testing.assert_allclose(others.imbalance['cpu'], 0.5)


class TestChurn(base.BaseTestCase):
    def test_births_and_deaths(self) -> None:
        places = np.array([[0, -1, 1], [0, 0, 1], [0, 0, -1], [0, 0, -1]], int)
        load = loads.load(np.ones((4, 3)), places, [4.0, 4.0])
        result = run(load, Kind.NOTHING)
        np.testing.assert_allclose(result.imbalance['cpu'], [0, 0.25, 0.5])
        self.assertEqual(1, result.boots.boots)

    def test_weigher(self) -> None:
        """It does more than migrations where many servers are born."""
        rng = np.random.default_rng(3)
        ticks, servers = 96, 120
        born = rng.integers(0, 60, servers)
        dies = born + rng.integers(5, 60, servers)
        clock = np.arange(ticks)[:, None]
        places = np.where(
            (clock >= born) & (clock < dies), rng.integers(0, 8, servers), -1
        )
        usage = np.broadcast_to(rng.lognormal(-1, 1, servers), places.shape)
        load = loads.load(usage, places, [8.0] * 8)
        means = []
        for boots in (Boots(), Boots(True), Boots(True, 100.0)):
            column = simulations.column(load, Kind.NOTHING)
            column.boots = boots
            result = loop.run(load, column)
            means.append(float(result.imbalance['cpu'].mean()))
        self.assertLess(means[2], means[1])
        self.assertLess(means[2], means[0])


class TestNoisyLoad(base.BaseTestCase):
    """Days in short: what is true of windows in the facts is true here."""

    def setUp(self) -> None:
        super().setUp()
        usage = simulations.noisy(96, 60)
        self.load = loads.load(usage, np.arange(60) % 6, [8.0] * 6)

    def test_windows_calm(self) -> None:
        now = run(self.load)
        hour = Window('avg', 3600.0)
        calm = run(self.load, windows=QueryWindows(hour, None, hour))
        self.assertLess(calm.figures.moves, now.figures.moves)

    def test_again_the_same(self) -> None:
        first, second = run(self.load), run(self.load)
        self.assertEqual(first.figures, second.figures)
        self.assertEqual(first.journeys, second.journeys)

    def test_books(self) -> None:
        """Nobody gets lost, and what is counted has happened."""
        column = simulations.column(self.load)
        column.failures = 0.2
        ran = loop.Loop(self.load, column)
        for tick in range(self.load.ticks - 1):
            ran.tick(tick)
        result = ran.result()
        self.assertGreater(result.figures.failed, 0)
        ran.moves.advance(float('inf'))
        memory = 2048 * np.bincount(ran.cloud.host, minlength=6)
        self.assertEqual(memory.tolist(), ran.cloud.used[1].tolist())
        places = {
            loads.uuid(server): f'h{host:04d}'
            for server, host in enumerate(np.arange(60) % 6)
        }
        for trip in ran.moves.over:
            if trip.outcome.value == 'moved':
                step = trip.step
                self.assertEqual(places[step.instance], step.source)
                places[step.instance] = step.destination
        self.assertEqual(
            Counter(places.values()),
            Counter(each.host for each in ran.cloud.instances.values()),
        )


class TestRemainder(base.BaseTestCase):
    def test_what_is_of_no_server_counts(self) -> None:
        load = loads.load(np.ones((13, 2)), [0, 1], [4.0, 4.0])
        load.remainder['cpu'][:, 0] = 2.9
        figures = run(load, Kind.NOTHING).figures
        self.assertAlmostEqual(1.0, figures.hot_hours)
        self.assertEqual(0.0, figures.full_hours)
        load.remainder['cpu'][:, 0] = 4.0
        figures = run(load, Kind.NOTHING).figures
        self.assertAlmostEqual(1.0, figures.full_hours)
        self.assertAlmostEqual(0.1, figures.not_given)
