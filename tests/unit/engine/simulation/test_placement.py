# SPDX-License-Identifier: Apache-2.0
"""Where instances are, trials, and the constraints that follow."""

import numpy as np
from oslotest import base

from kronos.engine.arrays import Index
from kronos.engine.constraints.constraint_set import ConstraintSet
from kronos.engine.simulation.placement import Placement
from tests.builders import scopes
from tests.builders.constraints import Handmade


class Follower(Handmade):
    """It notes what it is told."""

    def __init__(self) -> None:
        super().__init__(2, 3)
        self.told: list[tuple[int, int, int]] = []

    def why_not(self, instance: int, host: int) -> None:
        return None

    def follow(self, instance: int, source: int, destination: int) -> None:
        self.told.append((instance, source, destination))


class TestPlacement(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        snapshot = scopes.scope(
            [],
            {'a': [], 'b': [], 'c': []},
            [scopes.vm('u', 'a', []), scopes.vm('v', 'b', [])],
        )
        self.placement = Placement.of(snapshot, Index(snapshot))
        self.follower = Follower()
        self.placement.constraints = ConstraintSet([self.follower])

    def test_a_move(self) -> None:
        self.placement.move(0, 2)
        self.assertEqual([2, 1], self.placement.host_of.tolist())
        self.assertEqual([(0, 0, 2)], self.follower.told)
        self.assertEqual({'u': 'c', 'v': 'b'}, self.placement.by_uuid())
        self.assertEqual([0], self.placement.on(2).tolist())
        self.assertEqual([], self.placement.on(0).tolist())

    def test_nobody_else_writes(self) -> None:
        def write() -> None:
            self.placement.host_of[0] = 1

        self.assertRaises(ValueError, write)

    def test_it_keeps_its_own(self) -> None:
        given = np.array([0, 1])
        placement = Placement(self.placement.index, given)
        placement.move(0, 2)
        self.assertEqual([0, 1], given.tolist())

    def test_a_trial(self) -> None:
        with self.placement.trial() as placement:
            placement.move(0, 1)
            placement.move(1, 2)
            placement.move(0, 2)
            self.assertEqual([2, 2], placement.host_of.tolist())
        self.assertEqual([0, 1], self.placement.host_of.tolist())
        self.assertEqual(
            [(0, 2, 1), (1, 2, 1), (0, 1, 0)], self.follower.told[3:]
        )

    def test_a_trial_in_a_trial(self) -> None:
        with self.placement.trial():
            self.placement.move(0, 1)
            with self.placement.trial():
                self.placement.move(0, 2)
            self.assertEqual([1, 1], self.placement.host_of.tolist())
            self.placement.move(1, 0)
        self.assertEqual([0, 1], self.placement.host_of.tolist())

    def test_a_trial_that_fails(self) -> None:
        def fail() -> None:
            with self.placement.trial():
                self.placement.move(0, 1)
                raise KeyError

        self.assertRaises(KeyError, fail)
        self.assertEqual([0, 1], self.placement.host_of.tolist())
