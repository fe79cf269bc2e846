# SPDX-License-Identifier: Apache-2.0
"""The part of make-room in a recording: its mode, and what it is asked."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from kronos.extensions.room import room, room_parameters
from kronos.extensions.room.room import RoomRequest
from kronos.recordings.anonymize.extra_specs import Specs
from kronos.recordings.parts import RecordingPart
from kronos.snapshots.cloud import CloudInventory


class RoomRecording(RecordingPart):
    """It keeps nothing but what the extension itself keeps."""

    mode: ClassVar[str] = 'make_room'
    keeps_texts: ClassVar[bool] = True

    def replayed(
        self, parameters: Mapping[str, Any], gathered: CloudInventory
    ) -> RoomRequest | None:
        return room_parameters.parse(dict(parameters)) if parameters else None

    def extra_specs(
        self, gathered: CloudInventory
    ) -> Iterable[Mapping[str, str]]:
        flavors = room.needs_of(gathered).flavors.values()
        return [flavor.extra_specs for flavor in flavors]

    def anonymous(self, gathered: CloudInventory, specs: Specs) -> None:
        """Ids of flavors are their names, which are new ones already."""
        if room.NAME not in gathered.beside:
            return
        needs = room.needs_of(gathered)
        flavors = {
            name: dataclasses.replace(
                flavor,
                id=name,
                extra_specs=specs.extra_specs(flavor.extra_specs),
            )
            for name, flavor in needs.flavors.items()
        }
        gathered.beside[room.NAME] = dataclasses.replace(
            needs, flavors=flavors
        )
