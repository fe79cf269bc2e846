# SPDX-License-Identifier: Apache-2.0
"""Does a new server keep off the room for large ones?"""

import operator
import random
from types import SimpleNamespace
from unittest import mock

from kronos.engine.types import Flavor
from kronos.weighers import slot_hold
from tests.builders.caches import WeigherTestCase

GIB = 1024
LARGE = Flavor('1', 'f16', 16, 32 * GIB, root_gb=10)
HUGE = Flavor('2', 'f32', 32, 64 * GIB, root_gb=10)
PINNED = Flavor(
    '3', 'pin', 16, GIB, extra_specs={'hw:cpu_policy': 'dedicated'}
)
LICENCE = Flavor(
    '4', 'lic', 4, GIB, extra_specs={'resources:CUSTOM_LICENCE': '1'}
)
FREE = (17.0, 1000.0 * GIB, 1000.0)
END = 1798675200.0
"""2026-12-31 in UTC."""


def state(vcpus, memory_gib=1000, disk_gb=1000, **fields):
    """A host with so much free."""
    values = {
        'host': 'cmp1',
        'vcpus_total': 32,
        'vcpus_used': 64 - vcpus,
        'cpu_allocation_ratio': 2.0,
        'total_usable_ram_mb': 1024 * GIB,
        'free_ram_mb': memory_gib * GIB,
        'ram_allocation_ratio': 1.0,
        'total_usable_disk_gb': 2000,
        'free_disk_mb': disk_gb * 1024,
        'disk_allocation_ratio': 1.0,
    }
    return SimpleNamespace(**values | fields)


def spec(vcpus=2, memory_gib=4, root_gb=20, **fields):
    flavor = SimpleNamespace(
        vcpus=vcpus,
        memory_mb=memory_gib * GIB,
        root_gb=root_gb,
        ephemeral_gb=0,
        swap=0,
    )
    return SimpleNamespace(flavor=flavor, **fields)


class HoldTestCase(WeigherTestCase):
    def setUp(self):
        super().setUp()
        self.now = END - 1
        self.flavors = {
            flavor.name: flavor for flavor in (LARGE, HUGE, PINNED, LICENCE)
        }
        self.fault = None
        self.set(slot_weight=0.5, watched_flavors=['f16'])
        self.reader = slot_hold.HoldReader(
            self.conf, self.flavor, lambda: self.now
        )

    def flavor(self, name):
        if self.fault:
            raise self.fault
        return self.flavors.get(name)

    def weighed(self, *states, server=None):
        hold = self.reader.read()
        weights = [1.0] * len(states)
        return hold.weighed(weights, states, server or spec())


class TestWeights(HoldTestCase):
    def test_a_host_where_a_slot_is_lost(self):
        self.assertEqual([0.5, 1.0], self.weighed(state(17), state(18)))

    def test_a_host_without_slots(self):
        self.assertEqual([1.0, 1.0], self.weighed(state(15), state(2)))

    def test_each_resource(self):
        self.assertEqual(
            [0.5, 1.0], self.weighed(state(60, 35), state(60, 36))
        )
        self.assertEqual([1.0], self.weighed(state(60, disk_gb=29)))
        self.set(check_disk=True)
        self.assertEqual([0.0], self.weighed(state(60, disk_gb=29)))
        root = spec(root_gb=99, is_bfv=True)
        self.assertEqual(
            [1.0], self.weighed(state(60, disk_gb=29), server=root)
        )

    def test_a_server_that_takes_several(self):
        large = spec(33, 40)
        self.assertEqual(
            [-0.5, 0.5], self.weighed(state(48), state(17), server=large)
        )

    def test_several_flavors(self):
        """The last room for f32 is worth the slots of f16 in it, and more."""
        self.set(watched_flavors=['f16', 'f32'])
        self.assertEqual([0.0, 0.5], self.weighed(state(33), state(17)))

    def test_without_ratios(self):
        """An overfull host has no slots."""
        bare = dict.fromkeys(
            (
                'cpu_allocation_ratio',
                'ram_allocation_ratio',
                'disk_allocation_ratio',
            )
        )
        self.assertEqual(
            [1.0, 0.5],
            self.weighed(
                state(20, vcpus_used=40, **bare),
                state(20, vcpus_used=15, **bare),
            ),
        )


