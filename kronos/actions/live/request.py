# SPDX-License-Identifier: Apache-2.0
"""The request to Nova for one migration: made once, whatever gets lost."""

from dataclasses import dataclass

from oslo_log import log as logging

from kronos.actions.core.own_requests import MoveRequest
from kronos.actions.live.context import MigrationContext
from kronos.actions.live.parameters import MigrationSettings
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.engine.types import Instance

LOG = logging.getLogger(__name__)

MIGRATING = 'migrating'
"""Task state of a server from when Nova takes the request."""


@dataclass(frozen=True)
class SentRequest:
    """A request that Nova took, and what it knew of the server before.

    What is new since then is told by ids: Nova's services may have clocks
    that are minutes apart.
    """

    request_id: str
    is_ours: bool = True
    """Whether this action surely sent it."""
    earlier: frozenset[str] = frozenset()
    """Uuids of migrations of any type, and ids of requests to live-migrate
    it and to abort that."""


class MigrationRequest(MoveRequest):
    """The request for one move, and for its further tries."""

    refusals = frozenset({400, 404, 409})
    _context: MigrationContext

    def __init__(
        self, settings: MigrationSettings, context: MigrationContext
    ) -> None:
        super().__init__(settings, context)
        self._earlier: set[str] = set()
        """Migrations and requests to abort one that were there before."""

    def send(self) -> SentRequest:
        """Ask Nova for the migration, unless an earlier try did so.

        :raises PreFlightError: Nova refused at once
        :raises NovaClientError: Nova surely does not carry it out
        """
        task, nova = self._task, self._context.live_migration
        if not self.in_doubt:
            self._earlier = {
                *nova.migrations(task.instance),
                *nova.actions.abort_requests(task.instance),
            }
        request, is_ours = self.begin(), False
        earlier = frozenset(self._earlier | self.seen)
        if request:
            LOG.info(
                'Instance %s: an earlier request did arrive: %s',
                task.instance,
                request,
            )
            self.take(request)
        else:
            self._context.stop_if_cancelled()
            request, is_ours = self._ask_once(
                lambda: nova.live_migrate(task.instance, task.destination)
            )
        return SentRequest(request, is_ours, earlier)

    def _listed(self) -> list[str]:
        actions = self._context.live_migration.actions
        return actions.live_migration_requests(self._task.instance)

    def _is_begun(self, instance: Instance) -> bool:
        return instance.task_state == MIGRATING

    def _refused(
        self, status: int, reason: str
    ) -> exceptions.MigrationError | None:
        if status != 400:
            return None
        if 'could not be found' in reason:
            # Its service is up, or the pre-flight had refused it.
            return faults.error(
                Fault.DESTINATION_CELL,
                f'destination {self._task.destination} is in another cell, '
                'or unmapped',
            )
        return self._task.refused(reason)
