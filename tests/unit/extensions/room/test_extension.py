# SPDX-License-Identifier: Apache-2.0
"""Does an audit that makes room know its flavors, and refuse others?"""

from typing import Any

from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.engine.settings import Settings
from kronos.engine.types import Flavor
from kronos.extensions.room import extension, room
from kronos.extensions.room.extension import MakeRoom
from kronos.extensions.room.room import RoomNeeds, RoomRequest
from kronos.recordings import parts
from kronos.recordings.replay import ReplayOptions, replay
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import Cloud, ScopeRequest
from tests.builders import recordings, rooms

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
