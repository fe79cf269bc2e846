# SPDX-License-Identifier: Apache-2.0
"""Is a legal order found, and is nothing made that is not legal?"""

import random

from oslotest import base

from kronos.engine.planning.search.greedy import Greedy
from kronos.engine.planning.search.sequencing import EarlyGains, Sequencing
from kronos.engine.settings import Settings, SwapMoves
from tests.builders import scopes, spreading, stalls
from tests.builders.scopes import policy, vm

GIB = 1024


def simulation(policies, hosts, vms, room=None, **more):
    settings = Settings(exhaust=True, max_migrations=9, **more)
    snapshot = scopes.scope(policies, hosts, vms)
    if room:
        scopes.give_room(snapshot, room)
    found = spreading.simulation(snapshot, policies, settings)
    return found, Sequencing(found, settings, 8)


def made(found):
    names = found.utilization.index
    return [
        (
            names.instances[step.undo.instance],
            names.hosts[step.undo.destination],
        )
        for step in found.steps
    ]


class TestSequencing(base.BaseTestCase):
    def test_room_is_made_first(self):
        """What gains most has to wait for a smaller one that leaves."""
        room = {
            'a': {'VCPU': 99, 'MEMORY_MB': 9 * GIB},
            'b': {'VCPU': 99, 'MEMORY_MB': 4 * GIB},
            'c': {'VCPU': 99, 'MEMORY_MB': 9 * GIB},
            'd': {'VCPU': 99, 'MEMORY_MB': 9 * GIB},
        }
        vms = [
            vm('big', 'a', [0.3], memory_mb=3 * GIB),
            vm('small', 'b', [0.1], memory_mb=3 * GIB),
        ]
        hosts = {'a': [0.9], 'b': [0.4], 'c': [0.4], 'd': [0.3]}
        found, sequencing = simulation([policy('cpu')], hosts, vms, room)
        self.assertTrue(sequencing.run([(0, 1), (1, 2)]))
        self.assertEqual([('small', 'c'), ('big', 'b')], made(found))

    def test_urgent_ones_come_first_in_the_next_try(self):
        """Memory may get worse only as long as another host is higher."""
        policies = [
            policy('cpu', 0.9, threshold=0.0),
            policy('ram', 0.1, threshold=0.0),
        ]
        hosts = {'a': [0.9, 0.9], 'b': [0.1, 0.3], 'c': [0.5, 0.1]}
        vms = [
            vm('cpu-hot', 'a', [0.3, 0.5]),
            vm('ram-hot', 'b', [0.0, 0.2]),
        ]
        found, sequencing = simulation(policies, hosts, vms)
        # To host c: the second only while a is at 0.9.
        whole = sequencing.run([(0, 1), (1, 2)])
        self.assertEqual(2 if whole else 1, len(found.steps))
        for step in found.steps:
            self.assertFalse(
                ((step.after > step.before + 1e-9) & (step.after > 1e-9)).any()
            )

    def test_a_swap(self):
        """Two that only together please all policies; not where none may."""
        policies = [
            policy('cpu', 0.5, threshold=0.0),
            policy('ram', 0.5, threshold=0.0),
        ]
        hosts = {'a': [0.8, 0.2], 'b': [0.2, 0.8]}
        vms = [vm('hot', 'a', [0.3, 0.0]), vm('warm', 'b', [0.0, 0.3])]
        moves = [(0, 1), (1, 0)]
        for how, wanted in ((SwapMoves.ANY, True), (SwapMoves.NONE, True)):
            found, sequencing = simulation(
                policies, hosts, vms, swap_moves=how
            )
            self.assertIs(wanted, sequencing.run(moves))
        vms = [vm('hot', 'a', [0.4, 0.1]), vm('warm', 'b', [0.1, 0.4])]
        for how, steps in ((SwapMoves.ANY, 2), (SwapMoves.NONE, 0)):
            found, sequencing = simulation(
                policies, hosts, vms, swap_moves=how
            )
            self.assertIs(bool(steps), sequencing.run(moves))
            self.assertEqual(steps, len(found.steps))
        found, sequencing = simulation(
            policies, hosts, vms, swap_moves=SwapMoves.ANY
        )
        sequencing.run(moves)
        self.assertEqual(found.steps[0].undo.instance, found.steps[1].requires)

    def test_what_cannot_be_made_is_left(self):
        """All others are made."""
        room = {
            'a': {'VCPU': 99, 'MEMORY_MB': 9 * GIB},
            'b': {'VCPU': 99, 'MEMORY_MB': 1 * GIB},
            'c': {'VCPU': 99, 'MEMORY_MB': 9 * GIB},
        }
        vms = [
            vm('big', 'a', [0.3], memory_mb=3 * GIB),
            vm('small', 'a', [0.1], memory_mb=GIB),
        ]
        hosts = {'a': [0.9], 'b': [0.3], 'c': [0.4]}
        found, sequencing = simulation([policy('cpu')], hosts, vms, room)
        self.assertFalse(sequencing.run([(0, 1), (1, 2)]))
        self.assertEqual([('small', 'c')], made(found))

    def test_a_given_order(self):
        """It is made as it is, or it is said that it cannot be."""
        vms = [vm('big', 'a', [0.3]), vm('small', 'a', [0.1])]
        hosts = {'a': [0.9], 'b': [0.3], 'c': [0.4]}
        found, sequencing = simulation([policy('cpu')], hosts, vms)
        self.assertTrue(sequencing.follow([((1, 2),), ((0, 1),)]))
        self.assertEqual([('small', 'c'), ('big', 'b')], made(found))
        found, sequencing = simulation([policy('cpu')], hosts, vms)
        self.assertFalse(sequencing.follow([((0, 0),)]))
        self.assertEqual([], found.steps)


