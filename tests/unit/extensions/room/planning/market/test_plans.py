# SPDX-License-Identifier: Apache-2.0
"""Are plans of priced trades carried out, close to their bound?"""

from unittest import mock

from oslotest import base

from kronos.extensions.room.planning import ordering, search, staying
from kronos.extensions.room.planning.market import plans
from kronos.extensions.room.planning.market.masters import Aim
from kronos.extensions.room.room import Proof
from tests.builders import rooms
from tests.unit.extensions.room.planning.market import scope_cases
from tests.unit.extensions.room.planning.test_search import outcome_of


class TestLargePlan(base.BaseTestCase):
    """The scope is small, and planned as a large one."""

    def setUp(self) -> None:
        super().setUp()
        small = search.SMALL
        self.addCleanup(setattr, search, 'SMALL', small)
        search.SMALL = 0

    def test_fewest(self) -> None:
        snapshot = rooms.scope()
        result = rooms.plan(snapshot, flavors={'f8': 1})
        outcome = outcome_of(result)
        self.assertEqual((1, 1), (outcome.moves, outcome.bound))
        self.assertIs(Proof.OPTIMAL, outcome.proof)
        self.assertEqual(8, max(rooms.free(snapshot, result).values()))

    def test_most(self) -> None:
        snapshot = rooms.scope('abcd')
        slots = []
        for moves in (1, 2, 3):
            result = rooms.plan(snapshot, flavor='f8', max_migrations=moves)
            self.assertLessEqual(len(result.steps), moves)
            free = rooms.free(snapshot, result).values()
            slots.append(sum(cpus // 8 for cpus in free))
            self.assertEqual(slots[-1], outcome_of(result).after['f8'])
        self.assertEqual([1, 2, 2], slots)

    def test_groups_are_in_the_way(self) -> None:
        """An order is sought with other trades."""
        snapshot = rooms.scope()
        snapshot.groups = [rooms.apart('c4', 'a2')]
        result = rooms.plan(snapshot, flavors={'f8': 1})
        self.assertEqual(8, max(rooms.free(snapshot, result).values()))

    def test_who_has_to_stay(self) -> None:
        """They are named in a large scope, too."""
        snapshot = rooms.scope()
        for server in ('a4', 'b4', 'c4', 'b2', 'c2'):
            snapshot.instances[server].locked = True
        with mock.patch.object(staying, 'SMALL', 0):
            result = rooms.plan(snapshot, flavors={'f8': 1})
        outcome = outcome_of(result)
        self.assertIs(Proof.IMPOSSIBLE, outcome.proof)
        (server,) = outcome.staying
        self.assertIn('locked', outcome.staying[server])
        self.assertIn(f'room if {server} could move: ', result.reason)

    def test_ends(self) -> None:
        """There already, impossible, and too few migrations."""
        there = rooms.plan(rooms.scope(), flavors={'f4': 3})
        self.assertIn('already has room', there.reason)
        never = rooms.plan(rooms.scope(), flavors={'f8': 2})
        self.assertIs(Proof.IMPOSSIBLE, outcome_of(never).proof)
        self.assertIsNone(outcome_of(never).bound)
        self.assertNotIn('exact program', never.reason)
        self.assertEqual({'f8': 1}, outcome_of(never).nearest)
        few = rooms.plan(
            rooms.scope('abcd'), flavors={'f10': 1}, max_migrations=1
        )
        self.assertEqual(1, outcome_of(few).budget)
        self.assertIn('at least 2 migrations', few.reason)


class TestFullScope(base.BaseTestCase):
    def test_nothing_can_move_first(self) -> None:
        """Not all choices are tried where none of them even begins."""
        case = scope_cases.generated(1, 3)
        plan = plans.MarketPlan(case, Aim.MOST, 10)
        stuck = ordering.Ordered(stuck={0}, free=case.cluster.free)
        with mock.patch.object(
            ordering, 'ordered', return_value=stuck
        ) as ordered:
            result = plan.carried_out(None, 10)
        self.assertEqual(stuck, result)
        # The best of them is ordered once more.
        self.assertEqual(plans.VAIN_TRIES + 1, ordered.call_count)
