# SPDX-License-Identifier: Apache-2.0
"""The part of the room in reports: what its phase is called, and its lines."""

from typing import ClassVar

from kronos.engine import wording
from kronos.engine.types import AggregateResult
from kronos.extensions.room import room
from kronos.extensions.room.planning import texts
from kronos.reports.parts import ReportPart


class RoomReport(ReportPart):
    """The slots before and after a plan."""

    phases: ClassVar = {room.RoomPhase.MAKE_ROOM.value: 'room'}

    def lines(
        self, scope: AggregateResult, uuids: wording.ShortUuids
    ) -> list[str]:
        outcome = room.outcome_of(scope)
        if outcome is None:
            return []
        sums = ', '.join(
            f'{number} of {name}' for name, number in outcome.by_sum.items()
        )
        line = texts.slots(outcome)
        return [
            f'{line[:1].upper()}{line[1:]}',
            f'By the sum of the free capacity there would be {sums}',
        ]