def combined(found):
    weights = found.utilization.weights
    return [float((weights * step.after).sum()) for step in found.steps]


class TestEarlyGains(base.BaseTestCase):
    """Two hosts share the highest cpu, one alone has the highest memory."""

    def setUp(self):
        super().setUp()
        self.policies = [
            policy('cpu', 0.5, threshold=0.0),
            policy('ram', 0.5, threshold=0.0),
        ]
        self.vms = [
            vm('cpu-1', 'a', [0.1, 0.0]),
            vm('cpu-2', 'b', [0.1, 0.0]),
            vm('ram', 'c', [0.0, 0.2]),
        ]
        self.hosts = {
            'a': [0.8, 0.3],
            'b': [0.8, 0.3],
            'c': [0.5, 0.8],
            'd': [0.3, 0.3],
            'e': [0.3, 0.3],
        }

    def made(self, order, room=None, **more):
        """What becomes of a plan in an order: names and combined."""
        found, _ = simulation(
            self.policies, self.hosts, self.vms, room, **more
        )
        names = found.utilization.index
        for name, host in order:
            found.move(names.instance[name], names.hosts.index(host))
        before = combined(found)
        EarlyGains(found, Settings(exhaust=True, **more), 0).run()
        after = combined(found)
        for new, old in zip(after, before, strict=True):
            self.assertLessEqual(new, old + 1e-9)
        return [name for name, _ in made(found)]

    def test_what_gains_comes_first(self):
        plan = [('cpu-1', 'd'), ('cpu-2', 'e'), ('ram', 'd')]
        self.assertEqual(['ram', 'cpu-1', 'cpu-2'], self.made(plan))

    def test_not_where_a_shorter_plan_would_leave_more(self):
        """After two moves it would be .05 instead of .1 less."""
        self.vms[2] = vm('ram', 'c', [0.0, 0.05])
        self.vms[1] = vm('cpu-2', 'b', [0.2, 0.0])
        self.vms[0] = vm('cpu-1', 'a', [0.2, 0.0])
        plan = [('cpu-1', 'd'), ('cpu-2', 'e'), ('ram', 'd')]
        self.assertEqual(['cpu-1', 'cpu-2', 'ram'], self.made(plan))

    def test_not_before_what_makes_room(self):
        """The first one gains nothing, and leaves where the last one goes."""
        room = {
            host: {'VCPU': 99, 'MEMORY_MB': 9 * GIB} for host in 'abcde'
        } | {'a': {'VCPU': 99, 'MEMORY_MB': 4 * GIB}}
        self.vms = [
            vm('cpu-1', 'a', [0.1, 0.0], memory_mb=3 * GIB),
            vm('cpu-2', 'b', [0.1, 0.0]),
            vm('ram', 'c', [0.0, 0.2], memory_mb=3 * GIB),
        ]
        plan = [('cpu-1', 'd'), ('cpu-2', 'e'), ('ram', 'a')]
        self.assertEqual(['cpu-1', 'cpu-2', 'ram'], self.made(plan, room))
        self.assertEqual(['ram', 'cpu-1', 'cpu-2'], self.made(plan))

    def test_halves_of_a_swap_stay_together(self):
        found, _ = simulation(
            self.policies, self.hosts, self.vms, swap_moves=SwapMoves.ANY
        )
        found.move(0, 3)
        found.move(1, 4)
        found.move(2, 3, requires=1)
        EarlyGains(found, Settings(exhaust=True), 0).run()
        (place,) = [at for at, step in enumerate(found.steps) if step.requires]
        self.assertEqual(1, found.steps[place - 1].undo.instance)

    def test_an_instance_that_moves_twice(self):
        plan = [('cpu-1', 'd'), ('ram', 'd'), ('cpu-1', 'e')]
        self.assertEqual(
            ['cpu-1', 'ram', 'cpu-1'], self.made(plan, repeat_moves=True)
        )

    def test_any_order(self):
        """The same placement, legal, and nowhere more left; often less."""
        better = 0
        for kind in stalls.KINDS:
            for seed in range(8):
                stall = stalls.draw(kind, seed)
                rng = random.Random(seed)
                settings = Settings(max_migrations=12, exhaust=True)
                found = spreading.simulation(
                    stall.snapshot, stall.policies, settings
                )
                self.make_by_lot(found, settings, rng)
                before = combined(found)
                host_of = found.placement.host_of.tolist()
                EarlyGains(found, settings, 0).run()
                after = combined(found)
                with self.subTest(kind=kind, seed=seed):
                    self.assertEqual(host_of, found.placement.host_of.tolist())
                    for new, old in zip(after, before, strict=True):
                        self.assertLessEqual(new, old + 1e-9)
                    self.check_legal(stall, settings, found)
                better += sum(after) < sum(before) - 1e-6
        self.assertGreater(better, 5)

    def make_by_lot(self, found, settings, rng):
        """The moves of a greedy plan, in any order that is legal."""
        Greedy(found, settings).run()
        left = {
            step.undo.instance: step.undo.destination for step in found.steps
        }
        while found.steps:
            found.take_back()
        sequencing = Sequencing(found, settings, 1)
        while options := list(sequencing.options(left)):
            sequencing.make(rng.choice(options), left)

    def check_legal(self, stall, settings, found):
        """Each may be made when its turn comes, halves of swaps together."""
        again = spreading.simulation(stall.snapshot, stall.policies, settings)
        sequencing = Sequencing(again, settings, 1)
        units = []
        for step in found.steps:
            move = (step.undo.instance, step.undo.destination)
            if step.requires is None:
                units.append((move,))
            else:
                units[-1] += (move,)
        for unit in units:
            self.assertIn(unit, list(sequencing.options(dict(unit))))
            sequencing.make(unit, dict(unit))
