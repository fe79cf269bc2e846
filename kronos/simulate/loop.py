# SPDX-License-Identifier: Apache-2.0
"""The loop: one column, tick by tick.

At every tick what is under way arrives, servers are born and gone, all is
measured, and the audits that are due plan.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from kronos.engine.planning.propose import ScheduledPlan
from kronos.engine.scheduling.migration_costs import MigrationCosts
from kronos.engine.types import Outcome
from kronos.policies.models import Policy
from kronos.simulate import plain_rule
from kronos.simulate.accounting import HOT, Accounting, Watts
from kronos.simulate.audits import Auditor
from kronos.simulate.boots import Scheduler
from kronos.simulate.churn import Churn
from kronos.simulate.cloud import Cloud
from kronos.simulate.columns import Column, Kind, Result, Series
from kronos.simulate.load import Load
from kronos.simulate.meter import Meter
from kronos.simulate.moves import Journey, Moves
from kronos.simulate.plain_rule import PlainRule

SKIPPED = 'skipped for a plan under way'
"""What becomes of an audit in Watcher while a plan is carried out."""


def run(
    load: Load,
    column: Column,
    watts: Watts | None = None,
    tell: Callable[[int], None] = lambda _: None,
) -> Result:
    """Run a column over a load.

    :param watts: power of every host by the ratio of its CPU in use
    :param tell: called with every tick
    """
    loop = Loop(load, column, watts)
    for tick in range(load.ticks - 1):
        tell(tick)
        loop.tick(tick)
    return loop.result()


def accounted(policies: list[Policy]) -> str:
    """The policy whose unit is CPU: what can be too little of it."""
    names = [policy.name for policy in policies]
    return next((name for name in names if 'cpu' in name), names[0])


class Loop:
    """A column under way."""

    def __init__(
        self, load: Load, column: Column, watts: Watts | None = None
    ) -> None:
        self._load = load
        self._column = column
        self._step = float(load.meta.step)
        self.cloud = Cloud(load)
        self.meter = Meter(load, self.cloud)
        self.auditors = [
            Auditor(audit, load.recording, self.cloud, self.meter)
            for audit in column.audits
        ]
        self.moves = Moves(self.cloud, column.failures, column.seed)
        first = self.auditors[0]
        self._scheduler = Scheduler(
            column.boots, self.cloud, first, first.longest_window
        )
        self._policy = accounted(first.policies)
        capacity = self.meter.capacity[self._policy]
        self._accounting = Accounting(
            np.where(np.isnan(capacity), np.inf, capacity), watts
        )
        self._memory = max(auditor.audit.memory for auditor in self.auditors)
        self._churn = Churn(
            load,
            self.cloud,
            self.moves,
            None if column.kind is Kind.AS_IT_WAS else self._scheduler,
        )
        self._first_plan = 0
        self._in_use = np.zeros(load.ticks - 1, np.float32)

    def tick(self, tick: int) -> None:
        """One interval, with what happens at its beginning."""
        now = self._load.meta.start + tick * self._step
        self.moves.advance(now)
        self._churn.advance(tick, now)
        self.meter.measure(tick)
        alive = self.cloud.alive
        self._in_use[tick] = len(np.unique(self.cloud.host[alive]))
        if self._column.kind in (Kind.ENGINE, Kind.PLAIN_RULE):
            for auditor in self.auditors:
                if auditor.is_due(now):
                    self._audit(auditor, tick, now)
        moves = self.moves.interval(now, self._step)
        if self._column.kind is Kind.AS_IT_WAS:
            bandwidth = self._column.audits[0].settings.migration_bandwidth
            moves = self._churn.moves(tick, bandwidth)
        self._accounting.interval(
            self.meter.asked(self._policy, tick),
            self.meter.asked(self._policy, tick + 1),
            self.cloud.host.astype(np.int64),
            moves,
            self._step,
            self.meter.rest(self._policy, tick),
        )

    def _audit(self, auditor: Auditor, tick: int, now: float) -> None:
        if self.moves.is_busy(now):
            auditor.counts.ends[SKIPPED] += 1
            return
        events = self.moves.events(now - self._memory)
        if self._column.kind is Kind.PLAIN_RULE:
            plan = self._by_plain_rule(auditor, tick, now)
        else:
            counted = self.moves.disruptions(
                now - auditor.audit.budget_seconds
            )
            planned = auditor.plan(tick, now, events, counted)
            if planned is None:
                return
            plan = planned
        steps = plan.report.steps
        if steps:
            self.moves.start(plan, auditor.audit.max_concurrent, now)
            self._first_plan = self._first_plan or len(steps)

    def _by_plain_rule(
        self, auditor: Auditor, tick: int, now: float
    ) -> ScheduledPlan:
        """What the rule does to the first scope of an audit."""
        scope = next(iter(auditor.scopes.values()))
        snapshot = auditor.snapshot(scope, tick, now, [])
        values = self.meter.ratio[self._policy][tick].astype(float)
        inside = np.full(len(values), np.nan)
        inside[scope.places] = values[scope.places]
        rule = PlainRule(
            self.cloud,
            inside,
            self.meter.asked(self._policy, tick),
            self.meter.capacity[self._policy],
        )
        costs = MigrationCosts(snapshot, auditor.audit.settings)
        return plain_rule.plan(rule, scope, snapshot, costs, self.cloud)

    def result(self) -> Result:
        """What it came to."""
        journeys = self._churn.journeys + [
            Journey(
                trip.step.instance,
                trip.step.source,
                trip.step.destination,
                trip.end,
                trip.step.instance_name,
            )
            for trip in self.moves.over
            if trip.outcome is Outcome.MOVED
        ]
        result = Result(
            self._column.name,
            self._column.kind,
            self._accounting.figures(),
            {name: self._imbalance(name) for name in self.meter.ratio},
            self._hot(),
            self._in_use,
            journeys,
            self._first_plan,
            boots=self._scheduler.counts,
            words=self._column.words or self._column.name,
        )
        for auditor in self.auditors:
            counts = auditor.counts
            result.ends += counts.ends
            result.plans += counts.plans
            result.plan_seconds += counts.seconds
            result.longest_plan = max(result.longest_plan, counts.longest)
        return result

    def _judged(self) -> list[npt.NDArray[np.intp]]:
        """The hosts of each scope that count."""
        return [
            np.array(
                [
                    place
                    for place in scope.places.tolist()
                    if auditor.is_available(place)
                ],
                int,
            )
            for auditor in self.auditors
            for scope in auditor.scopes.values()
        ]

    def _imbalance(self, policy: str) -> Series:
        ratio = self.meter.ratio[policy][:-1]
        total, weight = np.zeros(len(ratio)), 0
        for places in self._judged():
            row = ratio[:, places]
            is_known = ~np.isnan(row)
            if not is_known.any():
                continue
            high = np.where(is_known, row, -np.inf).max(axis=1)
            low = np.where(is_known, row, np.inf).min(axis=1)
            width = np.where(is_known.any(axis=1), high - low, 0.0)
            total += width * len(places)
            weight += len(places)
        imbalance: Series = (total / max(weight, 1)).astype(np.float32)
        return imbalance

    def _hot(self) -> Series:
        is_hot = self.meter.ratio[self._policy][:-1] > HOT
        hot: Series = is_hot.sum(axis=1).astype(np.float32)
        return hot
