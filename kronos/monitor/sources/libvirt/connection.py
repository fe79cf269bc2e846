# SPDX-License-Identifier: Apache-2.0
"""A connection to libvirt: read-only, and looked after until it closes.

Its errors are those of the operating system, for whoever uses it.
"""

import contextlib
import queue
from collections.abc import Iterator, Mapping
from typing import Any

import libvirt
from oslo_log import log as logging

from kronos.monitor import nova_metadata
from kronos.monitor.domains import Domain, State
from kronos.monitor.sources.libvirt import loop, states
from kronos.monitor.sources.libvirt.callbacks import Callback

LOG = logging.getLogger(__name__)

ALIVE_SECONDS, ALIVE_TRIES = 5, 3
"""A libvirt that says nothing for so long, so many times, is away."""
REASONS = ('it failed', 'libvirt ended it', 'libvirt hangs', 'it was closed')
"""Why a connection was closed, by libvirt's numbers."""


class Connection:
    """One connection, which is made at once.

    :raises OSError: it cannot be made
    """

    def __init__(self, uri: str) -> None:
        loop.begin()
        self._gone: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._ids: list[int] = []
        with _translated():
            self._own: Any = libvirt.openReadOnly(uri)
        try:
            with _translated():
                self._own.registerCloseCallback(self._closed, None)
            with contextlib.suppress(libvirt.libvirtError):
                # A libvirt that is a part of this process knows none.
                self._own.setKeepAlive(ALIVE_SECONDS, ALIVE_TRIES)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> 'Connection':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def subscribe(
        self,
        needed: Mapping[int, Callback],
        more: Mapping[int, Callback] | None = None,
    ) -> None:
        """Have callbacks called, by the numbers of their events.

        :param more: those that libvirt may not know
        :raises OSError: there is an event that it does not tell
        """
        for number, callback in needed.items():
            with _translated():
                self._subscribe(number, callback)
        for number, callback in (more or {}).items():
            try:
                self._subscribe(number, callback)
            except libvirt.libvirtError as error:
                LOG.info('libvirt sends no events %d: %s', number, error)

    def domains(self) -> list[Domain]:
        """All domains as they are now.

        :raises OSError: libvirt does not tell
        """
        with _translated():
            handles = self._own.listAllDomains()
        described = [self._described(handle) for handle in handles]
        return [domain for domain in described if domain is not None]

    def domain(self, instance: str) -> Domain | None:
        """A domain as it is now; None: it is not there, or not just now.

        :raises OSError: libvirt does not tell
        """
        try:
            handle = self._own.lookupByUUIDString(instance)
        except libvirt.libvirtError as error:
            if _is_gone(error):
                return None
            raise OSError(str(error)) from None
        return self._described(handle)

    def wait(self) -> str:
        """Wait until it is closed, or :meth:`end` is called.

        :returns: why
        """
        return self._gone.get()

    def end(self, why: str) -> None:
        """Have whoever waits do so no longer; callbacks may do that."""
        self._gone.put(why)

    def close(self) -> None:
        """Let it go."""
        for callback_id in self._ids:
            with contextlib.suppress(libvirt.libvirtError):
                self._own.domainEventDeregisterAny(callback_id)
        self._ids.clear()
        for close in (self._own.unregisterCloseCallback, self._own.close):
            with contextlib.suppress(libvirt.libvirtError):
                close()

    def _subscribe(self, number: int, callback: Callback) -> None:
        callback_id = self._own.domainEventRegisterAny(
            None, number, callback, None
        )
        self._ids.append(callback_id)

    def _closed(self, _: object, reason: int, __: object) -> None:
        is_listed = 0 <= reason < len(REASONS)
        self.end(REASONS[reason] if is_listed else f'for reason {reason}')

    def _described(self, domain: Any) -> Domain | None:
        """As it is now; None: it is not there any more."""
        run = domain.ID()
        state, reason = State.UNKNOWN, ''
        metadata = None
        # Before the state: else that may be older.
        is_current = run < 0 or _is_current(domain)
        try:
            state, reason = states.of(*domain.state())
            metadata = nova_metadata.parse(domain.XMLDesc())
        except libvirt.libvirtError as error:
            if _is_gone(error):
                return None
            if not self._own.isAlive():
                raise OSError(str(error)) from None
            LOG.info('A domain cannot be read: %s', error)
        except Exception as error:
            # Whatever it is, the other domains are watched.
            name = nova_metadata.bounded(domain.name())
            LOG.warning('The definition of domain %s: %s', name, error)
        return Domain(
            domain.UUIDString(),
            domain.name(),
            state,
            reason,
            run if run >= 0 else None,
            metadata,
            is_current,
        )


def _is_current(domain: Any) -> bool:
    """Whether the state that libvirt shows next is that of the guest.

    When libvirt starts, each guest has a job until libvirt has reached it, or
    seen that its process is gone.
    """
    try:
        control, *_ = domain.controlInfo()
    except libvirt.libvirtError:
        # It has ended, or its hypervisor has no such jobs.
        return True
    return bool(control == libvirt.VIR_DOMAIN_CONTROL_OK)


def _is_gone(error: libvirt.libvirtError) -> bool:
    return bool(error.get_error_code() == libvirt.VIR_ERR_NO_DOMAIN)


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except libvirt.libvirtError as error:
        raise OSError(str(error)) from None
