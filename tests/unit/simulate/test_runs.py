# SPDX-License-Identifier: Apache-2.0
"""Do several processes come to what one comes to?"""

import signal

import numpy as np
from oslotest import base

from kronos.simulate import runs, variants
from kronos.simulate.load import Load
from kronos.simulate.runs import Runs
from kronos.simulate.variants import Request
from tests.builders import loads, simulations


def small() -> Load:
    return loads.load(simulations.noisy(20, 12), np.arange(12) % 3, [8.0] * 3)


class TestRuns(base.BaseTestCase):
    def test_side_by_side(self) -> None:
        load = small()
        columns = variants.columns(load, Request())
        outcomes, ticks = [], list[tuple[int, int]]()
        for jobs in (1, 2):
            with Runs(load, columns, jobs) as all_runs:
                outcomes.append(
                    all_runs.results(lambda *told: ticks.append(told))
                )
        first, second = outcomes
        self.assertEqual(
            [result.name for result in first],
            [result.name for result in second],
        )
        for one_alone, other in zip(first, second, strict=True):
            self.assertEqual(one_alone.figures, other.figures)
            self.assertEqual(one_alone.journeys, other.journeys)
        self.assertEqual({4 * 19}, {total for _, total in ticks})
        self.assertEqual((4 * 19 - 1, 4 * 19), ticks[4 * 19 - 1])

    def test_a_parent_that_takes_sigterm(self) -> None:
        """Its processes end by that signal."""
        before = signal.signal(signal.SIGTERM, lambda *_: None)
        self.addCleanup(signal.signal, signal.SIGTERM, before)
        load = small()
        columns = variants.columns(load, Request())
        with Runs(load, columns, 2) as all_runs:
            self.assertEqual(len(columns), len(all_runs.results()))

    def test_processors(self) -> None:
        self.assertGreaterEqual(runs.processors(), 1)
