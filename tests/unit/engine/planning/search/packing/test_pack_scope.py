# SPDX-License-Identifier: Apache-2.0
"""Is it known which hosts may be emptied, and what limits that?"""

from typing import Any

import numpy as np
from oslotest import base

from kronos.engine.planning.search.packing import pack_scope
from kronos.engine.planning.search.packing.pack_scope import PackScope
from kronos.engine.settings import Settings
from kronos.engine.types import Event, Origin, Outcome, Snapshot
from tests.builders import packing, scopes
from tests.unit.engine.planning.test_pack import CPU, scope, three, vm


def asked(snapshot: Snapshot, **settings: Any) -> PackScope:
    settings.setdefault('min_host_coverage', 0.0)
    return packing.packing(snapshot, [CPU], Settings(**settings)).scope


class TestHosts(base.BaseTestCase):
    def test_in_use(self) -> None:
        """h4 is awaited, h5 is not in use."""
        snapshot = three()
        for name in ('h4', 'h5'):
            snapshot.hosts[name] = snapshot.hosts['h1']
        found = scope(
            [vm('a', 'h1', [0.1]), vm('b', 'h2', [0.2])],
            {'h1': [0.1], 'h2': [0.2], 'h4': [0.0], 'h5': [0.0]},
        )
        found.events = [
            Event('x', 'far', 'h4', Outcome.UNDER_WAY, 0.0, Origin.NOVA)
        ]
        one = asked(found)
        self.assertEqual([True, True, True, False], one.in_use().tolist())
        self.assertEqual([1, 1, 0, 0], one.number().tolist())
        self.assertEqual([0, 1], one.candidates().tolist())

    def test_what_stays_keeps_its_host(self) -> None:
        snapshot = three()
        snapshot.instances['a'].locked = True
        self.assertEqual([1, 2], asked(snapshot).candidates().tolist())

    def test_what_can_go_nowhere_keeps_its_host(self) -> None:
        """It is asked in scopes that are not too large."""
        snapshot = three()
        snapshot.instances['b'].pinned_availability_zone = 'gone'
        self.assertEqual([0, 2], asked(snapshot).candidates().tolist())
        pairs = pack_scope.ASKED_PAIRS
        pack_scope.ASKED_PAIRS = 1
        self.addCleanup(setattr, pack_scope, 'ASKED_PAIRS', pairs)
        self.assertEqual([0, 1, 2], asked(snapshot).candidates().tolist())

    def test_what_left_lately(self) -> None:
        snapshot = three()
        snapshot.events = [
            Event('b', 'h1', 'h2', Outcome.MOVED, 0.0, Origin.WATCHER)
        ]
        one = asked(snapshot, return_guard_seconds=60.0)
        self.assertEqual([1, 0, 0], one.gone.tolist())
        self.assertFalse(one.begun.any())
        snapshot.events[0].phase = 'pack'
        one = asked(snapshot)
        self.assertEqual([0, 0, 0], one.gone.tolist())
        self.assertEqual([True, False, False], one.begun.tolist())


class TestRooms(base.BaseTestCase):
    def test_knapsacks(self) -> None:
        """What leaves a host, and the room that is lost with it."""
        snapshot = three()
        for one in snapshot.instances.values():
            one.vcpus, one.memory_mb = 2, 1024
        room = {'VCPU': 8, 'MEMORY_MB': 2048}
        scopes.give_room(snapshot, dict.fromkeys(snapshot.hosts, room))
        vcpus, memory, cpu = asked(snapshot).knapsacks()
        self.assertEqual([8, 8, 8], vcpus.weights.tolist())
        self.assertEqual(6 + 6 + 4, vcpus.capacity)
        self.assertEqual([2048] * 3, memory.weights.tolist())
        self.assertEqual(1024 + 1024 + 0, memory.capacity)
        np.testing.assert_allclose([0.8] * 3, cpu.weights)
        self.assertAlmostEqual(0.7 + 0.6 + 0.5, cpu.capacity)

    def test_an_overfull_host_has_no_room(self) -> None:
        snapshot = three()
        for one in snapshot.instances.values():
            one.vcpus = 2
        rooms = {
            name: {'VCPU': 3, 'MEMORY_MB': 9999} for name in snapshot.hosts
        }
        scopes.give_room(snapshot, rooms)
        vcpus = asked(snapshot).knapsacks()[0]
        self.assertEqual([3, 3, 4], vcpus.weights.tolist())
        self.assertEqual(2, vcpus.capacity)

    def test_nothing_is_known(self) -> None:
        """No reading, no room; no view of Placement, any room."""
        snapshot = three()
        capacity = snapshot.readings['cpu'].capacity
        assert capacity is not None
        del capacity.samples[2]
        vcpus, _, cpu = asked(snapshot).knapsacks()
        self.assertGreater(vcpus.capacity, 1e18)
        self.assertAlmostEqual(0.7 + 0.6, cpu.capacity)
