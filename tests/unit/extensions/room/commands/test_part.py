# SPDX-License-Identifier: Apache-2.0
"""Does a recording have NUMA nodes, and nothing else than before?"""

from typing import Any
from unittest import mock

from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.extensions.room.commands.part import RoomCommands
from kronos.extensions.room.readings.reader import RoomReader
from kronos.snapshots.reader import Reader


class TestReader(base.BaseTestCase):
    def reader(self, *lines: str) -> Reader:
        conf: Any = mock.Mock()
        conf.kronos.numa_cells = [*lines]
        unused: Any = None
        return RoomCommands().reader(unused, conf, unused)

    def test_configured(self) -> None:
        reader = self.reader('a: nodes=2, cpus=4, memory_mb=9')
        assert isinstance(reader, RoomReader)
        self.assertEqual({'a'}, {*reader.cells})

    def test_not_configured(self) -> None:
        self.assertNotIsInstance(self.reader(), RoomReader)

    def test_bad(self) -> None:
        self.assertRaises(ConfigurationError, self.reader, 'a: nodes=2')
