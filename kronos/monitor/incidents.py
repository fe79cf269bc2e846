# SPDX-License-Identifier: Apache-2.0
"""The grouping of events into incidents: one failure, one incident.

A failure shows in several events, in an order that is not certain. So the
first one opens a group, the group is closed a moment later, and what belongs
to the same failure but comes after that is known by the domain's state. What
users do opens none.
"""

from dataclasses import dataclass, field

from kronos.monitor import domains
from kronos.monitor.domains import State
from kronos.monitor.events import Event, Kind, kind_of
from kronos.monitor.memory import Memory, Row
from kronos.monitor.nova_metadata import Metadata, bounded

SETTLE = 0.15
"""Seconds for which a group waits for the rest of its events."""
ARRIVAL = 10.0
"""Seconds for which the crash of a server that was just leaving its host waits
for the end of its migration."""
QUIET = 60.0
"""Seconds without an event of a kind after which a storm of it is over."""
MOST_EVENTS = 20
"""Different events of an incident that are told."""

_BY_STATE = {
    Kind.IO_ERROR: (State.PAUSED, 'IOERROR'),
    Kind.HANG: (State.PAUSED, 'WATCHDOG'),
    Kind.POSTCOPY_FAILED: (State.PAUSED, domains.POSTCOPY_FAILED),
    Kind.PAUSED: (State.PAUSED, 'API_ERROR'),
}
"""The states in which a further event of a kind is no news."""


@dataclass
class Seen:
    """Equal events of an incident."""

    event: str
    detail: str
    about: str
    moment: float
    """Unix seconds of the first one."""
    count: int = 1


@dataclass
class Gap:
    """A time in which no events came; in Unix seconds."""

    began: float
    ended: float


@dataclass
class Incident:
    """One failure of one domain."""

    id: str
    instance: str
    name: str
    kind: Kind
    seen: float
    """Unix seconds of the first event, or of the comparison."""
    state: State
    """Of the domain after it."""
    run: int | None
    """The run in which it failed."""
    metadata: Metadata
    events: list[Seen] = field(default_factory=list)
    gap: Gap | None = None
    """In which it happened; None: its events were seen."""

    @property
    def inferred(self) -> bool:
        """Whether no event told of it."""
        return self.gap is not None


class _Group:
    """Events of one domain that may be one incident."""

    def __init__(self, event: Event, row: Row, due: float) -> None:
        self.due = due
        """Seconds of the monotonic clock."""
        self.is_leaving = False
        """Whether its domain ended while it was leaving its host."""
        self.kinds: set[Kind] = set()
        self.row = row
        """As it was; the domain may be gone when the group is closed."""
        self.run = event.run if row.run is None else row.run
        self.seen = event.moment
        self.events: dict[tuple[str, str, str], Seen] = {}

    @property
    def is_held(self) -> bool:
        """Whether nothing but a failure of control is known yet."""
        return self.kinds == {Kind.CONTROL_ERROR}

    @property
    def waits(self) -> bool:
        """Whether it is an incident is not known yet."""
        return self.is_held or self.is_leaving

    def add(self, event: Event, kind: Kind | None) -> None:
        if kind is not None:
            self.kinds.add(kind)
        key = (event.event, event.detail, event.about)
        if key in self.events:
            self.events[key].count += 1
        elif len(self.events) < MOST_EVENTS:
            self.events[key] = Seen(
                event.event, event.detail, bounded(event.about), event.moment
            )

    @property
    def kind(self) -> Kind:
        """What the incident is: the strongest of what was shown."""
        return next(kind for kind in Kind if kind in self.kinds)


