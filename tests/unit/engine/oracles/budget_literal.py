# SPDX-License-Identifier: Apache-2.0
"""What do disruption budgets allow? Plain Python, every window looked at.

Nothing here comes from the planner: neither its syntax nor its arithmetic.
"""

from collections.abc import Sequence

from kronos.engine.settings import Settings
from kronos.engine.types import Disruption, MigrationStep, Snapshot
from kronos.policies.models import Policy
from tests.unit.engine.oracles.spread_literal import Literal

Rule = tuple[int | None, int | None, float]
"""So many at a time, so many in the seconds of a window."""


def rule(text: str) -> Rule | None:
    if not text:
        return None
    window, at_once = '', ''
    for part in text.split(','):
        if '/' in part:
            window = part
        else:
            at_once = part
    moves, _, seconds = window.partition('/')
    return (
        int(at_once) if at_once else None,
        int(moves) if moves else None,
        float(seconds or 0),
    )


class Books:
    """All moves of a scope's instances, with those of a plan as they come."""

    def __init__(self, snapshot: Snapshot, settings: Settings) -> None:
        self._snapshot = snapshot
        self._settings = settings
        self._moves = list(snapshot.disruptions)

    def allow(self, uuid: str) -> bool:
        """Whether one more move breaks no budget, if it starts now."""
        return not any(
            self._breaks(text, moves) for text, moves in self._own(uuid)
        )

    def note(self, uuid: str) -> None:
        project = self._snapshot.instances[uuid].project_id
        self._moves.append(Disruption(uuid, project))

    def _own(self, uuid: str) -> list[tuple[str, list[Disruption]]]:
        """Each budget of an instance, with what it counts."""
        settings = self._settings
        project = self._snapshot.instances[uuid].project_id
        text = settings.project_budgets.get(project, settings.project_budget)
        mates = [
            (
                settings.group_budget,
                [each for each in self._moves if each.instance in members],
            )
            for group in self._snapshot.groups
            if uuid in (members := group.members)
        ]
        return [
            (text, [each for each in self._moves if each.project == project]),
            *mates,
            (
                settings.instance_budget,
                [each for each in self._moves if each.instance == uuid],
            ),
        ]

    def _breaks(self, text: str, moves: Sequence[Disruption]) -> bool:
        limits = rule(text)
        if limits is None:
            return False
        at_once, most, seconds = limits
        now = self._snapshot.taken_at
        running = sum(
            each.started is None or each.is_under_way for each in moves
        )
        if at_once is not None and running + 1 > at_once:
            return True
        if most is None:
            return False
        times = [now if e.started is None else e.started for e in moves]
        # Every window that the new move is in.
        return any(
            sum(end - seconds < time <= end for time in [*times, now]) > most
            for end in [*times, now]
            if end - seconds < now <= end
        )


class Budgeted(Literal):
    """The literal rule, in which only what budgets allow may move."""

    def __init__(
        self, snapshot: Snapshot, policies: list[Policy], settings: Settings
    ) -> None:
        super().__init__(snapshot, policies, settings)
        self._books = Books(snapshot, settings)

    def move(self, uuid: str, host: str) -> None:
        super().move(uuid, host)
        self._books.note(uuid)

    def _may_move(self, uuid: str) -> bool:
        return super()._may_move(uuid) and self._books.allow(uuid)


def broken(
    snapshot: Snapshot, settings: Settings, steps: Sequence[MigrationStep]
) -> list[str]:
    """The moves of a plan that no budget allows, exempt phases apart."""
    books = Books(snapshot, settings)
    faults = []
    for step in steps:
        is_exempt = step.phase in settings.budget_exempt
        if not is_exempt and not books.allow(step.instance):
            faults.append(f'{step.phase} {step.instance}')
        books.note(step.instance)
    return faults