class TestSeenHosts(HoldTestCase):
    """Hosts are as they are, however often they were weighed before."""

    def test_as_if_new(self):
        """Servers of many sizes come and go on a few hosts."""
        self.set(watched_flavors=['f16', 'f32'], check_disk=True)
        draw = random.Random(1)
        hold = self.reader.read()
        lost = 0
        for _ in range(500):
            states = [
                state(
                    draw.randint(-8, 64),
                    draw.randint(-8, 120),
                    draw.randint(10, 50),
                    host=f'cmp{number}',
                )
                for number in range(4)
            ]
            server = spec(draw.randint(1, 40), draw.randint(1, 80), 5)
            weights = hold.weighed([1.0] * 4, states, server)
            weights = hold.weighed([1.0] * 4, states, server)
            new = self.reader.read()
            self.assertEqual(
                new.weighed([1.0] * 4, states, server), weights, states
            )
            expected = [1.0 - 0.5 * self.cost(one, server) for one in states]
            self.assertEqual(expected, weights, states)
            lost += sum(weight < 1.0 for weight in weights)
        self.assertGreater(lost, 100)

    def cost(self, host, server):
        flavor = server.flavor
        disk_gb = host.free_disk_mb // 1024
        before = 64 - host.vcpus_used, host.free_ram_mb, disk_gb
        after = (
            before[0] - flavor.vcpus,
            before[1] - flavor.memory_mb,
            before[2] - flavor.root_gb,
        )
        return sum(
            self.slots(before, size) - self.slots(after, size)
            for size in ((16, 32 * GIB, 10), (32, 64 * GIB, 10))
        )

    def slots(self, free, size):
        return max(0, min(map(operator.floordiv, free, size)))

    def test_unchanged_hosts_are_not_looked_at_again(self):
        hold = self.reader.read()
        looks = []
        host = state(17)
        with mock.patch.object(
            slot_hold, '_free', lambda seen: looks.append(seen) or FREE
        ):
            for vcpus, number in ((17, 1), (17, 1), (16, 2), (16, 2)):
                host.vcpus_used = 64 - vcpus
                hold.weighed([1.0], [host], spec())
                self.assertEqual(number, len(looks))


class TestReader(HoldTestCase):
    def logged_last(self):
        return self.log.output.strip().splitlines()[-1]

    def test_off(self):
        self.set(slot_weight=0.0)
        self.assertIsNone(self.reader.read())
        self.assertEqual('', self.log.output)

    def test_the_defaults_hold_nothing(self):
        self.conf.clear_override('slot_weight', 'kronos')
        self.assertIsNone(self.reader.read())

    def test_no_flavor_is_watched(self):
        self.set(watched_flavors=[])
        self.assertIsNone(self.reader.read())
        self.assertIn('watched_flavors is empty', self.logged_last())

    def test_it_ends(self):
        self.set(hold_until='2026-12-31')
        self.assertIsNotNone(self.reader.read())
        self.assertIn(
            'room is held for flavor f16 until 2026-12-31', self.logged_last()
        )
        self.now = END
        self.assertIsNone(self.reader.read())
        self.assertIsNone(self.reader.read())
        self.assertEqual(1, self.logged('room is no longer held'))

    def test_no_date(self):
        self.set(hold_until='soon')
        self.assertIsNone(self.reader.read())
        self.assertIn("hold_until = 'soon' is not a date", self.logged_last())

    def test_flavors_of_which_no_room_is_held(self):
        self.set(watched_flavors=['pin', 'lic', 'f61', 'f16', 'f16'])
        self.assertEqual(((16.0, 32.0 * GIB, 0.0),), self.reader.read().sizes)
        for text in (
            'for flavor pin: its extra spec hw:cpu_policy=dedicated gives',
            'for flavor lic: it requires CUSTOM_LICENCE, and nova-scheduler',
            'for flavor f61: there is no such flavor',
        ):
            self.assertIn(f'no room is held {text}', self.log.output)

    def test_none_is_left(self):
        self.set(watched_flavors=['pin'])
        self.assertIsNone(self.reader.read())

    def test_nova_cannot_be_asked(self):
        """The last hold remains, and the cause is logged once."""
        hold = self.reader.read()
        self.fault = KeyError('secret')
        self.assertEqual(hold, self.reader.read())
        self.assertEqual(hold, self.reader.read())
        self.assertEqual(1, self.logged('no flavor can be read: KeyError'))
        self.assertNotIn('secret', self.log.output)

    def test_the_thread_reads_it(self):
        self.cache = self.new_cache(read_hold=self.reader.read)
        self.give({'a': 0.5})
        self.weigh('a')
        self.assertIsNone(self.cache.hold)
        self.turns.start()
        self.assertEqual(0.5, self.cache.hold.weight)
        self.set(slot_weight=0.0)
        self.refresh()
        self.assertIsNone(self.cache.hold)

    def test_the_hold_does_not_need_prometheus(self):
        self.cache = self.new_cache(read_hold=self.reader.read)
        self.prometheus.fault = (500, '')
        self.weigh('a')
        self.turns.start()
        self.assertEqual(0.5, self.cache.hold.weight)
