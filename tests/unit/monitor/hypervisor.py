# SPDX-License-Identifier: Apache-2.0
"""A made-up hypervisor: it writes what the synthetic source follows."""

import json
import pathlib
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

from kronos.monitor.events import Event

LONG = 60.0
"""Seconds after which a condition will never be met."""
ONE = '11111111-1111-4111-8111-111111111111'
TWO = '22222222-2222-4222-8222-222222222222'

KILLED = [('LIFECYCLE', 'STOPPED_FAILED')]
STIMULI: dict[str, tuple[list[tuple[str, str]], str]] = {
    'kill -9': (KILLED, 'crash'),
    'panic, destroy': (
        [('LIFECYCLE', 'CRASHED_PANICKED'), ('LIFECYCLE', 'STOPPED_CRASHED')],
        'panic',
    ),
    'panic, preserve': ([('LIFECYCLE', 'CRASHED_PANICKED')], 'panic'),
    'watchdog pause': (
        [('WATCHDOG', 'PAUSE'), ('LIFECYCLE', 'SUSPENDED_WATCHDOG')],
        'hang',
    ),
    'watchdog reset': (
        [('WATCHDOG', 'RESET'), *[('REBOOT', '')] * 3],
        'hang',
    ),
    'watchdog poweroff': ([('WATCHDOG', 'POWEROFF'), *KILLED], 'hang'),
    'watchdog none': ([('WATCHDOG', 'NONE')], 'hang'),
    'no space, stop': (
        [('IO_ERROR', 'PAUSE'), ('LIFECYCLE', 'SUSPENDED_IOERROR')],
        'io_error',
    ),
    'no space, report': ([('IO_ERROR', 'REPORT')] * 2000, 'io_error'),
    'broken memory': ([('MEMORY_FAILURE', 'INJECT')], 'memory_error'),
    'a newer action': ([('WATCHDOG', 'UNKNOWN_9')], 'hang'),
    'guest reboot': ([('REBOOT', '')] * 3, ''),
    'guest power-off': (
        [
            ('LIFECYCLE', 'SHUTDOWN_GUEST'),
            ('LIFECYCLE', 'STOPPED_SHUTDOWN'),
        ],
        '',
    ),
    'destroy': (
        [
            ('LIFECYCLE', 'SHUTDOWN_HOST'),
            ('LIFECYCLE', 'STOPPED_DESTROYED'),
            ('LIFECYCLE', 'UNDEFINED_REMOVED'),
        ],
        '',
    ),
    'suspend and resume': (
        [
            ('LIFECYCLE', 'SUSPENDED_PAUSED'),
            ('LIFECYCLE', 'RESUMED_UNPAUSED'),
        ],
        '',
    ),
    'migration away': ([('LIFECYCLE', 'STOPPED_MIGRATED')], ''),
    'saved': ([('LIFECYCLE', 'STOPPED_SAVED')], ''),
    'start': (
        [
            ('LIFECYCLE', 'DEFINED_ADDED'),
            ('LIFECYCLE', 'RESUMED_UNPAUSED'),
            ('LIFECYCLE', 'STARTED_BOOTED'),
        ],
        '',
    ),
}
"""What is done to a guest: its events, and the kind of incident; '': none."""


def event(
    name: str, detail: str = '', instance: str = ONE, **more: Any
) -> Event:
    """An event as a source tells it."""
    more.setdefault('moment', 1000.0)
    return Event(instance, 'guest', name, detail, **more)


def until(condition: Callable[[], Any], what: str = '') -> Any:
    """Wait for a condition.

    :raises AssertionError: it is never met
    """
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        if found := condition():
            return found
        threading.Event().wait(0.01)
    raise AssertionError(f'never: {what or condition}')


class Hypervisor:
    """Appends to the file of a synthetic source.

    :param path: of the file
    """

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.runs: dict[str, int] = {}
        self._next = 0
        path.touch()

    def tell(self, *lines: dict[str, Any]) -> None:
        with self.path.open('a') as file:
            file.write(''.join(json.dumps(line) + '\n' for line in lines))

    def start(self, instance: str = '', **more: Any) -> str:
        """A guest begins to run."""
        name = instance or str(uuid.uuid4())
        self._next += 1
        self.runs[name] = self._next
        self.tell(
            {
                'instance': name,
                'state': 'RUNNING',
                'run': self._next,
                'event': 'LIFECYCLE',
                'detail': 'STARTED_BOOTED',
                **more,
            }
        )
        return name

    def kill(self, instance: str) -> None:
        """Its process is gone."""
        self.become(instance, 'SHUTOFF', 'CRASHED', 'STOPPED_FAILED')

    def become(
        self, instance: str, state: str, reason: str, detail: str
    ) -> None:
        is_off = state == 'SHUTOFF'
        self.tell(
            {
                'instance': instance,
                'state': state,
                'reason': reason,
                'run': None if is_off else self.runs[instance],
                'event': 'LIFECYCLE',
                'detail': detail,
            }
        )
