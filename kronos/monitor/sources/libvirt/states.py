# SPDX-License-Identifier: Apache-2.0
"""The states of libvirt's domains, and their reasons, by their numbers."""

from kronos.monitor.domains import HANDED_OVER, POSTCOPY_FAILED, State
from kronos.monitor.events import named

STATES = (
    State.UNKNOWN,
    State.RUNNING,
    State.RUNNING,
    State.PAUSED,
    State.SHUTTING_DOWN,
    State.SHUTOFF,
    State.CRASHED,
    State.SLEEPING,
)
"""The second one that runs waits for something."""
REASONS: dict[State, tuple[str, ...]] = {
    State.PAUSED: (
        'UNKNOWN',
        'USER',
        'MIGRATION',
        'SAVE',
        'DUMP',
        'IOERROR',
        'WATCHDOG',
        'FROM_SNAPSHOT',
        'SHUTTING_DOWN',
        'SNAPSHOT',
        'CRASHED',
        'STARTING_UP',
        HANDED_OVER,
        # libvirt says so of the source alone; its server is elsewhere.
        HANDED_OVER,
        'API_ERROR',
    ),
    State.SHUTTING_DOWN: ('UNKNOWN', 'USER'),
    State.SHUTOFF: (
        'UNKNOWN',
        'SHUTDOWN',
        'DESTROYED',
        'CRASHED',
        'MIGRATED',
        'SAVED',
        'FAILED',
        'FROM_SNAPSHOT',
        'DAEMON',
    ),
    State.CRASHED: ('UNKNOWN', 'PANICKED'),
}
RUNNING_POSTCOPY_FAILED = 11
"""Why a destination calls a guest running that waits for lost memory."""


def of(state: int, reason: int) -> tuple[State, str]:
    """A state and its reason; why a domain runs matters to nobody else."""
    if (state, reason) == (1, RUNNING_POSTCOPY_FAILED):
        return State.PAUSED, POSTCOPY_FAILED
    translated = STATES[state] if 0 <= state < len(STATES) else State.UNKNOWN
    if translated not in REASONS:
        return translated, ''
    return translated, named(REASONS[translated], reason)
