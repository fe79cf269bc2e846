# SPDX-License-Identifier: Apache-2.0
"""The memory of domains: what is remembered of each, and what is not kept yet.

A row changes here at once and on disk later, together with the incident that
its change is part of: whatever is lost in between is found again by comparing.
"""

import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from kronos.monitor import domains, events
from kronos.monitor.domains import Domain, State
from kronos.monitor.events import Event, Kind
from kronos.monitor.nova_metadata import Metadata, bounded

NAMESPACE = uuid.UUID('5f0c2f55-6a0f-4f0e-9d2c-7b1c6f1f3a52')
"""Of the ids of incidents."""
KEEP_EVERY = 10.0
"""Seconds between two times that a lasting storm is put on disk."""
LASTING = 300.0
"""Seconds for which a running domain counts as failed after its last event."""
_SUSPENDED = {'PAUSED': 'USER', 'MIGRATED': domains.LEAVING}
"""Reasons of a pause that are called otherwise than their event's detail."""
_BY_PHASE = {
    'SHUTDOWN': State.SHUTTING_DOWN,
    'PMSUSPENDED': State.SLEEPING,
    'CRASHED': State.CRASHED,
}
"""States of phases whose details are their reasons."""
_STOPPED = {'FAILED': 'CRASHED'}
"""The same of a stop: a process that is gone is a crash by state."""
_NOT_DEFINED = ('MIGRATED', domains.NOT_ARRIVED)
"""Reasons of an end after which a domain is mostly not defined any more."""
_ENDING = ('POWEROFF', 'SHUTDOWN')
"""Actions of a watchdog after which the domain ends."""


@dataclass
class Row:
    """What is remembered of a domain."""

    instance: str
    name: str
    state: State = State.UNKNOWN
    reason: str = ''
    run: int | None = None
    token: str = ''
    """Made up with the row, so that a domain that is defined anew under its
    old UUID has other ids."""
    episode: int = 0
    """Incidents so far."""
    failed: str = ''
    """The kind of failure that it is in; '': none."""
    failed_at: float = 0.0
    ending: bool = False
    """Whether its end was told already, by the event that caused it."""
    storms: dict[str, float] = field(default_factory=dict)
    """Kind to Unix seconds of the last event of it."""
    metadata: Metadata = field(default_factory=Metadata)

    def document(self) -> dict[str, Any]:
        """As it is kept."""
        return asdict(self)

    @classmethod
    def of(cls, stored: dict[str, Any]) -> 'Row':
        """From what was kept."""
        more = {
            'state': State(stored['state']),
            'metadata': Metadata(**stored['metadata']),
        }
        return cls(**{**stored, **more})

    @property
    def is_off(self) -> bool:
        """Whether a further end of this run is no news."""
        return self.ending or self.state in (State.SHUTOFF, State.CRASHED)

    @property
    def is_elsewhere(self) -> bool:
        """Whether another host runs the server, whatever ends here."""
        return self.state is State.PAUSED and self.reason in domains.ELSEWHERE

    @property
    def is_leaving(self) -> bool:
        """Whether another host may run the server by now."""
        return (self.state, self.reason) == (State.PAUSED, domains.LEAVING)


