# SPDX-License-Identifier: Apache-2.0
"""The abort of a migration, asked of Nova until the migration is over.

Nova's API hands an abort on by a cast: its 202 says that the message was
sent. A broker loses it, or libvirt refuses it while its job is not there yet,
and the migration runs on.
"""

from oslo_log import log as logging

from kronos.actions.core.parameters import MigrationTask
from kronos.actions.live.context import MigrationContext
from kronos.clients.nova.rows import AbortOutcome, MigrationStatus
from kronos.common import exceptions

LOG = logging.getLogger(__name__)

AGAIN_SECONDS = 30.0
"""From an answer of Nova to the next request, while the migration is as it
was: what is carried out at all is so within a few seconds."""


class Abort:
    """What was asked for, and what Nova answered."""

    def __init__(self, context: MigrationContext, task: MigrationTask) -> None:
        self._live_migration = context.live_migration
        self._clock = context.clock
        self._tell = context.tell
        self._task = task
        self._next = float('-inf')
        self._refused_as = ''
        """Status of the migration when Nova refused."""
        self.refusal = ''
        """Nova's last words, if it refused; '' if it took the request."""

    def ask(self, seen: MigrationStatus | None) -> None:
        """Ask for it, unless that was done a moment ago.

        :param seen: the migration as it was last seen; without an id there
            is nothing to abort
        """
        if seen is None or seen.id is None or not self._is_due(seen):
            return
        self._next = self._clock() + AGAIN_SECONDS
        self._refused_as = ''
        try:
            result = self._live_migration.abort_migration(
                self._task.instance, seen
            )
        except Exception as error:
            # Whatever it failed of: the migration goes on meanwhile.
            self._fail(error)
            return
        if result.outcome is AbortOutcome.REFUSED:
            self._refused_as = seen.status
        if result.outcome is AbortOutcome.ABORTING:
            self.refusal = ''
        else:
            self._refuse(result.text)

    def _is_due(self, seen: MigrationStatus) -> bool:
        """Also as soon as what Nova refused for its status has another."""
        changed = self._refused_as not in ('', seen.status)
        return changed or self._clock() >= self._next

    def _fail(self, error: Exception) -> None:
        """Nova cannot be asked, forbids it, or answers nonsense.

        What is not forbidden is asked for at the next look, or when Nova
        wants it.
        """
        wait = 0.0
        if not isinstance(error, exceptions.ClientError):
            LOG.exception('Instance %s: not aborted', self._task.instance)
        elif _is_forbidden(error):
            wait = AGAIN_SECONDS
        else:
            wait = error.kwargs['retry_after'] or 0.0
        self._next = self._clock() + wait
        self._refuse(str(error))

    def _refuse(self, words: str) -> None:
        if words != self.refusal:
            LOG.warning(
                'Instance %s: not aborted: %s', self._task.instance, words
            )
            self._tell(f'Kronos is aborting its migration; {words}')
        self.refusal = words


def _is_forbidden(error: exceptions.ClientError) -> bool:
    own_fault: bool = 400 <= (error.kwargs['status'] or 0) < 500
    return own_fault and not error.kwargs['transient']
