# SPDX-License-Identifier: Apache-2.0
"""Are the flavors of a cloud read, whichever servers there are?"""

from typing import Any
from unittest import mock

from oslotest import base

from kronos.clients.nova.rows import HostAggregate
from kronos.engine.types import Host
from kronos.extensions.room import room
from kronos.extensions.room.readings import reader
from kronos.extensions.room.room import RoomNeeds
from kronos.options.numa_cells import NumaCells
from tests.builders import rooms


class TestReader(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.lines: list[str] = []

    def needs(self, cells: dict[str, NumaCells]) -> RoomNeeds:
        look: Any = mock.Mock(report=self.lines.append)
        look.hosts = {'scope': [Host('a')]}
        look.gathered.beside = {}
        look.gathered.instances = []
        look.gathered.cloud.aggregates = [
            HostAggregate(1, 'pinned', hosts=['a', 'elsewhere'])
        ]
        listed = mock.Mock(
            flavors=mock.Mock(return_value=[*rooms.FLAVORS.values()])
        )
        with mock.patch.object(reader, 'CellListings', return_value=listed):
            reader.RoomReader(cells).read(look)
        needs = look.gathered.beside[room.NAME]
        assert isinstance(needs, RoomNeeds)
        return needs

    def test_read(self) -> None:
        self.assertEqual(RoomNeeds(rooms.FLAVORS), self.needs({}))
        self.assertEqual(['3 flavors'], self.lines)

    def test_nodes(self) -> None:
        """Of the hosts that are planned."""
        needs = self.needs({'pinned': NumaCells(2, 8, 8000)})
        self.assertEqual({'a'}, {*needs.numa.layouts})
        self.assertEqual('NUMA topologies of 0 servers', self.lines[0])
