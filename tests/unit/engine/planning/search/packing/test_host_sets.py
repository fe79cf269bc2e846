# SPDX-License-Identifier: Apache-2.0
"""Are those hosts chosen of which most can be emptied?"""

from typing import Any

import numpy as np
from oslotest import base

from kronos.engine.planning.proof import emptied_hosts
from kronos.engine.planning.search.packing import host_sets
from kronos.engine.planning.search.packing.host_sets import HostSets
from kronos.engine.settings import Settings
from kronos.engine.types import Snapshot
from tests.builders import packing, scopes
from tests.unit.engine.planning.test_pack import CPU, Vm, scope, three, vm


def cheap_and_light() -> Snapshot:
    """h1 is the least loaded, with most instances."""
    vms: list[Vm] = [vm(f'a{n}', 'h1', [0.01]) for n in range(4)]
    vms += [vm('b', 'h2', [0.1]), vm('c', 'h3', [0.15])]
    vms += [vm(f'd{n}', 'h4', [0.1]) for n in range(5)]
    return scope(vms, {'h1': [0.04], 'h2': [0.1], 'h3': [0.15], 'h4': [0.5]})


def chosen(
    snapshot: Snapshot, **settings: Any
) -> tuple[list[str], list[tuple[str, str]]]:
    """The hosts, and which instance goes where."""
    asked = {'max_migrations': 4, 'min_host_coverage': 0.0, **settings}
    found = packing.packing(snapshot, [CPU], Settings(**asked)).scope
    before = found.simulation.placement.host_of.copy()
    most = emptied_hosts.bound(found).at_most
    best = HostSets(found, most, lambda _: True).best()
    np.testing.assert_array_equal(before, found.simulation.placement.host_of)
    index = found.simulation.utilization.index
    return sorted(index.hosts[host] for host in best.hosts), [
        (index.instances[one], index.hosts[host])
        for one, _, host in best.moves
    ]


class TestHostSets(base.BaseTestCase):
    def test_most_hosts_before_the_least_loaded(self) -> None:
        self.assertEqual(
            (['h2', 'h3'], [('b', 'h4'), ('c', 'h4')]),
            chosen(cheap_and_light()),
        )

    def test_fewest_migrations(self) -> None:
        """One host is enough where one more is kept."""
        self.assertEqual(
            (['h2'], [('b', 'h4')]), chosen(cheap_and_light(), keep_hosts=3)
        )

    def test_then_the_least_memory(self) -> None:
        snapshot = cheap_and_light()
        snapshot.instances['b'].memory_mb = 4096
        snapshot.instances['c'].memory_mb = 2048
        self.assertEqual(
            (['h3'], [('c', 'h4')]), chosen(snapshot, keep_hosts=3)
        )

    def test_what_is_emptied_takes_nothing(self) -> None:
        """h3 is the fullest for a, and is to be emptied itself."""
        snapshot = scope(
            [
                vm('a', 'h1', [0.1]),
                vm('b', 'h2', [0.5]),
                vm('c', 'h3', [0.15]),
                vm('d1', 'h4', [0.3]),
                vm('d2', 'h4', [0.2]),
            ],
            {'h1': [0.1], 'h2': [0.5], 'h3': [0.15], 'h4': [0.5]},
        )
        hosts, moves = chosen(snapshot)
        self.assertEqual(['h1', 'h3'], hosts)
        self.assertEqual([('a', 'h2'), ('c', 'h2')], sorted(moves))

    def test_one_makes_room(self) -> None:
        """b fits nowhere, unless d leaves h3 for h2."""
        vms = [
            vm('b', 'h1', [0.01], vcpus=4),
            vm('c', 'h2', [0.3], vcpus=4),
            vm('d', 'h3', [0.2], vcpus=2),
            vm('e', 'h3', [0.2], vcpus=2, locked=True),
        ]
        hosts = {'h1': [0.01], 'h2': [0.3], 'h3': [0.4]}
        snapshot = scope(vms, hosts)
        room = {'VCPU': 6, 'MEMORY_MB': 9999}
        scopes.give_room(snapshot, dict.fromkeys(hosts, room))
        self.assertEqual(
            (['h1'], [('d', 'h2'), ('b', 'h3')]), chosen(snapshot)
        )
        self.assertEqual(([], []), chosen(snapshot, max_migrations=1))

    def test_nothing_can_be_emptied(self) -> None:
        self.assertEqual(([], []), chosen(three(), keep_hosts=3))

    def test_it_is_safe_after_each_host(self) -> None:
        found = packing.packing(three(), [CPU], Settings(max_migrations=4))
        asked = []

        def is_safe(packed: Any) -> bool:
            asked.append(len(packed.moves))
            return len(packed.moves) < 2

        best = HostSets(found.scope, 2, is_safe).best()
        self.assertEqual(1, len(best.hosts))
        self.assertIn(2, asked)

    def test_large_scopes_are_tried_in_one_order(self) -> None:
        """By migrations; no sets of them."""
        effort = host_sets.EFFORT
        host_sets.EFFORT = 0
        self.addCleanup(setattr, host_sets, 'EFFORT', effort)
        self.assertEqual(['h2', 'h3'], chosen(cheap_and_light())[0])
