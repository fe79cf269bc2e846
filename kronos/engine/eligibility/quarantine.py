# SPDX-License-Identifier: Apache-2.0
"""The quarantine: which failures begin it, and what ends it."""

import math

from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.engine.settings import Settings
from kronos.engine.types import Event, Origin, Outcome

DELETED = 'DELETED'
"""Status of an event whose own time was lost with its action plan."""
SAME_MOVE_SECONDS = 300.0
"""For so long after a failure an arrival on its very route is taken for the
same move: the clocks of Nova and Watcher differ."""


def fault(event: Event) -> Fault:
    """The fault of a failure that Watcher reports."""
    return faults.of(event.fault, event.error_type)


def starts(event: Event) -> bool:
    """A failure that is the instance's own, or of an unknown cause."""
    return (
        event.outcome is Outcome.FAILED
        and event.origin is Origin.WATCHER
        and faults.TABLE[fault(event)].quarantines
    )


def remaining(cause: Event, settings: Settings, now: float) -> float:
    """Seconds that a quarantine lasts from now on."""
    limit = settings.quarantine_seconds
    return math.inf if limit < 0 else limit - max(0.0, now - cause.at)


def earliest(cause: Event) -> float:
    """The earliest time at which it can have failed, in Unix seconds."""
    return cause.began if cause.status == DELETED else cause.at


def has_arrived(cause: Event, host: str) -> bool:
    """Whether an instance is where a failed move should have brought it.

    :param host: the one that it is on
    """
    return host == cause.destination != ''


def ends(event: Event, cause: Event) -> bool:
    """Whether a move ends the quarantine that a failure began."""
    after = earliest(cause)
    if route(event) == route(cause):
        after += SAME_MOVE_SECONDS
    return event.outcome is Outcome.MOVED and event.at > after


def route(event: Event) -> str:
    """A move from where to where, in words."""
    return f'{event.source or "?"} -> {event.destination or "?"}'