class Memory:
    """All rows.

    :param host: part of the ids of incidents
    :param rows: those that are on disk
    """

    def __init__(self, host: str, rows: dict[str, Row] | None = None) -> None:
        self.rows = rows or {}
        self.changed: set[str] = set()
        """Instances whose rows on disk are older than here, or are to go."""
        self._host = host
        self._stored_storms = {
            instance: dict(row.storms) for instance, row in self.rows.items()
        }
        """The storms as they are on disk."""
        self._follow: dict[str, Callable[[Row, str], None]] = {
            events.LIFECYCLE: self._lifecycle,
            events.WATCHDOG: self._watchdog,
            events.IO_ERROR: self._io_error,
            events.REBOOT: self._reboot,
        }
        self._phases: dict[str, Callable[[Row, str], None]] = {
            'STARTED': self._started,
            'RESUMED': self._resumed,
            'SUSPENDED': self._suspended,
            'STOPPED': self._stopped,
            'DEFINED': self._defined,
            'UNDEFINED': self._undefined,
        }

    def row_of(self, instance: str, name: str) -> Row:
        """The row of a domain, a new one if need be."""
        row = self.rows.get(instance)
        if row is None:
            row = Row(instance, bounded(name), token=uuid.uuid4().hex)
            self.rows[instance] = row
            self.changed.add(instance)
        return row

    def follow(self, event: Event) -> None:
        """Remember what an event says of its domain's state."""
        row = self.row_of(event.instance, event.name)
        follow = self._follow.get(event.event)
        if follow is None or _says_nothing(row, event):
            return
        is_start = event.detail.startswith('STARTED_')
        if is_start and event.run != row.run:
            self._forget_failure(row)
            row.run = event.run
            self.changed.add(row.instance)
        follow(row, event.detail)

    def adopt(self, domain: Domain) -> None:
        """Remember a domain as it is now."""
        row = self.row_of(domain.instance, domain.name)
        before = row.document()
        is_new_run = domain.run is not None and row.run != domain.run
        if is_new_run or (
            domain.state is State.RUNNING and row.state is not State.RUNNING
        ):
            self._forget_failure(row)
        reason = _reason(row, domain)
        row.name = bounded(domain.name)
        row.state, row.reason, row.run = domain.state, reason, domain.run
        if domain.metadata is not None:
            row.metadata = domain.metadata
        if row.document() != before:
            self.changed.add(row.instance)

    def describe(self, domain: Domain) -> None:
        """Remember what is told of a domain between two listings.

        Its state is that of a moment which events may have overtaken.
        """
        row = self.row_of(domain.instance, domain.name)
        if row.state is State.UNKNOWN:
            self.adopt(domain)
        elif domain.metadata is not None and row.metadata != domain.metadata:
            row.metadata = domain.metadata
            self.changed.add(row.instance)

    def forget(self, instance: str) -> None:
        """It is gone."""
        self.rows.pop(instance, None)
        self._stored_storms.pop(instance, None)
        self.changed.add(instance)

    def end_elsewhere(self, row: Row) -> None:
        """What a migration has left here is gone; events may still say so."""
        self._forget_failure(row)
        row.run = None
        self._be(row, State.SHUTOFF, domains.NOT_ARRIVED)

    def fail(self, row: Row, kind: Kind, moment: float) -> str:
        """Remember a failure.

        :returns: the id of its incident
        """
        row.episode += 1
        row.failed, row.failed_at = kind.value, moment
        self.changed.add(row.instance)
        place = f'{self._host}/{row.instance}/{row.token}/{row.episode}'
        return str(uuid.uuid5(NAMESPACE, place))

    def storm(self, row: Row, kind: Kind, moment: float) -> None:
        """Remember that events of a kind go on."""
        row.storms[kind] = moment
        if row.failed == kind:
            row.failed_at = moment
        stored = self._stored_storms.setdefault(row.instance, {})
        if abs(moment - stored.get(kind, float('-inf'))) >= KEEP_EVERY:
            stored[kind] = moment
            self.changed.add(row.instance)

    def expire(self, now: float) -> None:
        """Let domains that run no longer count as failed after a while."""
        for row in self.rows.values():
            if (
                row.failed
                and row.state is State.RUNNING
                and abs(now - row.failed_at) > LASTING
            ):
                row.failed = ''
                self.changed.add(row.instance)

    def _lifecycle(self, row: Row, detail: str) -> None:
        phase, _, rest = detail.partition('_')
        if phase in _BY_PHASE:
            self._be(row, _BY_PHASE[phase], rest)
        elif phase in self._phases:
            self._phases[phase](row, rest)

    def _be(self, row: Row, state: State, reason: str) -> None:
        if (row.state, row.reason) != (state, reason):
            row.state, row.reason = state, reason
            self.changed.add(row.instance)

    def _started(self, row: Row, detail: str) -> None:
        if detail == 'MIGRATED':
            self._be(row, State.PAUSED, _incoming(row))
        else:
            self._runs(row)

    def _resumed(self, row: Row, detail: str) -> None:
        if detail == domains.POSTCOPY_FAILED:
            # libvirt says that it runs, but it waits for lost memory.
            self._be(row, State.PAUSED, detail)
        else:
            self._runs(row)

    def _runs(self, row: Row) -> None:
        if row.state is not State.RUNNING:
            self._forget_failure(row)
        self._be(row, State.RUNNING, '')

    def _suspended(self, row: Row, detail: str) -> None:
        if detail == domains.POSTCOPY_FAILED and row.is_elsewhere:
            return
        self._be(row, State.PAUSED, _SUSPENDED.get(detail, detail))

    def _stopped(self, row: Row, detail: str) -> None:
        if (row.state, row.reason) == (State.PAUSED, domains.INCOMING):
            self.end_elsewhere(row)
            return
        row.run = None
        self._be(row, State.SHUTOFF, _STOPPED.get(detail, detail))

    def _defined(self, row: Row, _: str) -> None:
        if row.state is State.UNKNOWN:
            self._be(row, State.SHUTOFF, 'UNKNOWN')

    def _undefined(self, row: Row, _: str) -> None:
        """One that runs goes on without being defined."""
        if row.state in (State.SHUTOFF, State.UNKNOWN):
            self.forget(row.instance)

    def _watchdog(self, row: Row, action: str) -> None:
        if action == 'PAUSE':
            self._be(row, State.PAUSED, 'WATCHDOG')
        elif action in _ENDING and not row.ending:
            row.ending = True
            self.changed.add(row.instance)

    def _io_error(self, row: Row, action: str) -> None:
        if action == 'PAUSE':
            self._be(row, State.PAUSED, 'IOERROR')

    def _reboot(self, row: Row, _: str) -> None:
        if row.state is State.CRASHED:
            self._runs(row)

    def _forget_failure(self, row: Row) -> None:
        if row.failed or row.ending or row.storms:
            row.failed, row.ending, row.storms = '', False, {}
            self._stored_storms.pop(row.instance, None)
            self.changed.add(row.instance)


def _says_nothing(row: Row, event: Event) -> bool:
    """Whether an event is about a rest of a server of another host.

    It tells only of its end, or that the server is run here.
    """
    return row.is_elsewhere and (
        event.event != events.LIFECYCLE
        or event.detail.startswith(('SHUTDOWN_', 'CRASHED_'))
    )


def _incoming(row: Row) -> str:
    """The reason of a pause with which a domain comes by a migration."""
    is_defined = row.reason == domains.INCOMING_DEFINED or (
        row.state is State.SHUTOFF and row.reason not in _NOT_DEFINED
    )
    return domains.INCOMING_DEFINED if is_defined else domains.INCOMING


def _reason(row: Row, domain: Domain) -> str:
    """Of a domain's state, with the end of a migration that this host is.

    The hypervisor calls both ends paused by a migration.
    """
    if (domain.state, domain.reason) != (State.PAUSED, domains.LEAVING):
        return domain.reason
    if row.run != domain.run:
        return _incoming(row)
    return row.reason if row.is_elsewhere else domain.reason
