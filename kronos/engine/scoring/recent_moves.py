# SPDX-License-Identifier: Apache-2.0
"""The recent moves: what readings of hosts still show of servers that left.

A host's average of an hour shows for an hour what has left it, and lacks what
has come. How much of it, the window of the query and the age of the move say;
whether it is so at all, the load of the host that its servers do not explain:
where a host's value is the sum of the servers that are there now, nothing is
left to correct. So this comes before unexplained load is attributed to anyone.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kronos.engine.scoring.attribution import Attribution
from kronos.engine.types import Outcome, Snapshot
from kronos.policies import windows
from kronos.policies.models import Policy
from kronos.policies.windows import Window

Seconds = float


@dataclass(frozen=True)
class RecentMoves:
    """The moves of a scope that a policy's readings may not show yet."""

    ages: Mapping[tuple[str, str, str], Seconds]
    """By instance, source and destination; the last one of each."""
    usage: Mapping[str, float]
    """By uuid."""

    def corrected(
        self,
        values: Mapping[str, float],
        attribution: Attribution,
        window: Window,
    ) -> dict[str, float]:
        """The readings of hosts as if their window had passed.

        :param attribution: of the servers to their hosts, as these are read
        """
        shifts: dict[str, float] = {}
        for (instance, source, destination), age in self.ages.items():
            used = self.usage.get(instance, 0.0)
            for host, share in (
                (source, -window.still_shows(age)),
                (destination, window.lacks(age)),
            ):
                load = attribution.hosts.get(host)
                if load is not None and host in values and share:
                    more = share * used / load.size
                    shifts[host] = shifts.get(host, 0.0) + more
        return {
            host: value + _within(value, shifts[host], host, attribution)
            if host in shifts
            else value
            for host, value in values.items()
        }


def _within(
    value: float, shift: float, host: str, attribution: Attribution
) -> float:
    """As much of a shift as the servers of the host leave unexplained."""
    load = attribution.hosts[host]
    explained = load.servers + load.estimated + attribution.idle
    if shift < 0.0:
        return max(shift, min(0.0, explained - value))
    return min(shift, max(0.0, explained - value))


def of(
    snapshot: Snapshot, policy: Policy, usage: Mapping[str, float]
) -> RecentMoves:
    """Those that the longest window of a policy still shows.

    :param usage: by uuid, of those that have a value
    """
    longest = max(window.seconds for window in windows_of(policy))
    ages: dict[tuple[str, str, str], Seconds] = {}
    for event in snapshot.events if longest else ():
        age = max(0.0, snapshot.taken_at - event.at)
        if (
            event.outcome is Outcome.MOVED
            and age < longest
            and event.instance in usage
            and event.source != event.destination
        ):
            key = event.instance, event.source, event.destination
            ages[key] = min(age, ages.get(key, age))
    return RecentMoves(ages, usage)


def windows_of(policy: Policy) -> tuple[Window, Window]:
    """Those of ``imbalance_query`` and of ``capacity_query``."""
    if policy.metrics_window is not None:
        own = Window(windows.AVERAGE, policy.metrics_window)
        return (own, own) if own.seconds else (windows.NOW, windows.NOW)
    score = windows.of_query(policy.imbalance_query)
    if policy.capacity_query is None:
        return score, score
    return score, windows.of_query(policy.capacity_query)
