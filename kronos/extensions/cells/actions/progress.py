# SPDX-License-Identifier: Apache-2.0
"""The progress of a move: what Nova shows of server and migration together.

Neither alone is to be believed: the migration is ``finished`` and
``confirmed`` before the server is, and flickers while it is reverted. A
state counts when both agree.
"""

from dataclasses import dataclass
from enum import Enum

from oslo_log import log as logging

from kronos.clients.nova.rows import MigrationStatus
from kronos.common import exceptions
from kronos.engine import types
from kronos.extensions.cells.actions.context import MovePart, StartedMove

LOG = logging.getLogger(__name__)

VERIFY = 'VERIFY_RESIZE'
ERROR = 'ERROR'
AT_REST = ('ACTIVE', 'SHUTOFF')
FAILED = frozenset({'error', 'failed', 'cancelled', 'conflict'})
"""Statuses of a migration that Nova gave up."""
ENDING = frozenset({'confirming', 'reverting'})
"""Statuses of a migration that Nova brings to its end; the server may show no
task meanwhile."""
BEFORE = frozenset({'pre-migrating', 'migrating', 'post-migrating'})
"""Statuses of a migration that is under way. Each cell has a row of it, and
Nova shows the one that was written last; of two that were written in the same
second it may show the one of the source, which never becomes ``finished``."""
SKEW_SECONDS = 600.0
"""By which a clock of Nova may be behind the applier's."""


class Standing(Enum):
    """How far a move has come."""

    UNDER_WAY = 'under way'
    ARRIVED = 'arrived'
    """Somebody has to confirm or to revert it."""
    CONFIRMED = 'confirmed'
    REVERTED = 'reverted'
    BROKEN = 'broken'
    """Nova gave it up, or says nothing that fits together."""
    GONE = 'gone'
    """The server was deleted."""


@dataclass
class CellMoveLook:
    """What Nova shows now."""

    standing: Standing
    instance: types.Instance | None
    migration: MigrationStatus | None


