# SPDX-License-Identifier: Apache-2.0
"""Does one make room for another, and only where it has to?"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from oslotest import base

from kronos.engine.planning.search.packing import ejections
from kronos.engine.planning.search.packing.ejections import EjectingPacking
from kronos.engine.settings import Settings
from kronos.engine.simulation.simulation import Simulation
from kronos.engine.types import ServerGroup
from tests.builders import packing, scopes
from tests.unit.engine.planning.test_pack import CPU, Vm, scope, vm

Placed = tuple[str, str, str]


def tight(*more: Vm, groups: Sequence[ServerGroup] = ()) -> Simulation:
    """h1 is to be emptied; h2 has room for 4 vCPUs, h3 for 2, h4 none."""
    vms = [
        vm('a', 'h1', [0.02], vcpus=2),
        vm('b', 'h1', [0.01], vcpus=4),
        vm('c', 'h2', [0.3], vcpus=2),
        vm('d', 'h3', [0.2], vcpus=4),
        vm('e', 'h4', [0.1], vcpus=6),
        *more,
    ]
    hosts = {'h1': [0.03], 'h2': [0.3], 'h3': [0.2], 'h4': [0.1]}
    return within_six(vms, hosts, groups=groups)


def within_six(
    vms: Sequence[Vm], hosts: dict[str, list[float]], **more: Any
) -> Simulation:
    """Hosts of six vCPUs each."""
    snapshot = scope(vms, hosts, **more)
    room = {'VCPU': 6, 'MEMORY_MB': 9999}
    scopes.give_room(snapshot, dict.fromkeys(hosts, room))
    settings = Settings(max_migrations=9, min_host_coverage=0.0)
    return packing.packing(snapshot, [CPU], settings).scope.simulation


def place(
    found: Simulation, uuids: Sequence[str], spare: float = 0.0
) -> tuple[list[Placed], str]:
    """What moves, and who is stuck."""
    index = found.utilization.index
    hosts = np.ones(len(index.hosts), dtype=bool)
    hosts[index.host['h1']] = False
    instances = np.array([index.instance[one] for one in uuids])
    before = found.placement.host_of.copy()
    with found.placement.trial():
        made = EjectingPacking(found)
        stuck = made.place_all(instances, hosts, spare, 0)
    np.testing.assert_array_equal(before, found.placement.host_of)
    moves = [
        (index.instances[one], index.hosts[source], index.hosts[host])
        for one, source, host in made.moves
    ]
    return moves, '' if stuck is None else index.instances[stuck]


class TestRedirections(base.BaseTestCase):
    def test_it_goes_elsewhere_and_comes_last(self) -> None:
        """a would have gone to h2, the fullest; only there is b's room."""
        moves, stuck = place(tight(), ['a', 'b'])
        self.assertEqual('', stuck)
        self.assertEqual([('a', 'h1', 'h3'), ('b', 'h1', 'h2')], moves)

    def test_nothing_is_changed_where_there_is_room(self) -> None:
        moves, _ = place(tight(), ['b', 'a'])
        self.assertEqual([('b', 'h1', 'h2'), ('a', 'h1', 'h3')], moves)

    def test_it_has_nowhere_else_to_go(self) -> None:
        found = tight(vm('f', 'h3', [0.01], vcpus=2))
        moves, stuck = place(found, ['a', 'b'])
        self.assertEqual('b', stuck)
        self.assertEqual([('a', 'h1', 'h2')], moves)

    def test_tries_are_counted(self) -> None:
        most = ejections.MOST_TRIES
        ejections.MOST_TRIES = 0
        self.addCleanup(setattr, ejections, 'MOST_TRIES', most)
        self.assertEqual('b', place(tight(), ['a', 'b'])[1])

    def test_evens(self) -> None:
        """The emptiest with room is h3."""
        found = tight()
        index = found.utilization.index
        with found.placement.trial():
            made = EjectingPacking(found, evens=True)
            hosts = np.ones(len(index.hosts), dtype=bool)
            one = np.array([index.instance['a']])
            self.assertIsNone(made.place_all(one, hosts, 0.0, 0))
        self.assertEqual('h3', index.hosts[made.moves[0][2]])


class TestDisplacements(base.BaseTestCase):
    def test_one_that_would_have_stayed(self) -> None:
        """d and e cannot help: nowhere else is room for them."""
        found = tight(vm('g', 'h2', [0.01], vcpus=2))
        moves, stuck = place(found, ['b'], spare=1)
        self.assertEqual('', stuck)
        self.assertEqual([('c', 'h2', 'h3'), ('b', 'h1', 'h2')], moves)
        self.assertEqual('b', place(found, ['b'])[1])

    def test_the_lightest_of_those_that_help(self) -> None:
        found = tight(vm('g', 'h2', [0.01], vcpus=2))
        index = found.utilization.index
        found.utilization.memory_mb[index.instance['c']] = 2048
        found.utilization.memory_mb[index.instance['g']] = 1024
        moves, _ = place(found, ['b'], spare=1)
        self.assertEqual(('g', 'h2', 'h3'), moves[0])

    def test_rules_hold(self) -> None:
        """What is fixed does not make room, and groups stay apart."""
        found = tight(
            vm('g', 'h2', [0.01], vcpus=2),
            groups=[ServerGroup('g', 'anti-affinity', ['c', 'd'])],
        )
        moves, _ = place(found, ['b'], spare=1)
        self.assertEqual(('g', 'h2', 'h3'), moves[0])
        found.movable[found.utilization.index.instance['g']] = False
        self.assertEqual(([], 'b'), place(found, ['b'], spare=1))

    def test_several_where_one_is_not_enough(self) -> None:
        """b lacks 2 vCPUs on h2, which one of 1 does not make free."""
        vms = [
            vm('b', 'h1', [0.01], vcpus=4),
            *(vm(f'c{n}', 'h2', [0.05], vcpus=1) for n in range(4)),
            vm('d', 'h3', [0.2], vcpus=3),
            vm('e', 'h4', [0.1], vcpus=5),
        ]
        hosts = {'h1': [0.01], 'h2': [0.2], 'h3': [0.2], 'h4': [0.1]}
        found = within_six(vms, hosts)
        moves, stuck = place(found, ['b'], spare=2)
        self.assertEqual('', stuck)
        self.assertEqual(
            [('c0', 'h2', 'h3'), ('c1', 'h2', 'h3'), ('b', 'h1', 'h2')], moves
        )
        self.assertEqual(([], 'b'), place(found, ['b'], spare=1))