class Grouping:
    """Groups the events of a host.

    :param memory: of its domains; it follows every event
    :param hold: seconds for which a failure of control waits for what its
        domain does, since an ordinary end may show one, too
    :param settle: as :data:`SETTLE`
    """

    def __init__(
        self, memory: Memory, hold: float, settle: float = SETTLE
    ) -> None:
        self._memory = memory
        self._hold = hold
        self._settle = settle
        self._groups: dict[str, _Group] = {}
        self._closed: list[Incident] = []

    @property
    def open(self) -> set[str]:
        """Instances whose rows must not be kept yet.

        They would hide an incident that is not on disk.
        """
        return set(self._groups)

    @property
    def leaving(self) -> set[str]:
        """Instances that ended while they were leaving their host.

        Whether their domains are still there is to be looked at.
        """
        return {
            instance
            for instance, group in self._groups.items()
            if group.is_leaving
        }

    def gone(self, instance: str) -> None:
        """Take that a domain is not there: one that left has arrived."""
        if instance in self.leaving:
            del self._groups[instance]

    def take(self, event: Event, now: float) -> str:
        """Take an event.

        :param now: seconds of the monotonic clock
        :returns: what it is: ``opened`` a group, ``grouped`` with others, or
            ``ignored``, since it shows no failure of a server of this host
        """
        if event.detail == 'STARTED_MIGRATED':
            # Who comes back has been elsewhere.
            self.gone(event.instance)
        if event.detail.startswith('STARTED_'):
            # What comes from now on is of another run.
            self._end(event.instance)
        kind = kind_of(event.event, event.detail)
        group = self._groups.get(event.instance)
        taken = 'grouped'
        if group is not None:
            group.add(event, kind)
            self._leave(group, kind, now)
            if not group.waits:
                group.due = min(group.due, now + self._settle)
        elif kind is None:
            taken = 'ignored'
        else:
            taken = self._alone(event, kind, now)
        self._memory.follow(event)
        return taken

    def _alone(self, event: Event, kind: Kind, now: float) -> str:
        row = self._memory.row_of(event.instance, event.name)
        if row.is_elsewhere and not event.detail.startswith('RESUMED_'):
            return 'ignored'
        if _is_known(row, event, kind):
            self._memory.storm(row, kind, event.moment)
            return 'grouped'
        is_held = kind is Kind.CONTROL_ERROR
        wait = self._hold if is_held else self._settle
        group = _Group(event, row, now + wait)
        group.add(event, kind)
        self._leave(group, kind, now)
        self._groups[event.instance] = group
        return 'opened'

    def _leave(self, group: _Group, kind: Kind | None, now: float) -> None:
        """Have a group wait whose server may have arrived elsewhere.

        QEMU at the source may end when its migration needs it no more.
        """
        if kind is Kind.CRASH and group.row.is_leaving:
            group.is_leaving = True
            group.due = now + ARRIVAL

    def due(self, now: float) -> list[Incident]:
        """The incidents of the groups that have waited long enough."""
        for instance, group in [*self._groups.items()]:
            if group.due <= now:
                self._close(instance)
        closed, self._closed = self._closed, []
        return closed

    def flush(self) -> list[Incident]:
        """The incidents of all groups, but those that wait."""
        for instance, group in [*self._groups.items()]:
            if not group.waits:
                self._close(instance)
        closed, self._closed = self._closed, []
        return closed

    def _end(self, instance: str) -> None:
        group = self._groups.get(instance)
        if group is None:
            return
        if group.is_held:
            del self._groups[instance]
        else:
            self._close(instance)

    def _close(self, instance: str) -> None:
        group = self._groups.pop(instance)
        row = self._memory.rows.get(instance, group.row)
        if group.is_held and row.state is not State.RUNNING:
            return
        last = max(event.moment for event in group.events.values())
        for kind in group.kinds:
            self._memory.storm(row, kind, last)
        self._closed.append(
            Incident(
                self._memory.fail(row, group.kind, group.seen),
                instance,
                row.name,
                group.kind,
                group.seen,
                row.state,
                group.run,
                row.metadata,
                [*group.events.values()],
            )
        )


def _is_known(row: Row, event: Event, kind: Kind) -> bool:
    """Whether an event belongs to an incident that there was already."""
    if kind in (Kind.CRASH, Kind.PANIC):
        return row.is_off
    if kind is Kind.CONTROL_ERROR and row.is_off:
        return True
    if _BY_STATE.get(kind) == (row.state, row.reason):
        return True
    if event.detail.startswith('SUSPENDED_'):
        return False
    return abs(event.moment - row.storms.get(kind, float('-inf'))) < QUIET
