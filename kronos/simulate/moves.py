# SPDX-License-Identifier: Apache-2.0
"""The moves of the loop: they wait, are under way, arrive or fail.

A plan is carried out as Watcher would: each step takes the seconds that are
expected of it, waits for its parents, and for the turns of its hosts. One that
would not end before its window closes is skipped.
"""

import bisect
import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kronos.engine.faults import Fault
from kronos.engine.planning.propose import ScheduledPlan
from kronos.engine.scheduling import makespan
from kronos.engine.types import (
    Disruption,
    Event,
    MigrationStep,
    Origin,
    Outcome,
    ScopeWindow,
)
from kronos.simulate.accounting import Move
from kronos.simulate.cloud import Cloud

FAILURE = 'MigrationFailed'
"""Class of the exception of an action whose migration fails."""


@dataclass(slots=True)
class Journey:
    """A move that arrived."""

    instance: str
    """Its uuid."""
    source: str
    destination: str
    at: float
    """Unix seconds."""
    name: str = ''
    """Of the server."""


@dataclass
class Trip:
    """A step of a plan that is carried out, by the indices of a load."""

    instance: int
    source: int
    destination: int
    begin: float
    """Unix seconds, as the next two."""
    end: float
    planned_at: float
    fails: bool
    step: MigrationStep
    plan: str
    project: str = ''
    """Id of the project of its server."""
    latest: float = math.inf
    """Unix seconds until when it may begin, by the window of its scope."""
    outcome: Outcome = Outcome.PLANNED
    fault: Fault | None = None

    def disruption(self) -> Disruption | None:
        """The same as budgets count it; None: it was never begun."""
        project = self.project
        if self.outcome is Outcome.PLANNED:
            return Disruption(self.step.instance, project)
        if self.fault not in _OF_NOVA:
            return None
        is_under_way = self.outcome is Outcome.UNDER_WAY
        return Disruption(
            self.step.instance, project, self.begin, is_under_way
        )

    def events(self) -> Iterator[Event]:
        """What Watcher and Nova remember of it."""
        of_watcher = {
            Outcome.PLANNED: ('ONGOING', self.planned_at),
            Outcome.UNDER_WAY: ('ONGOING', self.begin),
            Outcome.MOVED: ('SUCCEEDED', self.end),
            Outcome.FAILED: ('FAILED', self.end),
        }
        step, (status, moment) = self.step, of_watcher[self.outcome]
        route = step.instance, step.source, step.destination
        ends = *route, self.outcome, moment
        yield Event(
            *ends,
            Origin.WATCHER,
            scope=step.scope,
            error_type=FAILURE if self.outcome is Outcome.FAILED else '',
            fault=self.fault.value if self.fault else '',
            status=status,
            plan=self.plan,
            began=self.planned_at,
            phase=step.phase.value,
        )
        of_nova = {
            Outcome.UNDER_WAY: 'running',
            Outcome.MOVED: 'completed',
            Outcome.FAILED: 'error',
        }
        if self.outcome in of_nova and self.fault in _OF_NOVA:
            is_done = self.outcome is Outcome.MOVED
            yield Event(
                *ends,
                Origin.NOVA,
                status=of_nova[self.outcome],
                seconds=self.end - self.begin if is_done else 0.0,
            )


_OF_NOVA = (None, Fault.MIGRATION_FAILED, Fault.INSTANCE_VANISHED)
"""How migrations end that Nova began; None: not at fault."""


