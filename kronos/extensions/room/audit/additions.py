# SPDX-License-Identifier: Apache-2.0
"""The additions to a plan that makes room: its summary, and its moves."""

from kronos.engine.types import AggregateResult, CycleReport, MigrationPhase
from kronos.extensions.room import room
from kronos.extensions.room.planning import texts
from kronos.strategies.outcome.additions import Additions
from kronos.strategies.outcome.planned_actions import PlannedAction


class RoomAdditions(Additions):
    """What an audit that makes room says."""

    def arranged(
        self,
        report: CycleReport,
        ahead: list[PlannedAction],
        moves: list[PlannedAction],
    ) -> list[PlannedAction]:
        """The moves obey the rules of a repair of groups."""
        for action in moves:
            action.parameters['phase'] = MigrationPhase.AFFINITY.value
        return [*ahead, *moves]

    def is_over(self, scope: AggregateResult) -> bool:
        outcome = room.outcome_of(scope)
        return outcome is not None and outcome.is_met

    def is_described(self, scope: AggregateResult) -> bool:
        return room.outcome_of(scope) is not None


def summary(scope: AggregateResult) -> str:
    """What a plan does for ``kronos_room``, with the proof."""
    outcome = room.outcome_of(scope)
    if outcome is None:
        return ''
    text = texts.sentence(outcome)
    if not outcome.has_number:
        return text
    number = sum(outcome.wanted.values())
    return f'{texts.slots(outcome)}, {number} wanted: {text}'
