# SPDX-License-Identifier: Apache-2.0
"""The callbacks of libvirt's events: each appends one event, and returns.

libvirt keeps what a client has not taken yet, so one that takes its time
holds up the host. What is asked of a domain here is what the event brought:
nothing of it goes to libvirt again.
"""

import time
from collections.abc import Callable
from typing import Any

from kronos.monitor import events
from kronos.monitor.events import Event

LIFECYCLE, REBOOT, WATCHDOG, IO_ERROR, CONTROL_ERROR = 0, 1, 3, 6, 7
MEMORY_FAILURE = 25
"""libvirt's numbers of the events; an older binding has no names for all."""
DEFINED, STARTED = 0, 2
"""Phases after which a domain may be another than it was."""
RECIPIENTS = ('hypervisor', 'guest')
MEMORY_FLAGS = ((1, 'action required'), (2, 'recursive'))

Callback = Callable[..., None]


class Callbacks:
    """Those of a connection.

    :param append: takes each event
    :param want: takes the UUID of a domain that is to be looked at
    """

    def __init__(
        self, append: Callable[[Event], None], want: Callable[[str], None]
    ) -> None:
        self._append = append
        self._want = want
        self.needed: dict[int, Callback] = {
            LIFECYCLE: self._lifecycle,
            REBOOT: self._reboot,
            WATCHDOG: self._watchdog,
        }
        """By the number of the event."""
        self.more: dict[int, Callback] = {
            CONTROL_ERROR: self._control_error,
            MEMORY_FAILURE: self._memory_failure,
        }
        """The same, of those that not every libvirt has."""

    def _lifecycle(
        self, _: object, domain: Any, phase: int, detail: int, __: object
    ) -> None:
        name = events.lifecycle(phase, detail)
        lifecycle_event = event(domain, events.LIFECYCLE, name)
        self._append(lifecycle_event)
        if phase in (DEFINED, STARTED):
            self._want(lifecycle_event.instance)

    def _reboot(self, _: object, domain: Any, __: object) -> None:
        self._append(event(domain, events.REBOOT))

    def _watchdog(
        self, _: object, domain: Any, action: int, __: object
    ) -> None:
        name = events.named(events.WATCHDOG_ACTIONS, action)
        self._append(event(domain, events.WATCHDOG, name))

    def _control_error(self, _: object, domain: Any, __: object) -> None:
        self._append(event(domain, events.CONTROL_ERROR))

    def _memory_failure(
        self,
        _: object,
        domain: Any,
        recipient: int,
        action: int,
        flags: int,
        __: object,
    ) -> None:
        about = [events.named(RECIPIENTS, recipient)]
        about += [name for bit, name in MEMORY_FLAGS if flags & bit]
        action_name = events.named(events.MEMORY_ACTIONS, action)
        self._append(
            event(domain, events.MEMORY_FAILURE, action_name, ', '.join(about))
        )


def event(domain: Any, name: str, detail: str = '', about: str = '') -> Event:
    """An event of a domain, of what its object has in it."""
    run = domain.ID()
    return Event(
        domain.UUIDString(),
        domain.name(),
        name,
        detail,
        time.time(),
        run if run >= 0 else None,
        about,
    )


def io_error(
    domain: Any, path: str, device: str, action: int, reason: str
) -> Event:
    """The event of an I/O error.

    :param path: of the disk, as the host has it
    :param device: as the definition of the domain calls it
    :param reason: such as ``enospc``; '': not told
    """
    action_name = events.named(events.IO_ERROR_ACTIONS, action)
    about = ' '.join(part for part in (device, reason, path) if part)
    return event(domain, events.IO_ERROR, action_name, about)
