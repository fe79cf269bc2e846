# SPDX-License-Identifier: Apache-2.0
"""Which of several legal moves is taken?"""

from typing import Any

import numpy as np
from oslotest import base

from kronos.engine.planning.search import ranking
from kronos.engine.settings import TieBreak

BIT = 1e-10
"""Less than what counts."""


def best(
    gains: list[float],
    drops: list[float],
    memory: list[int],
    instances: list[int],
    hosts: list[int],
    **more: Any,
) -> int:
    values = np.array(drops)
    return ranking.best(
        np.array(gains),
        lambda left: values[left],
        np.array(memory),
        np.array(instances),
        np.array(hosts),
        **more,
    )


class TestBest(base.BaseTestCase):
    def test_gain_then_variance_then_memory_then_names(self) -> None:
        for expected, gains, drops, memory, instances, hosts in (
            (1, [0.1, 0.2], [9.0, 0.0], [1, 9], [0, 1], [0, 1]),
            (1, [0.2, 0.2 - BIT], [0.1, 0.2], [1, 9], [0, 1], [0, 1]),
            (1, [0.2, 0.2], [0.2, 0.2 - BIT], [9, 1], [0, 1], [0, 1]),
            (1, [0.2, 0.2], [0.2, 0.2], [4, 4], [1, 0], [0, 1]),
            (1, [0.2, 0.2], [0.2, 0.2], [4, 4], [1, 1], [3, 2]),
            (0, [-0.2], [0.0], [4], [1], [1]),
        ):
            found = best(gains, drops, memory, instances, hosts)
            self.assertEqual(expected, found)

    def test_by_name_alone(self) -> None:
        found = best(
            [0.2, 0.2, 0.1],
            [9.0, 0.1, 0.0],
            [1, 9, 1],
            [5, 4, 0],
            [0, 0, 0],
            tie_break=TieBreak.FIRST,
        )
        self.assertEqual(1, found)

    def test_per_gib(self) -> None:
        """Twice as much for four times the memory is less."""
        gains, drops, memory = [0.2, 0.2], [0.4, 0.2], [4096, 1024]
        both = [0, 1], [0, 1]
        self.assertEqual(0, best(gains, drops, memory, *both))
        per_gib = TieBreak.VARIANCE_PER_GIB
        found = best(gains, drops, memory, *both, tie_break=per_gib)
        self.assertEqual(1, found)

    def test_the_variance_is_asked_about_equals_only(self) -> None:
        asked: list[list[int]] = []

        def drops(left: Any) -> Any:
            asked.append(left.tolist())
            return np.zeros(len(left))

        names = np.array([0, 1, 2])
        gains = np.array([0.2, 0.1, 0.2])
        ranking.best(gains, drops, names, names, names)
        ranking.best(gains[:2], drops, names[:2], names[:2], names[:2])
        self.assertEqual([[0, 2]], asked)


class TestOrder(base.BaseTestCase):
    def test_the_best_exchange_first(self) -> None:
        found = ranking.order(
            np.array([0.1, 0.2, 0.2 + BIT, 0.2]),
            np.array([0.0, 0.1, 0.1, 0.3]),
            np.array([1, 8, 8, 9]),
            np.array([0, 2, 1, 3]),
            np.array([7, 7, 7, 7]),
        )
        self.assertEqual([3, 2, 1, 0], found.tolist())

    def test_of_one_instance_the_first_partner(self) -> None:
        same = np.zeros(3)
        found = ranking.order(same, same, same, same, np.array([5, 3, 4]))
        self.assertEqual([1, 2, 0], found.tolist())


class TestEquals(base.BaseTestCase):
    def test_none(self) -> None:
        self.assertEqual([], ranking.equals(np.zeros(0)).tolist())

    def test_within_a_billionth(self) -> None:
        values = np.array([0.5, 0.5 - BIT, 0.5 - 1e-8])
        self.assertEqual([0, 1], ranking.equals(values).tolist())
