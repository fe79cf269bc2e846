# SPDX-License-Identifier: Apache-2.0
"""The journal of a move: what was asked, seen, checked and mended, and when.

Short in the action's status message, whole in a file of ``report_dir``.
"""

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from kronos.clients.nova.rows import MigrationStatus
from kronos.common import durations, plain_text
from kronos.engine import types
from kronos.engine.eligibility.instances import POWER_STATES, RUNNING
from kronos.extensions.cells.actions.comparison import ServerCheck
from kronos.extensions.cells.actions.parameters import CellMoveTask

MOVED, WAITS, FAILED, SKIPPED = 'moved', 'waits', 'failed', 'skipped'
"""Outcomes."""
DELETED = 'deleted'
"""The status of a server that is not there any more; for a moment Nova shows
it so itself."""
DELETING = ('deleting', 'soft-deleting')
AWAY = ('resize_migrating', 'resize_migrated')
"""Task states in which Nova may have powered the guest off."""


@dataclass
class JournalEntry:
    """The server and its migration at one look; only changes are kept."""

    since: float
    """Unix seconds."""
    until: float
    """When it was last seen so."""
    status: str
    task: str
    power: int
    host: str
    migration: str

    @property
    def is_running(self) -> bool:
        """Whether its guest surely ran."""
        return self.power == RUNNING and self.task not in AWAY

    def document(self) -> dict[str, Any]:
        values = asdict(self)
        power = POWER_STATES.get(self.power, '?')
        return {'at': values.pop('since'), **values, 'power': power}


@dataclass
class Journal:
    """All that is known of one move."""

    task: CellMoveTask
    began: float
    """Unix seconds."""
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)
    requests: dict[str, str] = field(default_factory=dict)
    """Ids by what was asked: ``migrate``, ``confirm``, ``revert``, ..."""
    migration: str = ''
    """Uuid."""
    seen: list[JournalEntry] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    """Of the server in its new cell: ``name``, ``ok``, ``told``."""
    old_state: list[dict[str, Any]] = field(default_factory=list)
    """The same of a server that was taken back."""
    mended: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    """What only an administrator can do."""

    def look(
        self,
        now: float,
        instance: types.Instance | None,
        migration: MigrationStatus | None,
    ) -> None:
        """Keep what Nova shows, if it is something else than before."""
        shown = migration.status if migration else ''
        status, task, power, host = DELETED, '', 0, ''
        if instance is not None:
            status, task = instance.status, instance.task_state or ''
            power, host = instance.power_state, instance.host
        new = JournalEntry(now, now, status, task, power, host, shown)
        last = self.seen[-1] if self.seen else None
        if last and vars(last) | {'since': now, 'until': now} == vars(new):
            last.until = now
        else:
            self.seen.append(new)

    @property
    def was_being_deleted(self) -> bool:
        """Whether somebody asked for its deletion, as far as was seen."""
        return any(
            entry.task in DELETING or entry.status.lower() == DELETED
            for entry in self.seen
        )

    def note(
        self, checks: Sequence[ServerCheck], reverted: bool = False
    ) -> None:
        """Keep checks; those that were kept before are replaced."""
        documents = [check.document() for check in checks]
        if reverted:
            self.old_state = documents
        else:
            self.checks = documents

    def downtime(self) -> float | None:
        """Seconds that its guest was off, at most; None: it was not.

        From the last look at which it surely ran to the first one at which
        it ran again.
        """
        off: float | None = None
        for before, now in itertools.pairwise(self.seen):
            if off is None and before.is_running and not now.is_running:
                off = before.until
            elif off is not None and now.is_running:
                return now.since - off
        return None

    def short(self) -> str:
        """For the action: from where to where, and how long it was off."""
        task = self.task
        host = self.seen[-1].host if self.seen else task.destination
        parts = [
            f'{task.source_cell}/{task.source} -> '
            f'{task.destination_cell}/{host}'
        ]
        off = self.downtime()
        if off is not None:
            parts.append(f'off for at most {durations.rounded(off)}')
        if self.checks:
            parts.append(f'{len(self.checks)} checks passed')
        if self.migration:
            parts.append(f'migration {self.migration}')
        return ', '.join(parts)

    def document(self, ended: float, outcome: str, message: str) -> Any:
        """All of it, to be written as JSON.

        :param outcome: ``MOVED``, ``WAITS``, ``FAILED`` or ``SKIPPED``
        :param message: the words of the action's end
        """
        task = self.task
        return {
            'format': 'cell_move/1',
            'server': {'uuid': task.instance, 'name': task.name},
            'outcome': outcome,
            'message': message,
            'began': self.began,
            'ended': ended,
            'planned': asdict(task),
            'requests': self.requests,
            'migration': self.migration,
            'downtime_seconds': self.downtime(),
            'before': self.before,
            'after': self.after,
            'statuses': [entry.document() for entry in self.seen],
            'checks': self.checks,
            'old_state': self.old_state,
            'mended': self.mended,
            # A name may end no comment, or what follows would be given.
            'commands': [plain_text.line(entry) for entry in self.commands],
        }
