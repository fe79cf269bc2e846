# SPDX-License-Identifier: Apache-2.0
"""Does an audit that makes room know its flavors, and refuse others?"""

from typing import Any

from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.engine.settings import Settings
from kronos.engine.types import Flavor, Headroom
from kronos.extensions.room import extension, room, room_parameters
from kronos.extensions.room.extension import MakeRoom
from kronos.extensions.room.room import RoomNeeds, RoomRequest
from kronos.recordings import parts
from kronos.recordings.replay import ReplayOptions, replay
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import Cloud, ScopeRequest
from tests.builders import numa, recordings, rooms

NUMA = Flavor('n', 'numa', 4, 16, extra_specs={'hw:numa_nodes': '2'})


class TestPrepare(base.BaseTestCase):
    def test_settings(self) -> None:
        asked = rooms.settings(flavor='f8', max_migrations=7)
        self.assertEqual(7, asked.max_migrations)
        self.assertTrue(asked.unlimited)
        self.assertFalse(asked.rebalance)

    def test_nothing_asked(self) -> None:
        error = self.assertRaises(
            ConfigurationError, MakeRoom().prepare, Settings()
        )
        self.assertIn('--parameter flavor=NAME', str(error))

    def test_fault_of_a_recording(self) -> None:
        """What a replay is given was never checked by an audit."""
        for request, text in (
            (RoomRequest(), 'flavors'),
            (RoomRequest({'f8': 0}), 'f8'),
            (RoomRequest({'f8': 1}, flavor='f8'), 'flavor'),
        ):
            error = self.assertRaises(
                ConfigurationError, MakeRoom(request).prepare, Settings()
            )
            self.assertIn(text, str(error))


class TestFlavors(base.BaseTestCase):
    def cut(self, **request: Any) -> RoomNeeds:
        snapshot = rooms.scope()
        inventory = CloudInventory(
            Cloud({}, {}, []),
            None,
            [*snapshot.instances.values()],
            beside={room.NAME: RoomNeeds({'f8': rooms.FLAVORS['f8']})},
        )
        needs = inventory.beside[room.NAME]
        assert isinstance(needs, RoomNeeds)
        needs.flavors['numa'] = NUMA
        asked = MakeRoom(RoomRequest(**request))
        return asked.cut(snapshot, inventory, ScopeRequest())

    def test_known(self) -> None:
        """Those of the cloud, and those of servers."""
        known = self.cut(flavors={'f8': 1}).flavors
        self.assertEqual({'f2', 'f4', 'f8', 'numa'}, {*known})

    def test_refused(self) -> None:
        for name, text in (
            ('f88', 'there is no flavor f88; did you mean f8?'),
            ('numa', 'gives servers a NUMA topology'),
        ):
            error = self.assertRaises(
                ConfigurationError, self.cut, flavors={name: 1}
            )
            self.assertIn(text, str(error))

    def test_servers_on_numa_nodes_stay(self) -> None:
        """Whatever an operator allows to move otherwise."""
        snapshot = rooms.scope()
        for uuid in ('a4', 'b4'):
            snapshot.instances[uuid].extra_specs = {'hw:numa_nodes': '1'}
        snapshot.instances['b4'].unmovable = 'excluded'
        given = dict(snapshot.instances)
        inventory = CloudInventory(
            Cloud({}, {}, []), None, [*snapshot.instances.values()]
        )
        asked = MakeRoom(RoomRequest({'f2': 1}))
        asked.cut(snapshot, inventory, ScopeRequest())
        why = {
            uuid: instance.unmovable
            for uuid, instance in snapshot.instances.items()
            if instance.unmovable
        }
        self.assertEqual({'a4', 'b4'}, {*why})
        self.assertIn('hw:numa_nodes=1 gives servers a NUMA', why['a4'])
        self.assertEqual('excluded', why['b4'])
        self.assertEqual('', given['a4'].unmovable)
        result = rooms.plan(snapshot, flavors={'f8': 1})
        moved = {step.instance for step in result.steps}
        self.assertEqual(set(), moved & {'a4', 'b4'})


class TestNodes(base.BaseTestCase):
    """Flavors with a NUMA topology, where the nodes of hosts are known."""

    def setUp(self) -> None:
        super().setUp()
        self.snapshot = numa.scope(
            {'a1': ('a', [(0, 4)]), 'b1': ('b', [(1, 4)])}
        )

    def cut(self, **request: Any) -> RoomNeeds:
        inventory = CloudInventory(
            Cloud({}, {}, []),
            None,
            [*self.snapshot.instances.values()],
            beside={**self.snapshot.beside},
        )
        asked = MakeRoom(RoomRequest(**request))
        return asked.cut(self.snapshot, inventory, ScopeRequest())

    def staying(self) -> dict[str, str]:
        return {
            uuid: instance.unmovable
            for uuid, instance in self.snapshot.instances.items()
            if instance.unmovable
        }

    def test_wanted(self) -> None:
        needs = self.cut(flavors={'p8': 1})
        self.assertEqual({'a', 'b'}, {*needs.numa.layouts})
        self.assertEqual({}, self.staying())

    def test_for_another_flavor_they_stay(self) -> None:
        needs = room.needs_of(self.snapshot)
        needs.flavors['plain'] = Flavor('plain', 'plain', 4, 16)
        self.cut(flavors={'plain': 1})
        self.assertEqual({'a1', 'b1'}, {*self.staying()})

    def test_not_known(self) -> None:
        del room.needs_of(self.snapshot).numa.topologies['a1']
        self.cut(flavors={'p8': 1})
        self.assertEqual(
            {
                'a1': 'the NUMA nodes of its host are not known: Nova does '
                'not show the NUMA topology of server a1'
            },
            self.staying(),
        )

    def test_two_flavors(self) -> None:
        """One with a NUMA topology is enough for servers with one to move."""
        needs = room.needs_of(self.snapshot)
        needs.flavors['plain'] = Flavor('plain', 'plain', 4, 16)
        self.cut(flavors={'plain': 1, 'p8': 1})
        self.assertEqual({}, self.staying())

    def test_demand(self) -> None:
        """Dedicated CPUs are no VCPU on a destination."""
        own, settings = MakeRoom(), Settings()
        server = self.snapshot.instances['a1']
        demand = own.demand(server, self.snapshot, settings)
        self.assertEqual(
            {'VCPU': 0, 'MEMORY_MB': 400, 'DISK_GB': server.disk_gb}, demand
        )
        plain = rooms.scope()
        server = plain.instances['a4']
        self.assertIsNone(own.demand(server, plain, settings))


