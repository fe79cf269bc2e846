# SPDX-License-Identifier: Apache-2.0
"""The part of the room in reports: what its phase is called, and its lines."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar

from kronos.engine import wording
from kronos.engine.settings import Settings
from kronos.engine.types import AggregateResult
from kronos.extensions.room import room
from kronos.extensions.room.planning import texts
from kronos.extensions.room.reports import slot_bars
from kronos.reports.parts import ReportPart


class RoomReport(ReportPart):
    """The slots before and after a plan."""

    sections: ClassVar = ('room.html',)
    phases: ClassVar = {room.RoomPhase.MAKE_ROOM.value: 'room'}

    def settings(self, settings: Settings) -> dict[str, Any]:
        request = room.of(settings)
        return {'room': None if request is None else asdict(request)}

    def scope(self, scope: AggregateResult) -> dict[str, Any]:
        outcome = room.outcome_of(scope)
        return {'room': None if outcome is None else asdict(outcome)}

    def figures(self, scope: Mapping[str, Any]) -> dict[str, Any]:
        return {'slots': slot_bars.figures(scope.get('room'))}

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
