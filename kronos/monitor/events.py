# SPDX-License-Identifier: Apache-2.0
"""The events that a source tells, and the kind of failure that each shows.

The names are those of libvirt, without its numbers: a source of another
hypervisor uses what fits of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

LIFECYCLE = 'LIFECYCLE'
REBOOT = 'REBOOT'
WATCHDOG = 'WATCHDOG'
IO_ERROR = 'IO_ERROR'
CONTROL_ERROR = 'CONTROL_ERROR'
MEMORY_FAILURE = 'MEMORY_FAILURE'

PHASES = (
    ('DEFINED', ('ADDED', 'UPDATED', 'RENAMED', 'FROM_SNAPSHOT')),
    ('UNDEFINED', ('REMOVED', 'RENAMED')),
    ('STARTED', ('BOOTED', 'MIGRATED', 'RESTORED', 'FROM_SNAPSHOT', 'WAKEUP')),
    (
        'SUSPENDED',
        (
            'PAUSED',
            'MIGRATED',
            'IOERROR',
            'WATCHDOG',
            'RESTORED',
            'FROM_SNAPSHOT',
            'API_ERROR',
            'POSTCOPY',
            'POSTCOPY_FAILED',
        ),
    ),
    (
        'RESUMED',
        (
            'UNPAUSED',
            'MIGRATED',
            'FROM_SNAPSHOT',
            'POSTCOPY',
            'POSTCOPY_FAILED',
        ),
    ),
    (
        'STOPPED',
        (
            'SHUTDOWN',
            'DESTROYED',
            'CRASHED',
            'MIGRATED',
            'SAVED',
            'FAILED',
            'FROM_SNAPSHOT',
        ),
    ),
    ('SHUTDOWN', ('FINISHED', 'GUEST', 'HOST')),
    ('PMSUSPENDED', ('MEMORY', 'DISK')),
    ('CRASHED', ('PANICKED', 'CRASHLOADED')),
)
"""The phases of a domain's life, each with its details, by their numbers."""
WATCHDOG_ACTIONS = (
    'NONE',
    'PAUSE',
    'RESET',
    'POWEROFF',
    'SHUTDOWN',
    'DEBUG',
    'INJECTNMI',
)
IO_ERROR_ACTIONS = ('NONE', 'PAUSE', 'REPORT')
MEMORY_ACTIONS = ('IGNORE', 'INJECT', 'FATAL', 'RESET')
DETAILS = {
    LIFECYCLE: tuple(
        f'{phase}_{detail}' for phase, details in PHASES for detail in details
    ),
    REBOOT: (),
    WATCHDOG: WATCHDOG_ACTIONS,
    IO_ERROR: IO_ERROR_ACTIONS,
    CONTROL_ERROR: (),
    MEMORY_FAILURE: MEMORY_ACTIONS,
}
"""What may be said of each event."""


class Kind(StrEnum):
    """The kinds of failure; where several meet, the first one names it."""

    PANIC = 'panic'
    """The guest's own kernel gave up."""
    HANG = 'hang'
    """The guest's watchdog was not fed in time."""
    CRASH = 'crash'
    """The process of the guest ended, and nobody asked for it."""
    IO_ERROR = 'io_error'
    POSTCOPY_FAILED = 'postcopy_failed'
    """A migration in post-copy broke: memory of the guest is missing."""
    PAUSED = 'paused'
    """An operation of the hypervisor failed and left the guest paused."""
    MEMORY_ERROR = 'memory_error'
    """The host's memory is broken where the guest has its own."""
    CONTROL_ERROR = 'control_error'
    """The guest runs, and the hypervisor can no longer steer it."""


KINDS = {
    **{(WATCHDOG, action): Kind.HANG for action in WATCHDOG_ACTIONS},
    (LIFECYCLE, 'SUSPENDED_WATCHDOG'): Kind.HANG,
    (LIFECYCLE, 'CRASHED_PANICKED'): Kind.PANIC,
    (LIFECYCLE, 'CRASHED_CRASHLOADED'): Kind.PANIC,
    (LIFECYCLE, 'STOPPED_CRASHED'): Kind.CRASH,
    (LIFECYCLE, 'STOPPED_FAILED'): Kind.CRASH,
    (LIFECYCLE, 'SUSPENDED_IOERROR'): Kind.IO_ERROR,
    (LIFECYCLE, 'SUSPENDED_POSTCOPY_FAILED'): Kind.POSTCOPY_FAILED,
    (LIFECYCLE, 'RESUMED_POSTCOPY_FAILED'): Kind.POSTCOPY_FAILED,
    (LIFECYCLE, 'SUSPENDED_API_ERROR'): Kind.PAUSED,
}
"""What events with these details show; others show nothing."""
WHOLE_KINDS = {
    WATCHDOG: Kind.HANG,
    IO_ERROR: Kind.IO_ERROR,
    CONTROL_ERROR: Kind.CONTROL_ERROR,
    MEMORY_FAILURE: Kind.MEMORY_ERROR,
}
"""What events show whatever their detail is, be it unknown."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event of one domain, as a source tells it."""

    instance: str
    """The UUID."""
    name: str
    """Of the domain; whoever defined it chose it, so it may be hostile."""
    event: str
    detail: str
    moment: float
    """Unix seconds of the host's clock, which may jump."""
    run: int | None = None
    """The hypervisor's number of the domain's run, None: none or unknown."""
    about: str = ''
    """What the detail leaves open: the device and its error."""


def kind_of(event: str, detail: str) -> Kind | None:
    """What an event shows; None: no failure."""
    return KINDS.get((event, detail)) or WHOLE_KINDS.get(event)


def named(names: Sequence[str], number: int) -> str:
    """The name of a number, ``UNKNOWN_<n>`` if a newer hypervisor has it."""
    is_listed = 0 <= number < len(names)
    return names[number] if is_listed else f'UNKNOWN_{number}'


def lifecycle(phase: int, detail: int) -> str:
    """The detail of a lifecycle event, by the two numbers of libvirt."""
    if not 0 <= phase < len(PHASES):
        return f'UNKNOWN_{phase}_UNKNOWN_{detail}'
    name, details = PHASES[phase]
    return f'{name}_{named(details, detail)}'
