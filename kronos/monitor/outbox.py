# SPDX-License-Identifier: Apache-2.0
"""The outbox: decided incidents and changed rows, until they are on disk.

A disk that is full keeps them waiting in memory; nothing is delivered that is
not on disk.
"""

import time
from collections.abc import Collection

from oslo_log import log as logging

from kronos.monitor.incidents import Incident
from kronos.monitor.memory import Memory
from kronos.monitor.metrics import Metrics
from kronos.monitor.rules.decision import Ruling
from kronos.monitor.rules.models import Action
from kronos.monitor.spool import Changes, Entry, Spool, SpoolError

LOG = logging.getLogger(__name__)

SLICE = 100
"""Incidents of a transaction; the room that is kept free is for as many."""
MOST_UNSAVED = 20_000
"""Incidents that wait in memory for a disk that is full."""
DISK_SECONDS = 1.0
"""Between two tries to write to a disk that is full."""


class Outbox:
    """What waits for the disk.

    :param memory: whose rows are kept
    :param sent: what was sent lately, as :class:`.spool.Changes` has it
    """

    def __init__(
        self,
        spool: Spool,
        memory: Memory,
        metrics: Metrics,
        sent: dict[tuple[str, str], float] | None = None,
    ) -> None:
        self._spool = spool
        self._memory = memory
        self._metrics = metrics
        self._sent = sent or {}
        self._entries: list[Entry] = []
        self._sent_due: dict[tuple[str, str], float] = {}
        self._baseline_due = False
        self._is_full = False
        self._write_after = 0.0
        """Seconds of the monotonic clock."""

    def baseline(self) -> None:
        """All domains are in memory now; that is to be kept, too."""
        self._baseline_due = True

    def add(self, incident: Incident, decision: Ruling, body: str) -> str:
        """Take an incident in.

        :param body: its message
        :returns: what becomes of it: ``sent``, ``dropped`` by a rule,
            ``unmatched`` by all, or ``deduplicated``
        """
        if decision.action is not Action.SEND:
            return 'dropped' if decision.rule else 'unmatched'
        key = (incident.instance, incident.kind.value)
        last = self._sent.get(key, float('-inf'))
        if 0 <= incident.seen - last < decision.dedup_seconds:
            return 'deduplicated'
        self._sent[key] = self._sent_due[key] = incident.seen
        if decision.sinks:
            self._entries.append(
                Entry(
                    incident.id,
                    incident.instance,
                    decision.severity.rank,
                    incident.seen,
                    incident.run,
                    incident.state,
                    body,
                    decision.sinks,
                )
            )
        return 'sent'

    def keep(self, but: Collection[str], at_once: bool = False) -> bool:
        """Put on disk what changed, as far as the disk takes it.

        :param but: instances whose rows must not be kept yet
        :param at_once: even if the disk was full a moment ago
        :returns: whether there are new incidents on disk
        """
        due = self._memory.changed.difference(but)
        if not (due or self._entries or self._sent_due or self._baseline_due):
            return False
        self._bound()
        if time.monotonic() < self._write_after and not at_once:
            return False
        is_new = False
        try:
            for part in self._slices(due):
                self._commit(part)
                is_new |= bool(part.entries)
        except SpoolError as error:
            self._write_after = time.monotonic() + DISK_SECONDS
            self.report_full(error)
            return is_new
        if self._is_full:
            LOG.info('The state file takes changes again')
        self._is_full = False
        return is_new

    def keep_all(self, has_baseline: bool) -> None:
        """Another file took the place of one that broke: it needs all."""
        self._memory.changed |= set(self._memory.rows)
        self._sent_due |= self._sent
        self._baseline_due = has_baseline

    def report_full(self, error: SpoolError) -> None:
        """Once, however long it lasts."""
        self._metrics.spool_errors.inc()
        if not self._is_full:
            LOG.error(
                '%s. Incidents wait in memory, and are not delivered until '
                'they are on disk',
                error,
            )
        self._is_full = True

    def _slices(self, due: set[str]) -> list[Changes]:
        """Changes that are one transaction each.

        The row of a domain goes with its last incident: it says that there
        was one.
        """
        last = {
            entry.instance: index for index, entry in enumerate(self._entries)
        }
        slices = []
        for start in range(0, max(len(self._entries), 1), SLICE):
            part = self._entries[start : start + SLICE]
            rows = {
                name: self._memory.rows.get(name)
                for name in due
                if last.get(name, 0) // SLICE == start // SLICE
            }
            slices.append(Changes(rows, part))
        slices[-1].sent = dict(self._sent_due)
        slices[-1].is_baseline = self._baseline_due
        return slices

    def _commit(self, changes: Changes) -> None:
        """Put changes on disk; what cannot be kept at all is let go."""
        try:
            self._commit_all(changes)
        except SpoolError:
            raise
        except Exception:
            for part in _parts(changes):
                try:
                    self._commit_all(part)
                except SpoolError:
                    raise
                except Exception:
                    names = ', '.join(map(repr, part.rows))
                    LOG.exception('What is known of %s is odd', names)
                    self._metrics.errors.inc()
                    self._forget(part)

    def _commit_all(self, changes: Changes) -> None:
        if dropped := self._spool.commit(changes):
            self._metrics.dropped.inc(dropped)
            LOG.warning(
                'The state file is full: %d incidents are let go undelivered, '
                'the least severe and oldest',
                dropped,
            )
        self._forget(changes)

    def _forget(self, changes: Changes) -> None:
        """It is on disk, or will never be."""
        del self._entries[: len(changes.entries)]
        for key in changes.sent:
            self._sent_due.pop(key, None)
        self._memory.changed -= set(changes.rows)
        if changes.is_baseline:
            self._baseline_due = False

    def _bound(self) -> None:
        """Let go of what would be too much for the memory."""
        entries = self._entries
        excess = len(entries) - MOST_UNSAVED
        if excess <= 0:
            return
        order = sorted(
            range(len(entries)),
            key=lambda index: (entries[index].severity, index),
        )
        gone = set(order[:excess])
        self._entries = [
            entry for index, entry in enumerate(entries) if index not in gone
        ]
        self._metrics.dropped.inc(excess)
        LOG.error(
            'The disk is full: %d incidents are let go undelivered, the least '
            'severe and oldest',
            excess,
        )


def _parts(changes: Changes) -> list[Changes]:
    """Each change by itself; a row goes with its last incident."""
    last = {
        entry.instance: index for index, entry in enumerate(changes.entries)
    }
    parts = []
    for index, entry in enumerate(changes.entries):
        name = entry.instance
        is_last = last[name] == index and name in changes.rows
        rows = {name: changes.rows[name]} if is_last else {}
        parts.append(Changes(rows, [entry]))
    parts += [
        Changes({name: row})
        for name, row in changes.rows.items()
        if name not in last
    ]
    parts += [
        Changes(sent={key: moment}) for key, moment in changes.sent.items()
    ]
    return [*parts, Changes(is_baseline=changes.is_baseline)]
