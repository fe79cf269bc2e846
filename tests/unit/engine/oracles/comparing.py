# SPDX-License-Identifier: Apache-2.0
"""Is what the planner plans, move by move, what a literal search plans?"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from oslotest import base

from kronos.engine.planning.propose import propose
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    MigrationPhase,
    Snapshot,
    StopReason,
)
from kronos.policies.models import Policy
from tests.unit.engine.oracles import legality
from tests.unit.engine.oracles.spread_literal import Literal, Plan

PlanningInput = tuple[Snapshot, list[Policy], Settings]
NOT_PLANNED = StopReason.TOO_FEW_HOSTS, StopReason.NO_POLICY


@dataclass
class Tally:
    """What the compared plans were like: they must be worth comparing."""

    planned: int = 0
    """Plans with at least one move."""
    moves: int = 0
    relieved: int = 0
    """Moves of the relief."""
    emptied: int = 0
    """Hosts."""
    stopped: set[StopReason] = field(default_factory=set)

    def add(self, result: AggregateResult) -> None:
        self.planned += bool(result.steps)
        self.moves += len(result.steps)
        self.relieved += sum(
            step.phase is MigrationPhase.RELIEVE for step in result.steps
        )
        self.emptied += result.hosts_in_use_before - result.hosts_in_use_after
        self.stopped.add(result.stopped)


class LiteralTestCase(base.BaseTestCase):
    def compare(
        self,
        cases: Iterable[PlanningInput],
        literal: Callable[[Snapshot, list[Policy], Settings], Literal],
    ) -> Tally:
        """Plan every case both ways, but for scopes that are not planned.

        :param literal: makes the search of a case
        """
        tally = Tally()
        for number, case in enumerate(cases):
            snapshot, policies, settings = case
            [result] = propose([snapshot], policies, settings).scopes
            if result.stopped in NOT_PLANNED or any(
                one.skipped for one in result.policies
            ):
                continue
            with self.subTest(case=number):
                self._check(literal(*case).plan(), result)
                faults = legality.Judge(*case).faults(result)
                self.assertEqual([], faults)
            tally.add(result)
        return tally

    def _check(self, expected: Plan, result: AggregateResult) -> None:
        moves = [
            (one.instance, one.source, one.destination) for one in result.steps
        ]
        self.assertEqual(expected.moves, moves)
        if expected.stopped:
            self.assertEqual(expected.stopped, result.stopped.value)
        self.assertAlmostEqual(
            expected.combined, result.combined_after, places=9
        )
