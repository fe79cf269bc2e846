# SPDX-License-Identifier: Apache-2.0
"""The part of make-room in a recording: its mode, and what it is asked."""

from collections.abc import Mapping
from typing import Any, ClassVar

from kronos.extensions.room import room_parameters
from kronos.extensions.room.room import RoomRequest
from kronos.recordings.parts import RecordingPart
from kronos.snapshots.cloud import CloudInventory


class RoomRecording(RecordingPart):
    """It keeps nothing but what the extension itself keeps."""

    mode: ClassVar[str] = 'make_room'

    def replayed(
        self, parameters: Mapping[str, Any], gathered: CloudInventory
    ) -> RoomRequest | None:
        return room_parameters.parse(dict(parameters)) if parameters else None
