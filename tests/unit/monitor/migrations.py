# SPDX-License-Identifier: Apache-2.0
"""What each end of a live migration sees, as libvirt 9.0 told of real guests.

Each step is the detail of an event, and the state in which the domain is
listed after it; None: it is not in the list.
"""

from dataclasses import dataclass

from kronos.monitor.domains import State

Listed = tuple[State, str] | None
MOVES: Listed = (State.PAUSED, 'MIGRATION')
RUNS: Listed = (State.RUNNING, '')
KILLED: Listed = (State.SHUTOFF, 'CRASHED')
OFF: Listed = (State.SHUTOFF, 'UNKNOWN')
COMES = ('STARTED_MIGRATED', MOVES)
LOST: Listed = (State.PAUSED, 'POSTCOPY_FAILED')
HANDED: Listed = (State.PAUSED, 'POSTCOPY')
BOOTS = ('STARTED_BOOTED', RUNS)


@dataclass(frozen=True)
class End:
    """One end of a migration."""

    steps: tuple[tuple[str, Listed], ...]
    kinds: tuple[str, ...] = ()
    """Of the incidents there."""
    least: int = 0
    """Steps that must be seen: without them it looks like another thing."""


ENDS = {
    'destination, arrives': End(
        (COMES, ('DEFINED_ADDED', MOVES), ('RESUMED_MIGRATED', RUNS))
    ),
    'destination, aborted': End((COMES, ('STOPPED_FAILED', None))),
    'destination, aborted twice': End(
        (COMES, ('STOPPED_FAILED', None), COMES, ('STOPPED_FAILED', None))
    ),
    'destination, aborted, then arrives and is killed': End(
        (
            COMES,
            ('STOPPED_FAILED', None),
            COMES,
            ('RESUMED_MIGRATED', RUNS),
            ('STOPPED_FAILED', KILLED),
        ),
        ('crash',),
    ),
    'destination, aborted where it is defined': End(
        (('DEFINED_ADDED', OFF), COMES, ('STOPPED_FAILED', KILLED)), (), 2
    ),
    'destination, libvirt at the source ends': End(
        (COMES, ('SHUTDOWN_HOST', MOVES), ('STOPPED_DESTROYED', None))
    ),
    'destination, libvirt at the source ends, QEMU fails': End(
        (COMES, ('SHUTDOWN_HOST', MOVES), ('STOPPED_FAILED', None))
    ),
    'destination, arrives and is killed': End(
        (
            COMES,
            ('DEFINED_ADDED', MOVES),
            ('RESUMED_MIGRATED', RUNS),
            ('STOPPED_FAILED', KILLED),
        ),
        ('crash',),
    ),
    'destination, arrives paused and is killed': End(
        (
            COMES,
            ('DEFINED_ADDED', MOVES),
            ('SUSPENDED_PAUSED', (State.PAUSED, 'USER')),
            ('STOPPED_FAILED', KILLED),
        ),
        ('crash',),
    ),
    'destination, arrives in post-copy': End(
        (COMES, ('RESUMED_POSTCOPY', RUNS), ('RESUMED_MIGRATED', RUNS))
    ),
    'destination, killed in post-copy': End(
        (COMES, ('RESUMED_POSTCOPY', RUNS), ('STOPPED_FAILED', KILLED)),
        ('crash',),
    ),
    'destination, post-copy fails': End(
        (
            COMES,
            ('RESUMED_POSTCOPY', RUNS),
            ('RESUMED_POSTCOPY_FAILED', LOST),
        ),
        ('postcopy_failed',),
    ),
    'destination, post-copy fails, of an older libvirt': End(
        (
            COMES,
            ('RESUMED_POSTCOPY', RUNS),
            ('SUSPENDED_POSTCOPY_FAILED', LOST),
        ),
        ('postcopy_failed',),
    ),
    'source, leaves': End(
        (BOOTS, ('SUSPENDED_MIGRATED', MOVES), ('STOPPED_MIGRATED', None))
    ),
    'source, fails at the end': End(
        (BOOTS, ('SUSPENDED_MIGRATED', MOVES), ('RESUMED_MIGRATED', RUNS))
    ),
    'source, fails and cannot be resumed': End(
        (
            BOOTS,
            ('SUSPENDED_MIGRATED', MOVES),
            ('SUSPENDED_API_ERROR', (State.PAUSED, 'API_ERROR')),
        ),
        ('paused',),
    ),
    'source, killed': End((BOOTS, ('STOPPED_FAILED', KILLED)), ('crash',)),
    'source, killed at the end, and it does not arrive': End(
        (BOOTS, ('SUSPENDED_MIGRATED', MOVES), ('STOPPED_FAILED', KILLED)),
        ('crash',),
    ),
    'source, killed at the end, and it arrives': End(
        (BOOTS, ('SUSPENDED_MIGRATED', MOVES), ('STOPPED_FAILED', None))
    ),
    'source, leaves in post-copy': End(
        (
            BOOTS,
            ('SUSPENDED_MIGRATED', MOVES),
            ('SUSPENDED_POSTCOPY', HANDED),
            ('STOPPED_MIGRATED', None),
        )
    ),
    'source, killed in post-copy': End(
        (
            BOOTS,
            ('SUSPENDED_MIGRATED', MOVES),
            ('SUSPENDED_POSTCOPY', HANDED),
            ('SUSPENDED_POSTCOPY_FAILED', HANDED),
            ('STOPPED_FAILED', KILLED),
        ),
        (),
        3,
    ),
    'source, post-copy is resumed': End(
        (
            BOOTS,
            ('SUSPENDED_POSTCOPY', HANDED),
            ('SUSPENDED_POSTCOPY_FAILED', HANDED),
            ('SUSPENDED_POSTCOPY', HANDED),
            ('STOPPED_MIGRATED', None),
        )
    ),
}
