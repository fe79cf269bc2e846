# SPDX-License-Identifier: Apache-2.0
"""A maintenance run with its times: audits, moves, work, as Watcher does it.

An audit begins each minute, unless a plan is under way. A host is handed over
a minute after its last server has left, and is seen to be done at the audit
after its work.
"""

from dataclasses import dataclass, field

from kronos.engine.scheduling import graph, makespan
from kronos.engine.types import AggregateResult, ComputeService
from kronos.extensions.maintenance import outcome
from kronos.extensions.maintenance.closing_reason import Step
from tests.builders import maintained

INTERVAL = LOOK = 60.0
OPENING = 5.0
CONCURRENT = 2


@dataclass
class TimedRun(maintained.Run):
    """A run that measures how long it takes."""

    now: float = 0.0
    finished: dict[str, float] = field(default_factory=dict)
    """When the work on each host ends."""
    blocked: set[str] = field(default_factory=set)
    """Hosts that could not be emptied, at some audit."""

    def hours(self, most: int = 2000) -> float:
        """Go on to the end; hours that it took."""
        idle = 0
        for _ in range(most):
            if self.done == {*self.asked.hosts} or idle > 120:
                break
            before = self.now
            is_idle = not self._audit()
            idle = idle + 1 if is_idle and not self.finished else 0
            passed = max(INTERVAL, self.now - before)
            self.now = before + -(-passed // INTERVAL) * INTERVAL
        return self.now / 3600

    def _audit(self) -> bool:
        result = self.plan()
        waves = outcome.of(result).waves
        self.blocked |= {*waves.blocked}
        opening = [h for h, end in self.finished.items() if end <= self.now]
        for host in waves.closing:
            self._close(host, Step.EMPTYING)
        ends = self._move_all(result)
        for host in opening:
            self._open(host)
        self._hand_over_at(ends)
        self._check()
        self.rounds += 1
        if opening:
            ends[''] = OPENING
        self.now += max(ends.values(), default=0.0)
        return bool(ends)

    def _move_all(self, result: AggregateResult) -> dict[str, float]:
        """Carry out the moves; seconds until the last one off each host."""
        steps = result.steps
        schedule = graph.schedule(steps, [self.cloud], CONCURRENT)
        trips = [steps[index] for index in schedule.order]
        position = {step: n for n, step in enumerate(schedule.order)}
        parents = [
            [position[p] for p in schedule.parents[index]]
            for index in schedule.order
        ]
        seconds = [step.seconds for step in trips]
        begun = makespan.starts(trips, parents, seconds, CONCURRENT)
        ends: dict[str, float] = {}
        for step, start in zip(trips, begun, strict=True):
            end = start + step.seconds
            ends[step.source] = max(end, ends.get(step.source, 0.0))
        for step in steps:
            self.move(step.instance, step.destination)
        return ends

    def _open(self, host: str) -> None:
        assert self.cloud.services is not None
        del self.finished[host]
        self.done.add(host)
        self.cloud.services[host] = ComputeService(
            host, state='up', status='enabled'
        )

    def _hand_over_at(self, ends: dict[str, float]) -> None:
        occupied = {server.host for server in self.cloud.instances.values()}
        for host in self.emptying():
            if host not in occupied:
                ends[host] = ends.get(host, 0.0) + LOOK
                self._close(host, Step.HANDED_OVER)
                work = self.asked.work_time
                self.finished[host] = self.now + ends[host] + work
