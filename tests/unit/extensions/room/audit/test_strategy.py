# SPDX-License-Identifier: Apache-2.0
"""Is the strategy declared as Watcher and Kronos expect it?"""

from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.engine.settings import PhaseSelection, Settings
from kronos.extensions.room.audit.goal import Room
from kronos.extensions.room.audit.strategy import MODE, MakeRoomStrategy
from kronos.extensions.room.extension import MakeRoom
from kronos.extensions.room.room import RoomRequest


class TestStrategy(base.BaseTestCase):
    def test_parse(self) -> None:
        parsed = MakeRoomStrategy.parse(
            {'aggregates': 'alpha', 'flavor': 'f8', 'max_migrations': 3}
        )
        self.assertEqual(['alpha'], parsed.aggregates)
        self.assertEqual(3, parsed.max_migrations)
        request = RoomRequest(flavor='f8', max_migrations=3)
        self.assertEqual(MakeRoom(request), parsed.extension)

    def test_unknown_parameter(self) -> None:
        raw = {'flavors': 'f8=1', 'flavours': 'f8=1'}
        self.assertRaises(ConfigurationError, MakeRoomStrategy.parse, raw)

    def test_mode(self) -> None:
        """The capacity of hosts is read, and nothing else is planned."""
        settings = Settings()
        made = MakeRoom(RoomRequest({'f8': 1}))
        settings.set_mode(MODE, PhaseSelection(extension=made))
        self.assertTrue(settings.uses_ceilings)
        self.assertFalse(settings.rebalance)
        self.assertTrue(settings.unlimited)

    def test_names(self) -> None:
        self.assertEqual('kronos_make_room', MakeRoomStrategy.get_name())
        self.assertEqual(Room.NAME, MakeRoomStrategy.get_goal_name())
