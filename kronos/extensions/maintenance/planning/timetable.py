# SPDX-License-Identifier: Apache-2.0
"""The timetable of a forecast: audits, plans side by side, and their moves.

Hosts are numbers of the cluster; times are seconds from now.
"""

import heapq
import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from kronos.extensions.maintenance.maintenance import RunView
from kronos.extensions.maintenance.planning.host_times import EMPTY_SECONDS

OPENING_SECONDS = 5.0
"""For which a plan opens a host."""


@dataclass
class Plan:
    """What one plan does."""

    opening: list[int] = field(default_factory=list)
    closing: list[int] = field(default_factory=list)
    seconds: dict[int, float] = field(
        default_factory=lambda: defaultdict(float)
    )
    """By host for how long its servers move, one after the other."""
    filled: set[int] = field(default_factory=set)
    """Hosts to be done to which servers go."""


class Timetable:
    """When what ends, as far as it is planned.

    :param work_seconds: on each host that is handed over
    :param returns: when the work on hosts is done that are handed over now
    """

    def __init__(
        self, view: RunView, work_seconds: float, returns: Mapping[int, float]
    ) -> None:
        self.ends: dict[int, float] = {}
        """When each host is open again."""
        self._work_seconds = work_seconds
        self._returns = dict(returns)
        """When each closed host is done."""
        self._turn_seconds = max(1.0, view.turn_seconds)
        self._plans_at_once = max(1, view.plans_at_once)
        self._turns = [0.0] * max(1, view.concurrent)
        """A heap: when each move that may run at a time is over."""
        self._running: list[float] = []
        """When each plan ends that is carried out."""
        self._opening: dict[int, float] = {}
        """When the hosts are open that plans open."""
        self._filled: dict[int, float] = {}
        """When hosts to be done have got the servers that go to them."""

    @property
    def closed(self) -> int:
        """Hosts of the run that take no server."""
        return len(self._returns) + len(self._opening)

    def opened(self, now: float) -> list[int]:
        """The hosts that are open by now, each once."""
        hosts = [host for host, end in self._opening.items() if end <= now]
        for host in hosts:
            del self._opening[host]
        return hosts

    def done(self, now: float) -> list[int]:
        """Hosts that an audit finds done, and opens."""
        return [host for host, when in self._returns.items() if when <= now]

    def is_filled(self, host: int, now: float) -> bool:
        """Whether no server is on its way to a host that is to be done."""
        return self._filled.get(host, 0.0) <= now

    def may_plan(self, now: float) -> bool:
        """Whether another plan can be carried out."""
        self._running = [end for end in self._running if end > now]
        return len(self._running) < self._plans_at_once

    def next_audit(self, now: float) -> float | None:
        """The audit that finds anything changed; None: none does."""
        changes = [
            *self._running,
            *self._returns.values(),
            *self._opening.values(),
            *self._filled.values(),
        ]
        ahead = [moment for moment in changes if moment > now]
        if not ahead:
            return None
        turn = math.ceil(min(ahead) / self._turn_seconds)
        return max(turn * self._turn_seconds, now + self._turn_seconds)

    def carry_out(self, plan: Plan, now: float) -> None:
        """Empty hosts side by side as far as the limits let them.

        The servers of a host move one after the other.
        """
        end = now
        for host in plan.opening:
            end = now + OPENING_SECONDS
            del self._returns[host]
            self._opening[host] = self.ends[host] = end
        for host in plan.closing:
            begin = max(now, heapq.heappop(self._turns))
            empty = begin + plan.seconds[host]
            heapq.heappush(self._turns, empty)
            self._returns[host] = empty + EMPTY_SECONDS + self._work_seconds
            self._filled |= dict.fromkeys(plan.filled, empty)
            end = max(end, empty + EMPTY_SECONDS)
        if end > now:
            self._running.append(end)
