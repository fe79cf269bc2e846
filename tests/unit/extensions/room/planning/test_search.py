# SPDX-License-Identifier: Apache-2.0
"""Does an audit make room by the fewest moves, or say why it does not?"""

from typing import Any
from unittest import mock

from oslotest import base

from kronos.engine.types import AggregateResult, Flavor, Headroom, StopReason
from kronos.extensions.room import room
from kronos.extensions.room.planning import highs, search
from kronos.extensions.room.planning.counts import Counts, NoPlacement
from kronos.extensions.room.planning.market import masters
from kronos.extensions.room.room import HostSlots, Proof, RoomOutcome
from tests.builders import policies, rooms


def outcome_of(result: AggregateResult) -> RoomOutcome:
    outcome = room.outcome_of(result)
    assert outcome is not None
    return outcome


class TestFewest(base.BaseTestCase):
    def test_one(self) -> None:
        snapshot = rooms.scope()
        result = rooms.plan(snapshot, flavors={'f8': 1})
        outcome = outcome_of(result)
        self.assertEqual(
            ({'f8': 0}, {'f8': 1}), (outcome.before, outcome.after)
        )
        self.assertEqual((1, 1), (outcome.moves, outcome.bound))
        self.assertIs(Proof.OPTIMAL, outcome.proof)
        self.assertIs(StopReason.DONE, result.stopped)
        free = rooms.free(snapshot, result)
        self.assertEqual(8, max(free.values()))
        self.assertEqual(
            [HostSlots(host, 0, cpus // 8) for host, cpus in free.items()],
            outcome.by_host['f8'],
        )

    def test_smallest_memory(self) -> None:
        """Either server would do for 6 CPUs; the smaller one is copied."""
        snapshot = rooms.scope()
        flavors = snapshot.beside[room.NAME].flavors
        flavors['f6'] = Flavor('f6', 'f6', 6, 24)
        result = rooms.plan(snapshot, flavors={'f6': 1})
        self.assertEqual(2, snapshot.instances[result.steps[0].instance].vcpus)

    def test_joint(self) -> None:
        """Two of 4 CPUs fit beside it only if it gets a host alone."""
        snapshot = rooms.scope()
        result = rooms.plan(snapshot, flavors={'f8': 1, 'f4': 1})
        free = sorted(rooms.free(snapshot, result).values())
        self.assertEqual([0, 4, 8], free)

    def test_there_already(self) -> None:
        result = rooms.plan(rooms.scope(), flavors={'f4': 3})
        self.assertEqual([], result.steps)
        self.assertTrue(outcome_of(result).is_met)
        self.assertIn('already has room', result.reason)

    def test_impossible(self) -> None:
        """12 CPUs are free: never 16 of them."""
        result = rooms.plan(rooms.scope(), flavors={'f8': 2})
        outcome = outcome_of(result)
        self.assertIs(Proof.IMPOSSIBLE, outcome.proof)
        self.assertEqual({'f8': 1}, outcome.nearest)
        self.assertEqual([], result.steps)
        self.assertIs(StopReason.STUCK, result.stopped)

    def test_who_has_to_stay(self) -> None:
        """Only 2 CPUs of a host could be free, and it takes nothing."""
        snapshot = rooms.scope()
        for server in ('a4', 'b4', 'c4', 'b2', 'c2'):
            snapshot.instances[server].locked = True
        result = rooms.plan(snapshot, flavors={'f8': 1})
        outcome = outcome_of(result)
        self.assertIs(Proof.IMPOSSIBLE, outcome.proof)
        (server,) = outcome.staying
        self.assertIn('locked', outcome.staying[server])
        self.assertIn(f'room if {server} could move: ', result.reason)

    def test_nobody_has_to_stay(self) -> None:
        """Even if all could move, two would not fit."""
        snapshot = rooms.scope()
        snapshot.instances['a4'].locked = True
        result = rooms.plan(snapshot, flavors={'f8': 2})
        self.assertEqual({}, outcome_of(result).staying)

    def test_budget(self) -> None:
        """A host of 10 CPUs is made empty by two moves."""
        snapshot = rooms.scope('abcd')
        result = rooms.plan(snapshot, flavors={'f10': 1}, max_migrations=1)
        outcome = outcome_of(result)
        self.assertEqual((2, 1), (outcome.bound, outcome.budget))
        self.assertEqual({'f10': 0}, outcome.nearest)
        self.assertIs(StopReason.BUDGET, result.stopped)
        self.assertEqual([], result.steps)
        result = rooms.plan(snapshot, flavors={'f10': 1}, max_migrations=2)
        self.assertEqual(10, max(rooms.free(snapshot, result).values()))

    def test_apart(self) -> None:
        """Two new servers of 4 CPUs fit on one host, unless apart."""
        snapshot = rooms.scope('ab')
        headroom = snapshot.hosts['a'].headroom
        assert headroom is not None
        headroom['VCPU'] = Headroom(14, 6)
        snapshot.hosts['b'].headroom = headroom | {'VCPU': Headroom(8, 6)}
        snapshot.instances['a2'].locked = True
        snapshot.instances['a4'].locked = True
        together = rooms.plan(snapshot, flavors={'f4': 2})
        self.assertEqual([], together.steps)
        result = rooms.plan(snapshot, flavors={'f4': 2}, apart=True)
        self.assertEqual([('b2', 'b', 'a')], rooms.moves(result))

    def test_what_stays(self) -> None:
        """Closed hosts take nothing; locked servers stay; groups hold."""
        snapshot = rooms.scope()
        snapshot.hosts['b'].excluded = 1.0
        snapshot.instances['a4'].locked = True
        snapshot.groups = [rooms.apart('c4', 'a2')]
        result = rooms.plan(snapshot, flavors={'f8': 1})
        self.assertEqual([], result.steps)
        self.assertIs(Proof.BOUND, outcome_of(result).proof)
        self.assertIn('no order', result.reason)
        snapshot.groups = []
        result = rooms.plan(snapshot, flavors={'f8': 1})
        self.assertEqual([('c4', 'c', 'a')], rooms.moves(result))

    def test_max_imbalance(self) -> None:
        result = rooms.plan(
            rooms.scope(), flavors={'f8': 1}, max_imbalance=0.0
        )
        self.assertEqual([], result.steps)
        self.assertIn('at least 1 migration', result.reason)


class TestUsedUpBranches(base.BaseTestCase):
    """The program by counts ends at its limit."""

    def plan(self, **request: Any) -> AggregateResult:
        ends = {'fewest_moves': NoPlacement.NOT_KNOWN, 'most_slots': None}
        with mock.patch.multiple(
            Counts,
            **{
                name: mock.Mock(return_value=value)
                for name, value in ends.items()
            },
        ):
            return rooms.plan(rooms.scope(), **request)

    def test_trades_are_priced(self) -> None:
        for request in (
            {'flavors': {'f8': 1}},
            {'flavor': 'f8', 'max_migrations': 3},
        ):
            result = self.plan(**request)
            self.assertEqual({'f8': 1}, outcome_of(result).after)
            self.assertIs(Proof.OPTIMAL, outcome_of(result).proof)

    def test_impossible(self) -> None:
        outcome = outcome_of(self.plan(flavors={'f8': 2}))
        self.assertIs(Proof.IMPOSSIBLE, outcome.proof)
        self.assertEqual({'f8': 1}, outcome.nearest)

    def test_not_known(self) -> None:
        """Neither trades nor prices decide it."""
        with mock.patch.object(masters.Master, 'chosen', return_value=None):
            result = self.plan(flavors={'f8': 1})
        self.assertIs(Proof.NOT_KNOWN, outcome_of(result).proof)
        self.assertIs(StopReason.STUCK, result.stopped)
        self.assertIn('not known whether there can be room', result.reason)
        self.assertNotIn('no number of migrations', result.reason)


class TestMost(base.BaseTestCase):
    def test_most(self) -> None:
        snapshot = rooms.scope('abcd')
        slots = []
        for moves in (1, 2, 3, 4):
            result = rooms.plan(snapshot, flavor='f8', max_migrations=moves)
            self.assertLessEqual(len(result.steps), moves)
            free = rooms.free(snapshot, result).values()
            slots.append(sum(cpus // 8 for cpus in free))
            self.assertEqual({'f8': slots[-1]}, outcome_of(result).after)
            self.assertIs(Proof.OPTIMAL, outcome_of(result).proof)
        self.assertEqual([1, 2, 2, 2], slots)

    def test_nothing_fits_anywhere(self) -> None:
        """The free CPUs suffice, but there is no first move."""
        snapshot = rooms.scope()
        for host in snapshot.hosts.values():
            assert host.headroom is not None
            host.headroom['VCPU'] = Headroom(7, 6)
        result = rooms.plan(snapshot, flavor='f4', max_migrations=9)
        outcome = outcome_of(result)
        self.assertEqual([], result.steps)
        self.assertEqual((0, Proof.OPTIMAL), (outcome.bound, outcome.proof))


class TestGreedy(base.BaseTestCase):
    def test_without_scipy(self) -> None:
        snapshot = rooms.scope()
        with mock.patch.object(highs, 'solver', return_value=None):
            result = rooms.plan(snapshot, flavors={'f8': 1})
        self.assertIs(Proof.NONE, outcome_of(result).proof)
        self.assertEqual(8, max(rooms.free(snapshot, result).values()))
        self.assertIn('without a proof', result.reason)

    def test_large_scope(self) -> None:
        with mock.patch.object(search, 'LIMIT', 5):
            result = rooms.plan(rooms.scope(), flavor='f8', max_migrations=3)
        self.assertEqual({'f8': 1}, outcome_of(result).after)
        self.assertIs(Proof.NONE, outcome_of(result).proof)


class TestStandstill(base.BaseTestCase):
    def test_slots_are_counted(self) -> None:
        snapshot = rooms.scope()
        snapshot.services = {'a': policies.up('a')}
        result = rooms.plan(snapshot, flavors={'f4': 1})
        outcome = outcome_of(result)
        self.assertEqual({'f4': 1}, outcome.before)
        self.assertEqual(
            [HostSlots('a', 1, 1), HostSlots('b', 0, 0), HostSlots('c', 0, 0)],
            outcome.by_host['f4'],
        )
