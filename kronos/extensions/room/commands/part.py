# SPDX-License-Identifier: Apache-2.0
"""The part of the room in commands: what a recording has of NUMA nodes."""

from typing import Any

from kronos.cmd.checks.parts import CommandPart
from kronos.cmd.credentials import Access
from kronos.engine.settings import Settings
from kronos.extensions.room.readings.reader import RoomReader
from kronos.snapshots import node_reader
from kronos.snapshots.reader import Reader


class RoomCommands(CommandPart):
    """A recording has the flavors of the cloud if NUMA nodes are known."""

    def reader(self, access: Access, conf: Any, settings: Settings) -> Reader:
        cells = node_reader.configured(conf.kronos.numa_cells)
        return RoomReader(cells) if cells else Reader()
