# SPDX-License-Identifier: Apache-2.0
"""The goal kronos_room, and how its success is measured.

It is frozen, as :mod:`kronos.strategies.efficacy` says.
"""

from collections.abc import Callable
from typing import ClassVar

from kronos.engine.types import CycleReport
from kronos.extensions.room import room
from kronos.extensions.room.room import RoomOutcome
from kronos.strategies.efficacy import Measure, Share
from kronos.strategies.goals import MIGRATIONS, Goal


def _sum(
    number: Callable[[RoomOutcome], int],
) -> Callable[[CycleReport], float]:
    def summed(report: CycleReport) -> float:
        outcomes = map(room.outcome_of, report.scopes)
        return sum(number(each) for each in outcomes if each is not None)

    return summed


class Room(Goal):
    """Room for new servers of large flavors."""

    NAME = 'kronos_room'
    DISPLAY_NAME = 'Kronos: room for large servers'
    MEASURES: ClassVar = (
        Measure(
            'slots_before',
            'New servers of the wanted flavors that fit before the plan, '
            'summed over flavors and scopes.',
            _sum(lambda outcome: sum(outcome.before.values())),
        ),
        Measure(
            'slots_after',
            'The same after the plan.',
            _sum(lambda outcome: sum(outcome.after.values())),
        ),
        Measure(
            'slots_wanted',
            'New servers for which room is wanted; 0 if as many as possible.',
            _sum(lambda outcome: sum(outcome.wanted.values())),
        ),
        Measure(
            'slots_missing_before',
            'Wanted servers that do not fit before the plan.',
            _sum(lambda outcome: outcome.missing_before),
        ),
        Measure(
            'slots_missing_after',
            'The same after the plan.',
            _sum(lambda outcome: outcome.missing_after),
        ),
        MIGRATIONS,
        Measure(
            'migrations_at_least',
            'Migrations that every plan for the wanted number requires; 0 if '
            'that is not proven, or no number is wanted.',
            _sum(
                lambda outcome: (
                    (outcome.bound or 0) if outcome.has_number else 0
                )
            ),
        ),
    )
    SHARE = Share(
        'slots_gained',
        'Share of the missing room that the plan makes.',
        before='slots_missing_before',
        after='slots_missing_after',
    )
