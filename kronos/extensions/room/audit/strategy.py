# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_make_room: it makes room for large servers."""

from typing import TYPE_CHECKING, Any

from kronos.engine.settings import ModePhases, Settings, When
from kronos.extensions.room import room_parameters
from kronos.extensions.room.audit import additions, goal
from kronos.extensions.room.extension import MakeRoom
from kronos.snapshots.reader import Reader
from kronos.strategies import base, parameters

if TYPE_CHECKING:
    from kronos.clients.connection import HostProcess

MODE = ModePhases(
    evacuate=When.ALWAYS,
    unlimited=True,
    waits_for_cooldown=False,
    is_extended=True,
)


class MakeRoomStrategy(base.KronosStrategy):
    """Move the fewest servers so that new ones of large flavors fit.

    As a CONTINUOUS audit it keeps the wanted number of servers possible.
    """

    NAME = 'kronos_make_room'
    DISPLAY_NAME = 'Kronos: make room for large servers'
    PLAN_MODE = MODE
    GOAL = goal.Room
    PARAMETERS = ()
    ADDITIONS = additions.RoomAdditions()
    summary = staticmethod(additions.summary)

    @classmethod
    def get_schema(cls) -> dict[str, Any]:
        return room_parameters.schema()

    @classmethod
    def parse(cls, raw: dict[str, Any]) -> parameters.Parameters:
        own = {
            name: value
            for name, value in raw.items()
            if name not in room_parameters.PROPERTIES
        }
        parsed = parameters.parse(own, ())
        parsed.extension = MakeRoom(room_parameters.parse(raw))
        return parsed

    @classmethod
    def reader(
        cls, settings: Settings, conf: Any, clients: 'HostProcess'
    ) -> Reader:
        from kronos.clients.nova import node_reader
        from kronos.extensions.room.readings.reader import RoomReader

        return RoomReader(node_reader.configured(conf.kronos.numa_cells))
