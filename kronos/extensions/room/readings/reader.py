# SPDX-License-Identifier: Apache-2.0
"""The reader of an audit that makes room: the flavors of the cloud."""

from kronos.clients.nova.cell_listings import CellListings
from kronos.extensions.room import room
from kronos.extensions.room.room import RoomNeeds
from kronos.snapshots.reader import Look, Reader


class RoomReader(Reader):
    """It reads the flavors, so that one that no server has can be wanted."""

    def read(self, look: Look) -> None:
        listed = CellListings(look.nova.api).flavors()
        look.gathered.beside[room.NAME] = RoomNeeds(
            {flavor.name: flavor for flavor in listed}
        )
        look.report(f'{len(listed)} flavors')