class Moves:
    """All moves of a column.

    :param failures: ratio of the moves that fail
    :param seed: decides which of them
    """

    def __init__(self, cloud: Cloud, failures: float, seed: int) -> None:
        self._cloud = cloud
        self._failures = failures
        self._seed = seed
        self._plans = 0
        self._turns: list[tuple[float, int, int, Trip]] = []
        """A heap of what happens next: when, its rank, 0: the beginning, 1:
        the end."""
        self._rank = 0
        self.active: list[Trip] = []
        """Those that wait or are under way."""
        self.over: list[Trip] = []
        """Those that arrived or failed, in the order of their ends."""
        self._past: list[Event] = []
        """The events of these, as far as they are remembered."""

    def start(
        self, plan: ScheduledPlan, max_concurrent: int, now: float
    ) -> None:
        """Have a plan carried out from now on."""
        steps = plan.report.steps
        self._plans += 1
        place = {step: rank for rank, step in enumerate(plan.order)}
        parents = [
            [place[parent] for parent in plan.parents[step]]
            for step in plan.order
        ]
        ordered = [steps[step] for step in plan.order]
        begins = makespan.starts(
            ordered,
            parents,
            [step.seconds for step in ordered],
            max_concurrent,
        )
        windows = {scope.name: scope.window for scope in plan.report.scopes}
        lost: set[int] = set()
        for rank, step in enumerate(ordered):
            if lost.intersection(parents[rank]):
                lost.add(rank)  # Watcher runs nothing behind a failure
                continue
            trip = self._trip(step, now, now + begins[rank])
            trip.latest = _latest_begin(windows.get(step.scope))
            if trip.fails:
                lost.add(rank)
            self._rank += 1
            self.active.append(trip)
            heapq.heappush(self._turns, (trip.begin, self._rank, 0, trip))

    def is_busy(self, now: float) -> bool:
        """Whether a plan that was made before is still carried out."""
        return any(trip.planned_at < now for trip in self.active)

    def _trip(self, step: MigrationStep, now: float, begin: float) -> Trip:
        instance = self._cloud.position[step.instance]
        return Trip(
            instance,
            self._cloud.index[step.source],
            self._cloud.index[step.destination],
            begin,
            begin + step.seconds,
            now,
            self._is_failing(instance, now),
            step,
            f'plan-{self._plans}',
            self._cloud.instances[step.instance].project_id,
        )

    def _is_failing(self, instance: int, now: float) -> bool:
        """The same for the same move, whatever else a column does."""
        if not self._failures:
            return False
        key = self._seed, instance, int(now)
        return bool(np.random.default_rng(key).random() < self._failures)

    def advance(self, now: float) -> None:
        """Let happen what happens until now."""
        while self._turns and self._turns[0][0] <= now:
            _, rank, is_end, trip = heapq.heappop(self._turns)
            if trip.outcome in (Outcome.MOVED, Outcome.FAILED):
                continue
            if is_end:
                self._finish(trip)
            elif self._begin(trip):
                heapq.heappush(self._turns, (trip.end, rank, 1, trip))

    def _begin(self, trip: Trip) -> bool:
        """Let it set out, if its server is there and has room to go to."""
        cloud, server = self._cloud, trip.instance
        is_elsewhere = cloud.host[server] != trip.source
        if is_elsewhere or server in cloud.going or trip.begin > trip.latest:
            self.active.remove(trip)  # it is skipped: nothing is tried
            return False
        if not cloud.fits(server)[trip.destination]:
            trip.end = trip.begin
            self._fail(trip, Fault.DESTINATION_FULL)
            return False
        trip.outcome = Outcome.UNDER_WAY
        cloud.begin(server, trip.destination)
        return True

    def _finish(self, trip: Trip) -> None:
        if trip.fails:
            self._cloud.turn_back(trip.instance)
            self._fail(trip, Fault.MIGRATION_FAILED)
            return
        self._cloud.arrive(trip.instance)
        trip.outcome = Outcome.MOVED
        self._put_away(trip)

    def _fail(self, trip: Trip, fault: Fault) -> None:
        trip.outcome, trip.fault = Outcome.FAILED, fault
        self._put_away(trip)

    def _put_away(self, trip: Trip) -> None:
        self.active.remove(trip)
        self.over.append(trip)
        self._past += trip.events()

    def drop(self, server: int, now: float) -> None:
        """Let a server vanish: whatever it has before it fails."""
        for trip in [t for t in self.active if t.instance == server]:
            if trip.outcome is Outcome.UNDER_WAY:
                trip.end = now
                self._fail(trip, Fault.INSTANCE_VANISHED)
            else:
                trip.outcome = Outcome.FAILED
                self.active.remove(trip)

    def interval(self, begin: float, step: float) -> list[Move]:
        """What is under way in an interval, if nothing comes between."""
        return [
            Move(
                trip.instance,
                trip.source,
                trip.destination,
                trip.begin - begin,
                trip.end - trip.begin,
                float(trip.step.copied_mb or trip.step.memory_mb),
                trip.fails,
            )
            for trip in self.active
            if trip.begin < begin + step
            and self._cloud.host[trip.instance] == trip.source
        ]

    def events(self, since: float) -> list[Event]:
        """What Watcher and Nova remember of all moves.

        :param since: what ended before is forgotten
        """
        old = bisect.bisect_left(self._past, since, key=lambda each: each.at)
        del self._past[:old]
        return [
            *self._past,
            *(event for trip in self.active for event in trip.events()),
        ]

    def disruptions(self, since: float) -> list[Disruption]:
        """All that budgets count, also of servers that are gone.

        :param since: Unix seconds; what ended before counts no more
        """
        old = bisect.bisect_left(self.over, since, key=lambda trip: trip.end)
        trips = [*self.over[old:], *self.active]
        counted = (trip.disruption() for trip in trips)
        return [disruption for disruption in counted if disruption]


def _latest_begin(window: ScopeWindow | None) -> float:
    """Unix seconds until when a move of a plan may begin.

    :param window: of its scope, as the plan was made
    """
    if window is None or window.is_exempt or window.changes_at is None:
        return math.inf
    return window.changes_at - window.move_seconds