class TestBadInput(base.BaseTestCase):
    """Each is one sentence with what is possible instead."""

    def refused(self, specs: dict[str, str]) -> str:
        by_name = dict(rooms.FLAVORS)
        by_name['bad'] = Flavor('b', 'bad', 7, 16, extra_specs=specs)
        error = self.assertRaises(
            ConfigurationError, extension.require_countable, 'bad', by_name
        )
        self.assertEqual(1, len(str(error).splitlines()))
        return str(error)

    def test_flavors(self) -> None:
        for specs, reason in (
            ({'hw:cpu_policy': 'dedicated'}, 'gives servers a NUMA topology'),
            ({'hw:mem_page_size': 'large'}, 'gives servers a NUMA topology'),
            ({'pci_passthrough:alias': 'nic:1'}, 'requires a device'),
            ({'resources:VGPU': '1'}, 'requires a device'),
            ({'accel:device_profile': 'fpga'}, 'requires a device'),
            ({'group_policy': 'none'}, 'does not read'),
        ):
            text = self.refused(specs)
            self.assertIn(reason, text)
            self.assertIn(
                '; room can be made for f8, the nearest in size', text
            )

    def test_no_flavor_is_possible(self) -> None:
        specs = {'hw:numa_nodes': '1'}
        by_name = {'bad': Flavor('b', 'bad', 7, 16, extra_specs=specs)}
        error = self.assertRaises(
            ConfigurationError, extension.require_countable, 'bad', by_name
        )
        self.assertIn('; name a flavor without it', str(error))

    def test_none_of_anything(self) -> None:
        for raw, text in (
            ({'flavors': {}}, 'such as {"f16": 3} or f16=3'),
            ({'flavors': {'f8': 0}}, 'numbers from 1 to 10000'),
            ({'flavors': 'f8=none'}, 'numbers from 1 to 10000'),
            (
                {'flavor': 'f8', 'max_migrations': 0},
                'whole number from 1 to',
            ),
        ):
            error = self.assertRaises(
                ConfigurationError, room_parameters.parse, raw
            )
            self.assertIn(text, str(error))

    def test_a_scope_in_which_nothing_fits(self) -> None:
        """That no slot can be won is proven."""
        snapshot = rooms.scope()
        for host in snapshot.hosts.values():
            host.headroom = {
                'VCPU': Headroom(6, 6),
                'MEMORY_MB': Headroom(1000, 24),
            }
        result = rooms.plan(snapshot, flavor='f4', max_migrations=5)
        self.assertEqual(
            'slots of f4: 0 -> 0 after 0 migrations; no plan with as many '
            'migrations has more',
            result.reason,
        )

    def test_joint_targets_that_exclude_each_other(self) -> None:
        result = rooms.plan(rooms.scope(), flavors={'f10': 1, 'f8': 1})
        self.assertRegex(
            result.reason,
            'no number of migrations makes room for 1 server of f10 and 1 '
            'server of f8; at most [01] servers? of f10 and [01] servers? of '
            'f8 can get room',
        )


class TestReplay(base.BaseTestCase):
    def test_asks(self) -> None:
        """Parameters of kronos-replay are understood without an audit."""
        made = parts.made(room.NAME, {'flavors': {'f8': 1}, 'apart': True})
        self.assertEqual(RoomRequest({'f8': 1}, apart=True), made.asked)
        self.assertEqual(room.NAME, parts.by_mode()['make_room'])

    def test_recording_of_another_audit(self) -> None:
        recording = recordings.small()
        for instance in recording.gathered.instances:
            instance.flavor, instance.vcpus = 'f4', 4
        options = ReplayOptions(
            mode='make_room',
            parameters={'flavor': 'f4', 'max_migrations': '3'},
        )
        result, *_ = replay(recording, options).report.scopes
        outcome = room.outcome_of(result)
        assert outcome is not None
        self.assertLessEqual(outcome.moves, 3)
        self.assertIn('slots of f4', result.reason)


class TestRequire(base.BaseTestCase):
    def test_countable(self) -> None:
        extension.require_countable('f8', rooms.FLAVORS)
