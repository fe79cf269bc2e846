# SPDX-License-Identifier: Apache-2.0
"""The starts of plans, from which the cooldown of a scope counts.

Counted from the end of a move, a cooldown of ten minutes would outlast the
audit that comes after ten minutes, and act as one of fifteen. At least half of
it follows the last move, however long the plan took.
"""

from collections.abc import Collection, Iterable, Sequence

from kronos.engine.eligibility import quarantine
from kronos.engine.types import Event, Origin, Outcome

LATE_SECONDS = 120.0
"""A plan whose first move began so much after it was made has been started
later, and it is not told when."""
EARLY = 0.1
"""Such a part of a cooldown may still be ahead where its start is known: a
plan is made some seconds after its audit begins."""
HALF = 0.5
OVER = Outcome.MOVED, Outcome.FAILED


class PlanStarts:
    """When the plans of some events started.

    :param events: all that are remembered, from the oldest to the newest
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self._plan_of: dict[tuple[str, str, str], tuple[float, str]] = {}
        """By instance, source and destination: when, and of which plan."""
        for event in events:
            if event.plan and event.outcome in OVER:
                key = event.instance, event.source, event.destination
                self._plan_of[key] = event.at, event.plan
        by_plan: dict[str, list[Event]] = {}
        for event in events:
            if plan := self._plan(event):
                by_plan.setdefault(plan, []).append(event)
        self._starts = {
            plan: start
            for plan, own in by_plan.items()
            if (start := _start(own))
        }

    def of(self, event: Event) -> float | None:
        """Unix seconds; None where nobody tells it."""
        if event.status == quarantine.DELETED:
            return None
        if plan := self._plan(event):
            return self._starts.get(plan)
        return _start([event])

    def _plan(self, event: Event) -> str:
        """That of the event; of Nova's where Watcher tells of it as well."""
        if event.plan or event.origin is not Origin.NOVA:
            return event.plan
        key = event.instance, event.source, event.destination
        end, plan = self._plan_of.get(key, (0.0, ''))
        is_same = abs(end - event.at) <= quarantine.SAME_MOVE_SECONDS
        return plan if is_same else ''


def _start(events: Collection[Event]) -> float | None:
    """When the moves of one plan began, as far as they tell it."""
    over = [event for event in events if event.outcome in OVER]
    begun = [event.at - event.seconds for event in over if event.seconds]
    audit_time = min(
        (event.began for event in events if event.began), default=0.0
    )
    first = min([*begun, *(event.at for event in over)], default=0.0)
    if audit_time and first - audit_time <= LATE_SECONDS:
        return audit_time
    return min(begun, default=None)


def longest_rest(
    events: Sequence[Event],
    starting: Iterable[Event],
    now: float,
    limit: float,
) -> tuple[Event | None, float]:
    """What makes a scope rest longest, and the seconds that are left.

    :param events: all that are remembered, from the oldest to the newest
    :param starting: those that start a cooldown, likewise
    :param limit: seconds that it lasts
    :returns: None where it rests no more
    """
    starts = PlanStarts(events)
    longest, most = None, 0.0
    for event in starting:
        rest = _rest(event, starts, now, limit)
        if rest > 0.0 and rest >= most:
            longest, most = event, rest
    return longest, most


def _rest(event: Event, starts: PlanStarts, now: float, limit: float) -> float:
    if event.outcome not in OVER:
        return limit
    after_end = max(0.0, now - event.at)
    start = starts.of(event)
    if start is None or start > event.at:
        return limit - after_end
    rest = max(limit - max(0.0, now - start), HALF * limit - after_end)
    return rest if rest > EARLY * limit else 0.0
