# SPDX-License-Identifier: Apache-2.0
"""The request to Nova for one migration: made once, whatever gets lost."""

from dataclasses import dataclass

from oslo_log import log as logging

from kronos.actions.core import lost_answers, own_requests
from kronos.actions.live.context import MigrationContext
from kronos.actions.live.parameters import MigrationSettings
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault

LOG = logging.getLogger(__name__)

_REFUSALS = frozenset({400, 404, 409})
"""What Nova answers to a move that is wrong; other errors of the client are
about who asks."""
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


class MigrationRequest:
    """The request for one move, and for its further tries."""

    def __init__(
        self, settings: MigrationSettings, context: MigrationContext
    ) -> None:
        self._task = settings.task
        self._live_migration = context.live_migration
        self._stop_if_cancelled = context.stop_if_cancelled
        self._request = own_requests.SoleRequest(
            self._listed,
            settings,
            context,
            context.nova,
            refusals=_REFUSALS,
            refusal=self._refusal,
            is_begun=lambda instance: instance.task_state == MIGRATING,
        )
        self._earlier: set[str] = set()
        """Migrations and requests to abort one that were there before."""

    def send(self) -> SentRequest:
        """Ask Nova for the migration, unless an earlier try did so.

        :raises PreFlightError: Nova refused at once
        :raises NovaClientError: Nova surely does not carry it out
        """
        task, nova = self._task, self._live_migration
        if not self._request.in_doubt:
            self._earlier = {
                *nova.migrations(task.instance),
                *nova.abort_requests(task.instance),
            }
        request, is_ours = self._request.begin(), False
        earlier = frozenset(self._earlier | self._request.known)
        if request:
            LOG.info(
                'Instance %s: an earlier request did arrive: %s',
                task.instance,
                request,
            )
            self._request.take(request)
        else:
            self._stop_if_cancelled()
            request, is_ours = self._request.send(
                lambda: nova.live_migrate(task.instance, task.destination)
            )
        return SentRequest(request, is_ours, earlier)

    def found(self) -> str:
        """The request of an earlier try whose answer was lost, or ''.

        :raises NovaClientError: Nova cannot be asked
        """
        return self._request.late()

    def _listed(self) -> list[str]:
        uuid = self._task.instance
        return self._live_migration.live_migration_requests(uuid)

    def _refusal(
        self, error: exceptions.NovaClientError
    ) -> exceptions.MigrationError:
        status = error.kwargs['status']
        reason = lost_answers.words_of(error)
        if lost_answers.is_of_server(reason):
            return faults.error(
                Fault.INSTANCE_REFUSED, f'rejected by Nova: {reason}'
            )
        if status != 400:
            return faults.error(
                Fault.NOVA_REJECTED,
                f'rejected by Nova: HTTP {status}: {reason}',
            )
        if 'could not be found' in reason:
            # Its service is up, or the pre-flight had refused it.
            return faults.error(
                Fault.DESTINATION_CELL,
                f'destination {self._task.destination} is in another cell, '
                'or unmapped',
            )
        return self._task.refused(reason)