class CellMoveProgress(MovePart):
    """The looks at one move."""

    def __init__(self, begun: StartedMove) -> None:
        super().__init__(begun)
        self._timing = begun.settings.timing
        self._odd: tuple[object, ...] = ()
        self._odd_since = 0.0
        self.seen: CellMoveLook | None = None
        """The newest one."""

    def until(self, limit: float, *besides: Standing) -> CellMoveLook | None:
        """Look until the move is somewhere.

        Errors of Nova are endured: the move goes on meanwhile.

        :param limit: seconds
        :param besides: what does not count, beside ``UNDER_WAY``
        :returns: None if it takes longer
        """
        context = self._context
        deadline = context.clock() + limit
        while True:
            try:
                look = self.look()
            except exceptions.ClientError as error:
                LOG.warning('Instance %s: %s', self._task.instance, error)
                context.tell(f'does not know how it goes: {error}')
            else:
                if look.standing not in (Standing.UNDER_WAY, *besides):
                    return look
                context.tell(worded(look))
            if context.clock() >= deadline:
                return None
            context.sleep(self._timing.poll_interval)

    def look(self) -> CellMoveLook:
        """:raises NovaClientError: Nova cannot be asked"""
        context, uuid = self._context, self._task.instance
        # The migration first: the server is never behind it.
        migration = self._migration()
        instance = context.nova.get_instance(uuid)
        self._journal.look(context.wall(), instance, migration)
        standing = self._standing(instance, migration)
        self.seen = CellMoveLook(standing, instance, migration)
        return self.seen

    def _migration(self) -> MigrationStatus | None:
        """Ours: by its uuid, or the first since Nova was asked."""
        try:
            migrations = self._context.cell_migration.migrations_of(
                self._task.instance
            )
        except exceptions.NovaClientError as error:
            if error.kwargs['status'] == 404:
                return None
            raise
        if self._checkpoint.migration:
            by_uuid = {migration.uuid: migration for migration in migrations}
            return by_uuid.get(self._checkpoint.migration)
        since = self._checkpoint.asked_at - SKEW_SECONDS
        fresh = [
            migration
            for migration in migrations
            if migration.updated_at >= since
            and migration.uuid not in self._checkpoint.earlier
        ]
        if not fresh:
            return None
        # Nova takes no other one before ours is over.
        later = self._later_requests()
        if later is None:
            first = fresh[-1]
        elif later < len(fresh):
            first = fresh[later]
        else:
            return None
        self._checkpoint.migration = self._journal.migration = first.uuid
        self._context.mark(self._checkpoint)
        return first

    def _later_requests(self) -> int | None:
        """How many moves somebody else has asked for after ours.

        :returns: None if Nova does not list ours
        :raises NovaClientError: Nova cannot be asked
        """
        nova, ours = self._context.cell_migration, self._checkpoint.request
        try:
            requests = nova.requests_of(self._task.instance)
        except exceptions.NovaClientError as error:
            if error.kwargs['status'] == 404:
                return None
            raise
        return requests.index(ours) if ours in requests else None

    def _standing(
        self,
        instance: types.Instance | None,
        migration: MigrationStatus | None,
    ) -> Standing:
        if instance is None:
            return self._gone(migration)
        if not instance.task_state:
            agreed = self._agreed(instance, migration)
            if agreed is not None:
                self._odd = ()
                return agreed
        return self._odd_one(instance, migration)

    def _gone(self, migration: MigrationStatus | None) -> Standing:
        """Whether nothing comes of a server that was deleted.

        Where a copy of it is on its way still, Nova may bring that to life.
        """
        signs, now = (migration.status if migration else '',), self._now()
        if signs != self._odd:
            self._odd, self._odd_since = signs, now
        is_on_its_way = migration is not None and migration.status in BEFORE
        waited = now - self._odd_since
        if is_on_its_way and waited < self._timing.settle_timeout:
            return Standing.UNDER_WAY
        return Standing.GONE

    def _agreed(
        self, instance: types.Instance, migration: MigrationStatus | None
    ) -> Standing | None:
        """What both say of a server without a task; None if they do not."""
        status = migration.status if migration else ''
        if instance.status == VERIFY and status == 'finished':
            return Standing.ARRIVED
        if instance.status not in AT_REST:
            return None
        if status == 'confirmed':
            return Standing.CONFIRMED
        if status == 'reverted' and instance.host == self._task.source:
            return Standing.REVERTED
        return None

    def _odd_one(
        self, instance: types.Instance, migration: MigrationStatus | None
    ) -> Standing:
        """Whether what does not fit together has been so for too long."""
        patience = self._patience(instance, migration)
        now = self._now()
        signs = (
            instance.status,
            instance.task_state,
            migration.status if migration else '',
        )
        if patience is None or signs != self._odd:
            self._odd, self._odd_since = signs, now
        if patience is None or now - self._odd_since < patience:
            return Standing.UNDER_WAY
        if _has_arrived(instance, migration):
            return Standing.ARRIVED
        return Standing.BROKEN

    def _patience(
        self, instance: types.Instance, migration: MigrationStatus | None
    ) -> float | None:
        """Seconds for which the signs are believed to pass; None: for ever."""
        timing, task = self._timing, instance.task_state
        if migration is not None and migration.status in ENDING:
            return None
        if migration is not None and migration.status in FAILED:
            # Nova ends the migration before it has cleaned up.
            return timing.settle_timeout if task else timing.agree_seconds
        if instance.status == ERROR:
            return timing.settle_timeout
        if _has_arrived(instance, migration):
            return timing.agree_seconds
        if migration is None and self._was_refused():
            return timing.settle_timeout if task else timing.agree_seconds
        # Busy or not: it is moved, or Nova will say so.
        return None if task else timing.settle_timeout

    def _now(self) -> float:
        return self._context.clock()

    def _was_refused(self) -> bool:
        """Whether the request failed before there was a migration."""
        if not self._checkpoint.request:
            return False
        return self._context.cell_migration.has_failed(
            self._task.instance, self._checkpoint.request
        )


def _has_arrived(
    instance: types.Instance, migration: MigrationStatus | None
) -> bool:
    """Whether only the wrong row of the migration says that it has not."""
    return (
        instance.status == VERIFY
        and not instance.task_state
        and migration is not None
        and migration.status in BEFORE
    )


def worded(look: CellMoveLook) -> str:
    """What Nova shows, as a word for the action's row."""
    if look.instance is None:
        return ''
    status, task = look.instance.status, look.instance.task_state
    text = f', migration {look.migration.status}' if look.migration else ''
    return f'is {status}{f" ({task})" if task else ""}{text}'
