# SPDX-License-Identifier: Apache-2.0
"""The makespan: how long a plan takes, and must take at least."""

import bisect
import heapq
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import Protocol

from kronos.engine.settings import INTO_HOST, OUT_OF_HOST


class Trip(Protocol):
    """What counts against the limits; a migration step is one."""

    scope: str
    source: str
    destination: str


def starts(
    trips: Sequence[Trip],
    parents: Sequence[Collection[int]],
    seconds: Sequence[float],
    max_concurrent: int,
    workers: int | None = None,
    picked: Sequence[int] | None = None,
) -> list[float]:
    """When each step starts if turns are given in the order of the steps.

    A worker takes a step whose parents have ended, and keeps it until its
    end. Of those that workers have, the first one begins that its hosts and
    its scope can have.

    :param parents: per step those that it waits for
    :param seconds: per step how long it takes
    :param max_concurrent: steps of one scope that may run at a time
    :param workers: None: one for each step
    :param picked: the steps in the order in which workers take them; None:
        that of their turns
    :raises ValueError: the graph has a circle, or there is no worker
    """
    if workers is not None and workers < 1:
        raise ValueError('at least one worker is needed')
    dependencies = _Dependencies(parents, picked or range(len(parents)))
    lanes = _Turns(trips, max_concurrent)
    begun: dict[int, float] = {}
    running: list[tuple[float, int]] = []
    queue: list[int] = []
    now = 0.0
    while queue or running or dependencies.ready:
        free = workers or len(trips)
        while dependencies.ready and len(queue) + len(running) < free:
            bisect.insort(queue, heapq.heappop(dependencies.ready)[1])
        for step in [step for step in queue if lanes.take(step)]:
            queue.remove(step)
            begun[step] = now
            heapq.heappush(running, (now + seconds[step], step))
        now, ended = heapq.heappop(running)
        lanes.give_back(ended)
        dependencies.end(ended)
    if len(begun) < len(parents):
        raise ValueError('the graph has a circle')
    return [begun[step] for step in range(len(parents))]


class _Dependencies:
    """The steps whose parents have ended."""

    def __init__(
        self, parents: Sequence[Collection[int]], picked: Sequence[int]
    ) -> None:
        self._rank = {step: rank for rank, step in enumerate(picked)}
        self._after: dict[int, list[int]] = defaultdict(list)
        self._missing = [len(set(predecessors)) for predecessors in parents]
        self.ready: list[tuple[int, int]] = []
        """A heap of steps behind their ranks: no worker has them yet."""
        for step, predecessors in enumerate(parents):
            for parent in set(predecessors):
                self._after[parent].append(step)
            if not predecessors:
                heapq.heappush(self.ready, (self._rank[step], step))

    def end(self, ended: int) -> None:
        for step in self._after[ended]:
            self._missing[step] -= 1
            if not self._missing[step]:
                heapq.heappush(self.ready, (self._rank[step], step))


class _Turns:
    """What runs at the hosts and in the scopes."""

    def __init__(self, trips: Sequence[Trip], max_concurrent: int) -> None:
        self._trips = trips
        self._most = max_concurrent, OUT_OF_HOST, INTO_HOST
        self._running = Counter[str](), Counter[str](), Counter[str]()

    def take(self, step: int) -> bool:
        """Begin a step if the limits allow it."""
        keys = self._keys(step)
        for running, key, most in zip(
            self._running, keys, self._most, strict=True
        ):
            if running[key] >= most:
                return False
        for running, key in zip(self._running, keys, strict=True):
            running[key] += 1
        return True

    def give_back(self, step: int) -> None:
        for running, key in zip(self._running, self._keys(step), strict=True):
            running[key] -= 1

    def _keys(self, step: int) -> tuple[str, str, str]:
        trip = self._trips[step]
        return trip.scope, trip.source, trip.destination


def most_at_once(begun: Sequence[float], seconds: Sequence[float]) -> int:
    """How many steps run side by side at the busiest moment."""
    changes = [(start, 1) for start in begun]
    changes += [
        (start + took, -1) for start, took in zip(begun, seconds, strict=True)
    ]
    most = running = 0
    for _, change in sorted(changes):  # what ends there makes room first
        running += change
        most = max(most, running)
    return most


def lower_bound(
    trips: Sequence[Trip],
    seconds: Sequence[float],
    max_concurrent: int,
    before: Sequence[Collection[int]] | None = None,
) -> float:
    """Seconds that no order of the steps can beat.

    :param max_concurrent: steps of one scope that may run at a time
    :param before: per step the earlier ones that it must wait for
    """
    bounds = [0.0, *seconds]
    for limit, names in (
        (max_concurrent, [trip.scope for trip in trips]),
        (OUT_OF_HOST, [trip.source for trip in trips]),
        (INTO_HOST, [trip.destination for trip in trips]),
    ):
        work: dict[str, float] = defaultdict(float)
        for name, took in zip(names, seconds, strict=True):
            work[name] += took
        bounds += [total / limit for total in work.values()]
    ends: list[float] = []
    for took, earlier in zip(seconds, before or [], strict=False):
        ends.append(took + max((ends[step] for step in earlier), default=0.0))
    return max(bounds + ends)
