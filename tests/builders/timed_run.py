# SPDX-License-Identifier: Apache-2.0
"""A maintenance run with its times: audits, moves, work, as Watcher does it.

An audit begins each minute, unless as many plans run as may; one that sees
what the last one saw, which planned nothing, is left out. Moves take their
turns within the limits of hosts and scope. A host is handed over a minute
after its last server has left, and is seen to be done at the audit after its
work.
"""

import math
from collections import Counter
from dataclasses import dataclass, field, replace

from kronos.engine.planning.propose import propose
from kronos.engine.scheduling import graph
from kronos.engine.settings import INTO_HOST, OUT_OF_HOST
from kronos.engine.types import (
    AggregateResult,
    ComputeService,
    Event,
    MigrationStep,
    Origin,
    Outcome,
)
from kronos.extensions.maintenance import maintenance, outcome
from kronos.extensions.maintenance.closing_reason import Step
from kronos.extensions.maintenance.maintenance import RunView
from tests.builders import maintained

INTERVAL = LOOK = 60.0
OPENING = 5.0
CONCURRENT = 2


@dataclass(eq=False)
class Move:
    """A move of a plan, and when it ends once it has begun."""

    step: MigrationStep
    after: list['Move'] = field(default_factory=list)
    end: float = math.inf
    is_over: bool = False

    @property
    def is_running(self) -> bool:
        return self.end < math.inf and not self.is_over


@dataclass(eq=False)
class Plan:
    """A plan that is carried out."""

    moves: list[Move]
    handing: dict[str, float]
    """When each host is handed over that it empties; infinite: not known."""
    opening: dict[str, float]
    """When each host is open that it opens."""

    @property
    def is_over(self) -> bool:
        moves = all(move.is_over for move in self.moves)
        return moves and not self.handing and not self.opening


