# SPDX-License-Identifier: Apache-2.0
"""Is what somebody asks of a recording what an audit would be asked?"""

from oslotest import base

from kronos.common import exceptions
from kronos.extensions.room.recordings.part import RoomRecording
from kronos.extensions.room.room import RoomRequest
from kronos.recordings import parts
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import Cloud

PART = RoomRecording()


class TestPart(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.gathered = CloudInventory(Cloud({}, {}, []), {})

    def test_it_is_the_one_of_its_mode(self) -> None:
        self.assertEqual('room', parts.by_mode()[PART.mode])
        self.assertTrue(parts.takes_parameters('room'))

    def test_parameters(self) -> None:
        self.assertEqual(
            RoomRequest({'large': 2}, apart=True),
            PART.replayed(
                {'flavors': '{"large": 2}', 'apart': 'true'}, self.gathered
            ),
        )

    def test_none(self) -> None:
        self.assertIsNone(PART.replayed({}, self.gathered))

    def test_wrong_ones(self) -> None:
        self.assertRaises(
            exceptions.ConfigurationError,
            PART.replayed,
            {'flavors': '{"large": 0}'},
            self.gathered,
        )
