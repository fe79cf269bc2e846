# SPDX-License-Identifier: Apache-2.0
"""The additions to a plan that makes room: its summary, and its moves."""

import itertools
from collections.abc import Collection

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
        on_nodes = {
            scope.name
            for scope in report.scopes
            if (outcome := room.outcome_of(scope)) and outcome.on_nodes
        }
        if on_nodes:
            moves = _one_by_one(moves, on_nodes)
        return [*ahead, *moves]

    def is_over(self, scope: AggregateResult) -> bool:
        outcome = room.outcome_of(scope)
        return outcome is not None and outcome.is_met

    def is_described(self, scope: AggregateResult) -> bool:
        return room.outcome_of(scope) is not None


def _one_by_one(
    moves: list[PlannedAction], scopes: Collection[str]
) -> list[PlannedAction]:
    """In the order of the plan: a node is chosen by what is there then.

    :param scopes: whose moves wait for each other
    """
    ordered = sorted(moves, key=lambda move: move.parameters['sequence'])
    for scope in scopes:
        own = [
            move for move in ordered if move.parameters['aggregate'] == scope
        ]
        for before, move in itertools.pairwise(own):
            if before not in move.after:
                move.after.append(before)
    return ordered


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