@dataclass
class TimedRun(maintained.Run):
    """A run that measures how long it takes."""

    now: float = 0.0
    plans_at_once: int = 1
    plans: list[Plan] = field(default_factory=list)
    """Those that are carried out."""
    most_plans: int = 0
    finished: dict[str, float] = field(default_factory=dict)
    """When the work on each host that is handed over ends."""
    blocked: set[str] = field(default_factory=set)
    """Hosts that could not be emptied, at some audit."""
    idle_view: tuple[object, ...] = ()
    """What the last audit saw that planned nothing."""

    def hours(self, most: int = 4000) -> float:
        """Go on to the end; hours that it took."""
        idle = 0
        for _ in range(most):
            if self.done == {*self.asked.hosts} or idle > 120:
                break
            is_free = len(self.plans) < self.plans_at_once
            if is_free and self._view() != self.idle_view:
                self._audit()
            is_idle = not (self.plans or self.finished)
            idle = idle + 1 if is_idle else 0
            self._pass(INTERVAL)
        return self.now / 3600

    def plan(self, view: RunView | None = None) -> AggregateResult:
        """Plan once, beside the plans that are carried out."""
        over = {h for h, end in self.finished.items() if end <= self.now}
        done = sorted(self.done | over)
        hands = {h for plan in self.plans for h in plan.handing}
        hands |= {h for plan in self.plans for h in plan.opening}
        view = view or RunView(
            done=done,
            ready=done,
            in_hand=sorted(hands),
            turn_seconds=INTERVAL,
            plans_at_once=self.plans_at_once,
            concurrent=CONCURRENT,
        )
        now = replace(
            self.cloud,
            beside={maintenance.NAME: view},
            taken_at=self.cloud.taken_at + self.now,
            events=[self._event(move) for move in self._to_come()],
        )
        report = propose([now], [maintained.MEMORY], self.settings)
        return report.scopes[0]

    def _view(self) -> tuple[object, ...]:
        """All that changes from one audit to the next, but the time."""
        over = [h for h, end in self.finished.items() if end <= self.now]
        moves = [(m.step.instance, m.is_running) for m in self._to_come()]
        hands = [(*plan.handing, *plan.opening) for plan in self.plans]
        return self.moves.total(), sorted(self.done), over, moves, hands

    def _to_come(self) -> list[Move]:
        return [m for p in self.plans for m in p.moves if not m.is_over]

    def _event(self, move: Move) -> Event:
        step = move.step
        return Event(
            step.instance,
            step.source,
            step.destination,
            Outcome.UNDER_WAY if move.is_running else Outcome.PLANNED,
            self.cloud.taken_at + self.now,
            Origin.WATCHER,
            status='ONGOING',
            plan='a plan',
        )

    def _audit(self) -> None:
        result = self.plan()
        row = outcome.of(result)
        self.blocked |= {*row.waves.blocked}
        planned = {m.step.instance for m in self._to_come()}
        assert not planned & {step.instance for step in result.steps}
        for host in row.waves.closing:
            self._close(host, Step.EMPTYING)
        plan = Plan(
            self._moves(result),
            dict.fromkeys(row.handing_over, math.inf),
            {host: self.now + OPENING for host in row.reopening},
        )
        if not plan.is_over:
            self.plans.append(plan)
        elif not row.waves.closing:
            self.idle_view = self._view()
        self.most_plans = max(self.most_plans, len(self.plans))
        self._check()
        self.rounds += 1

    def _moves(self, result: AggregateResult) -> list[Move]:
        """The moves of a plan in the order of their turns."""
        schedule = graph.schedule(result.steps, [self.cloud], CONCURRENT)
        moves = {index: Move(result.steps[index]) for index in schedule.order}
        for index, move in moves.items():
            move.after = [moves[other] for other in schedule.parents[index]]
        return [*moves.values()]

    def _pass(self, seconds: float) -> None:
        """Let time pass, from one end of anything to the next."""
        until = self.now + seconds
        while True:
            self._begin_moves()
            moment = min(self._ends(), default=math.inf)
            self.now = min(until, moment)
            if moment > until:
                return
            self._end()

    def _ends(self) -> list[float]:
        ends = [move.end for move in self._to_come()]
        for plan in self.plans:
            ends += [*plan.handing.values(), *plan.opening.values()]
        return ends

    def _begin_moves(self) -> None:
        running = [m.step for m in self._to_come() if m.is_running]
        sources = Counter(step.source for step in running)
        targets = Counter(step.destination for step in running)
        for move in self._to_come():
            step = move.step
            if (
                not move.is_running
                and all(other.is_over for other in move.after)
                and sources.total() < CONCURRENT
                and sources[step.source] < OUT_OF_HOST
                and targets[step.destination] < INTO_HOST
            ):
                sources[step.source] += 1
                targets[step.destination] += 1
                move.end = self.now + step.seconds

    def _end(self) -> None:
        """End what ends now."""
        for move in self._to_come():
            if move.end <= self.now:
                move.is_over = True
                self.move(move.step.instance, move.step.destination)
        for plan in self.plans:
            self._hand_over_of(plan)
            for host, end in [*plan.opening.items()]:
                if end <= self.now:
                    del plan.opening[host]
                    self._open(host)
        self.plans = [plan for plan in self.plans if not plan.is_over]

    def _hand_over_of(self, plan: Plan) -> None:
        left = {m.step.source for m in plan.moves if not m.is_over}
        for host, end in [*plan.handing.items()]:
            if end <= self.now:
                del plan.handing[host]
                self._close(host, Step.HANDED_OVER)
                self.finished[host] = self.now + self.asked.work_time
            elif host not in left and end == math.inf:
                plan.handing[host] = self.now + LOOK

    def _open(self, host: str) -> None:
        assert self.cloud.services is not None
        del self.finished[host]
        self.done.add(host)
        self.cloud.services[host] = ComputeService(
            host, state='up', status='enabled'
        )
