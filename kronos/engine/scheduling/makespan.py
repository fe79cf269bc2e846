# SPDX-License-Identifier: Apache-2.0
"""The makespan: how long a plan takes, and must take at least."""

import heapq
from collections import defaultdict
from collections.abc import Sequence
from typing import Protocol

from kronos.engine.settings import INTO_HOST, OUT_OF_HOST


class Trip(Protocol):
    """What counts against the limits; a migration step is one."""

    scope: str
    source: str
    destination: str


def starts(
    parents: list[list[int]], seconds: list[float], workers: int | None = None
) -> list[float]:
    """When each step of a graph starts; it takes no longer than it must.

    A step begins when its parents have ended and a worker is free. Those
    that wait for a worker take their turn in the order in which they came;
    of those that came together the earlier one of the plan is first.

    :param parents: per step the steps that it waits for
    :param seconds: per step how long it takes
    :param workers: steps that can run at a time; None: all of them
    :raises ValueError: the graph has a circle, or there is no worker
    """
    if workers is not None and workers < 1:
        raise ValueError('at least one worker is needed')
    after: dict[int, list[int]] = defaultdict(list)
    missing = [len(set(found)) for found in parents]
    for step, found in enumerate(parents):
        for parent in set(found):
            after[parent].append(step)
    ready = [(0.0, step) for step, left in enumerate(missing) if not left]
    begun: dict[int, float] = {}
    running: list[tuple[float, int]] = []
    now = 0.0
    while ready or running:
        while ready and (workers is None or len(running) < workers):
            _, step = heapq.heappop(ready)
            begun[step] = now
            heapq.heappush(running, (now + seconds[step], step))
        now, ended = heapq.heappop(running)
        for step in after[ended]:
            missing[step] -= 1
            if not missing[step]:
                heapq.heappush(ready, (now, step))
    if len(begun) < len(parents):
        raise ValueError('the graph has a circle')
    return [begun[step] for step in range(len(parents))]


def most_at_once(begun: list[float], seconds: list[float]) -> int:
    """How many steps run side by side at the busiest moment."""
    changes = [(at, 1) for at in begun]
    changes += [
        (at + took, -1) for at, took in zip(begun, seconds, strict=True)
    ]
    most = running = 0
    for _, change in sorted(changes):  # what ends there makes room first
        running += change
        most = max(most, running)
    return most


def lower_bound(
    trips: Sequence[Trip],
    seconds: list[float],
    max_concurrent: int,
    before: list[set[int]] | None = None,
) -> float:
    """Seconds that no order of the steps can beat.

    :param max_concurrent: steps of one scope that may run at a time
    :param before: per step the earlier ones that it must wait for
    """
    bounds = [0.0, *seconds]
    for limit, found in (
        (max_concurrent, [trip.scope for trip in trips]),
        (OUT_OF_HOST, [trip.source for trip in trips]),
        (INTO_HOST, [trip.destination for trip in trips]),
    ):
        work: dict[str, float] = defaultdict(float)
        for name, took in zip(found, seconds, strict=True):
            work[name] += took
        bounds += [total / limit for total in work.values()]
    ends: list[float] = []
    for took, earlier in zip(seconds, before or [], strict=False):
        ends.append(took + max((ends[one] for one in earlier), default=0.0))
    return max(bounds + ends)
