# SPDX-License-Identifier: Apache-2.0
"""Is a legal order found, and is nothing made that is not legal?"""

from oslotest import base

from kronos.engine.planning.search.sequencing import Sequencing
from kronos.engine.settings import Settings, SwapMoves
from tests.builders import scopes, spreading
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
