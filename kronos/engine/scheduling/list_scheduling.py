# SPDX-License-Identifier: Apache-2.0
"""List scheduling: in which order moves share the limits.

Whenever limits allow a step to start, the one starts whose host has most
left to do. Each limit is a number of lanes.
"""

import heapq
from collections import defaultdict
from dataclasses import dataclass, field

from kronos.engine.settings import INTO_HOST, OUT_OF_HOST
from kronos.engine.types import MigrationStep

# Where nothing is known of a step: set-up, then memory. In whole milliseconds,
# so that sums of them are exact.
_SETUP_MS = 6000
_MS_PER_GIB = 1200

Key = tuple[int, int, int]
"""The smallest one starts first: see :meth:`Timetable._key`."""


def milliseconds(step: MigrationStep) -> int:
    """How long a step is taken to last, for the order only."""
    if step.seconds > 0.0:
        return round(1000 * step.seconds)
    return _SETUP_MS + _MS_PER_GIB * step.memory_mb // 1024


@dataclass
class _Lanes:
    """A resource that so many steps may use at a time."""

    count: int
    ends: list[int] = field(default_factory=list)
    """A heap: per lane in use, when it is free."""

    def free_at(self) -> int:
        """When a lane can be had; it is never earlier later on."""
        return self.ends[0] if len(self.ends) == self.count else 0

    def take(self, end: int) -> None:
        """Occupy a lane that is free, until then."""
        if len(self.ends) < self.count:
            heapq.heappush(self.ends, end)
        else:
            heapq.heapreplace(self.ends, end)


@dataclass
class _Queue:
    """The ready steps of a scope.

    No start ever becomes earlier and no step more urgent, so what is known
    of one is a bound that need only be checked when it comes up.
    """

    lanes: _Lanes
    """Those of the scope."""
    soon: list[Key] = field(default_factory=list)
    """A heap of steps that nothing holds up, as far as known."""
    later: list[tuple[int, int]] = field(default_factory=list)
    """A heap of the others, by when they can start."""


class Timetable:
    """Of the steps that can start first, the most urgent one, again and again.

    Urgent is what a host with much left to give or to take waits for, or a
    long chain of steps; then what takes long.
    """

    def __init__(
        self,
        steps: list[MigrationStep],
        before: list[set[int]],
        max_concurrent: int,
    ) -> None:
        """Take a plan.

        :param before: per step the earlier ones that it must wait for
        :param max_concurrent: steps of one scope that may run at a time
        """
        self._steps = steps
        self._before = before
        self._took = [milliseconds(step) for step in steps]
        self._after: dict[int, list[int]] = defaultdict(list)
        for step, earlier in enumerate(before):
            for parent in earlier:
                self._after[parent].append(step)
        self._chain = self._chains()
        self._to_give: dict[str, int] = defaultdict(int)
        self._to_take: dict[str, int] = defaultdict(int)
        for move, took in zip(steps, self._took, strict=True):
            self._to_give[move.source] += took
            self._to_take[move.destination] += took
        self._now = 0
        """When the last step that was chosen starts: none starts earlier."""
        self._from: list[int] = [0] * len(steps)
        """When all that a step must wait for has ended, as far as known."""
        self._queues = {
            step.scope: _Queue(_Lanes(max_concurrent)) for step in steps
        }
        self._out: dict[str, _Lanes] = defaultdict(lambda: _Lanes(OUT_OF_HOST))
        self._into: dict[str, _Lanes] = defaultdict(lambda: _Lanes(INTO_HOST))

    def _chains(self) -> list[int]:
        """Per step the longest time from its start that rules make."""
        chains = list(self._took)
        for step in reversed(range(len(chains))):
            rest = max(
                (chains[follower] for follower in self._after[step]), default=0
            )
            chains[step] += rest
        return chains

    def order(self) -> list[int]:
        """The steps in the order of their starts."""
        order: list[int] = []
        missing = [len(earlier) for earlier in self._before]
        for step, number in enumerate(missing):
            if not number:
                self._enqueue(step)
        while len(order) < len(self._steps):
            self._now, (*_, chosen), queue = min(
                (
                    first
                    for queue in self._queues.values()
                    if (first := self._first(queue)) is not None
                ),
                key=lambda first: first[:2],
            )
            heapq.heappop(queue.soon)
            self._take(chosen, queue)
            order.append(chosen)
            end = self._now + self._took[chosen]
            for step in self._after[chosen]:
                self._from[step] = max(self._from[step], end)
                missing[step] -= 1
                if not missing[step]:
                    self._enqueue(step)
        return order

    def _enqueue(self, step: int) -> None:
        queue = self._queues[self._steps[step].scope]
        heapq.heappush(queue.later, (self._start(step), step))

    def _first(self, queue: _Queue) -> tuple[int, Key, _Queue] | None:
        """When the next step of a queue starts, and which; it is on top."""
        moment = max(queue.lanes.free_at(), self._now)
        while True:
            while queue.later and queue.later[0][0] <= moment:
                _, step = heapq.heappop(queue.later)
                heapq.heappush(queue.soon, self._key(step))
            if key := self._most_urgent(queue, moment):
                return moment, key, queue
            if not queue.later:
                return None
            previous, step = queue.later[0]
            if (start := self._start(step)) > previous:
                heapq.heapreplace(queue.later, (start, step))
            else:
                moment = start

    def _most_urgent(self, queue: _Queue, moment: int) -> Key | None:
        """Of the steps that can start by then; it is on top afterwards."""
        while queue.soon:
            key = queue.soon[0]
            step = key[-1]
            if (start := self._start(step)) > moment:
                heapq.heappop(queue.soon)
                heapq.heappush(queue.later, (start, step))
            elif (current := self._key(step)) > key:
                heapq.heapreplace(queue.soon, current)
            else:
                return key
        return None

    def _key(self, step: int) -> Key:
        """The more is left to do, the smaller; it never becomes smaller."""
        move = self._steps[step]
        work = max(
            self._to_give[move.source] * INTO_HOST,
            self._to_take[move.destination] * OUT_OF_HOST,
            self._chain[step] * INTO_HOST * OUT_OF_HOST,
        )
        return -work, -self._took[step], step

    def _start(self, step: int) -> int:
        """When its parents and its hosts can have it, whatever the scope."""
        move = self._steps[step]
        return max(
            self._from[step],
            self._out[move.source].free_at(),
            self._into[move.destination].free_at(),
        )

    def _take(self, step: int, queue: _Queue) -> None:
        """Occupy its lanes from now on."""
        move, took = self._steps[step], self._took[step]
        self._to_give[move.source] -= took
        self._to_take[move.destination] -= took
        lanes = (
            self._out[move.source],
            self._into[move.destination],
            queue.lanes,
        )
        for these in lanes:
            these.take(self._now + took)
