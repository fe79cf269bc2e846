# SPDX-License-Identifier: Apache-2.0
"""The additions: what an audit of an extension does and says beside the plan.

A strategy of an extension has one derived from :class:`Additions`, which
answers each question of the trunk with "nothing".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kronos.engine.types import AggregateResult, CycleReport
    from kronos.metrics.store import Gauge
    from kronos.strategies.outcome.planned_actions import PlannedAction


class Additions:
    """It adds nothing."""

    def ahead(self, report: CycleReport) -> list[PlannedAction]:
        """Actions before the first move, numbered from 1."""
        return []

    def arranged(
        self,
        report: CycleReport,
        ahead: list[PlannedAction],
        moves: list[PlannedAction],
    ) -> list[PlannedAction]:
        """All actions of a plan, each behind those that it waits for.

        It may turn moves into actions of its own, have any of them wait for
        another, and put more between or behind them. A live migration of a
        phase of its own names that of the trunk by whose rules it is done:
        ``kronos_live_migrate`` knows no other.
        """
        return [*ahead, *moves]

    def acts(self, scope: AggregateResult) -> bool:
        """Whether it does something in a scope beside steps and closings."""
        return False

    def hosts(self, scope: AggregateResult) -> Collection[str]:
        """Hosts beyond the scope at which it does so."""
        return ()

    def is_over(self, scope: AggregateResult) -> bool:
        """Whether the goal is reached, and the summary alone says so."""
        return False

    def is_described(self, scope: AggregateResult) -> bool:
        """Whether a plan without a step has a summary all the same."""
        return False

    def unfinished(self, scope: AggregateResult) -> list[str]:
        """What is said before the reason why nothing new is planned."""
        return []

    def lines(self, scope: AggregateResult) -> Iterator[tuple[int, str]]:
        """Lines of the log with their levels, behind those of the steps."""
        yield from ()

    def gauges(self, scope: AggregateResult) -> Iterator[Gauge]:
        """Metrics of a scope, in rows of the catalogue.

        They are shown until the next audit of the same strategy, or of the
        same :meth:`subject`.
        """
        yield from ()

    def subject(self, scope: AggregateResult) -> str:
        """What those metrics are about, beside the scope; '': it alone."""
        return ''


PLAIN = Additions()
"""Of a strategy that is no extension's."""
