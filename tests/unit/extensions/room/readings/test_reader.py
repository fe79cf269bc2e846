# SPDX-License-Identifier: Apache-2.0
"""Are the flavors of a cloud read, whichever servers there are?"""

from typing import Any
from unittest import mock

from oslotest import base

from kronos.extensions.room import room
from kronos.extensions.room.readings import reader
from tests.builders import rooms


class TestReader(base.BaseTestCase):
    def test_read(self) -> None:
        lines: list[str] = []
        look: Any = mock.Mock(report=lines.append)
        look.gathered.beside = {}
        listed = mock.Mock(
            flavors=mock.Mock(return_value=[*rooms.FLAVORS.values()])
        )
        with mock.patch.object(reader, 'CellListings', return_value=listed):
            reader.RoomReader().read(look)
        needs = look.gathered.beside[room.NAME]
        self.assertEqual(rooms.FLAVORS, needs.flavors)
        self.assertEqual(['3 flavors'], lines)
