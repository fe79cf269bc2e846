# SPDX-License-Identifier: Apache-2.0
"""The request to Nova for one migration: made once, whatever gets lost."""

from dataclasses import dataclass

from oslo_log import log as logging

from kronos.actions.migration import lost_answers
from kronos.actions.migration.context import MigrationContext
from kronos.actions.migration.parameters import MigrationSettings
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
        self._settings = settings
        self._context = context
        self._task = settings.task
        self._timing = settings.timing
        self._nova = context.nova
        self._live_migration = context.live_migration
        self._clock = context.clock
        self._sleep = context.sleep
        self._stop_if_cancelled = context.stop_if_cancelled
        self._known: set[str] = set()
        """Requests that were there before, or have been followed."""
        self._earlier: set[str] = set()
        """Migrations and requests to abort one that were there before."""
        self._in_doubt = False
        """Whether one may be there that has not been followed."""

    def send(self) -> SentRequest:
        """Ask Nova for the migration, unless an earlier try did so.

        :raises PreFlightError: Nova refused at once
        :raises NovaClientError: Nova surely does not carry it out
        """
        if not self._in_doubt:
            uuid, nova = self._task.instance, self._live_migration
            self._earlier = {
                *nova.migrations(uuid),
                *nova.abort_requests(uuid),
            }
        found = self.found()
        if found:
            LOG.info(
                'Instance %s: an earlier request did arrive: %s',
                self._task.instance,
                found,
            )
            return self._follow(found, False)
        self._stop_if_cancelled()
        try:
            request = self._live_migration.live_migrate(
                self._task.instance, self._task.destination
            )
        except exceptions.NovaClientError as error:
            return self._follow(self._doubt(error), False)
        return self._follow(request, True)

    def found(self) -> str:
        """The request of an earlier try whose answer was lost, or ''.

        :raises NovaClientError: Nova cannot be asked
        """
        requests = self._live_migration.live_migration_requests(
            self._task.instance
        )
        if not self._in_doubt:
            # Whatever there is now is not ours.
            self._known.update(requests)
        fresh = [one for one in requests if one not in self._known]
        return fresh[0] if fresh else ''

    def _follow(self, request: str, is_ours: bool) -> SentRequest:
        earlier = frozenset(self._earlier | self._known)
        self._known.add(request)
        self._in_doubt = False
        return SentRequest(request, is_ours, earlier)

    def _doubt(self, error: exceptions.NovaClientError) -> str:
        """The request that came of a call which gave an error.

        :raises MigrationError, NovaClientError: none did
        """
        status = error.kwargs['status']
        if status in _REFUSALS:
            found = self._rival() if status == 409 else ''
            if found:
                return found
            raise self._refusal(error) from error
        if not lost_answers.may_have_arrived(error):
            raise error
        LOG.warning(
            'Instance %s: %s; asking Nova whether the migration runs',
            self._task.instance,
            error,
        )
        self._in_doubt = True
        found = lost_answers.await_request(
            self._settings, self._context, self._nova, self.found
        )
        if not found:
            raise error
        return found

    def _rival(self) -> str:
        """The request that came before one that Nova refused, or ''.

        An earlier try that was slow may have come first, or something in
        between sent this one twice. Nova says that the server is migrating
        a moment before it writes the request down.
        """
        was_in_doubt, self._in_doubt = self._in_doubt, True
        deadline = self._clock() + self._timing.queue_timeout
        looks = 0
        while looks < lost_answers.QUIET_LOOKS and self._clock() < deadline:
            try:
                found = self.found()
                instance = self._nova.get_instance(self._task.instance)
            except exceptions.NovaClientError as error:
                LOG.warning('Instance %s: %s', self._task.instance, error)
            else:
                looks += 1
                if found:
                    return found
                if instance is None or instance.task_state != MIGRATING:
                    break
            self._sleep(self._timing.poll_interval)
        self._in_doubt = was_in_doubt
        return ''

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
