# SPDX-License-Identifier: Apache-2.0
"""The requests of Kronos' own for a server, and whether one has arrived.

Every step looks among the server's instance actions for a request whose answer
was lost. So does a move that is asked for by one request.
"""

import abc
import re
from collections.abc import Callable, Collection

from oslo_log import log as logging

from kronos.actions.core.context import MoveContext, Patience
from kronos.actions.core.parameters import MoveSettings
from kronos.clients.nova.client import NovaClient
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.engine.types import Instance

LOG = logging.getLogger(__name__)


QUIET_LOOKS = 3
"""So often Nova has to say that it knows of no request before one counts as
lost: a slow API worker may still be at it."""
_REQUEST_TIMEOUT = 408
"""A proxy's, which may have sent the request on."""
_OF_SERVER = re.compile(r'\bnot supported (?:for|with|by old)\b')
"""In what Nova answers, by its API's checks."""


def may_have_arrived(error: exceptions.NovaClientError) -> bool:
    """Whether Nova may carry out what gave an error."""
    status = error.kwargs['status']
    own_fault = 400 <= (status or 0) < 500 and status != _REQUEST_TIMEOUT
    return not own_fault and error.kwargs['sent'] is not False


def words_of(error: exceptions.NovaClientError) -> str:
    """Nova's own words of an HTTP error, without what was asked."""
    reason: str = error.kwargs['reason']
    return reason.partition(f'HTTP {error.kwargs["status"]}: ')[2]


def is_of_server(words: str) -> bool:
    """Whether Nova refuses a server wherever it is to go.

    Such as one with a vTPM, an accelerator, or a kind of port that an old
    nova-compute cannot move.
    """
    return _OF_SERVER.search(words) is not None


def await_request(
    settings: MoveSettings,
    patience: Patience,
    nova: NovaClient,
    find: Callable[[], str],
) -> str:
    """Wait until Nova knows of a request, or surely of none.

    :param find: gives the id of a request that was not there before, or ''
    :returns: as ``find``
    """
    instance, timing = settings.task.instance, settings.timing
    deadline = patience.clock() + timing.queue_timeout
    quiet = 0
    while quiet < QUIET_LOOKS and patience.clock() < deadline:
        patience.sleep(timing.poll_interval)
        try:
            request = find()
            server = nova.get_instance(instance)
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', instance, error)
            continue
        if request:
            return request
        busy = server is not None and bool(server.task_state)
        quiet = 0 if busy else quiet + 1
    return ''


CONFLICT = 409
"""Nova's status for a server or a service in another state: it may pass."""


class OwnRequests:
    """What Nova lists of one kind of request, and what is new in it.

    :param listing: gives their ids, the newest first; raises NovaClientError
    """

    def __init__(self, listing: Callable[[], Collection[str]]) -> None:
        self._list = listing
        self.seen: set[str] = set()
        """Those that were there before, or have been followed."""
        self.in_doubt = False
        """Whether one may be there whose answer was lost."""

    def begin(self) -> str:
        """Get ready for a request.

        Without doubt, whatever there is now is not ours.

        :returns: as :meth:`late`
        :raises NovaClientError: Nova cannot be asked
        """
        if self.in_doubt:
            return self.late()
        self.seen.update(self._list())
        return ''

    def late(self) -> str:
        """The newest whose answer was lost, or ''.

        :raises NovaClientError: Nova cannot be asked
        """
        if not self.in_doubt:
            return ''
        requests = self._list()
        return next((uid for uid in requests if uid not in self.seen), '')

    def take(self, request: str) -> None:
        """Have it followed."""
        self.seen.add(request)
        self.in_doubt = False


class MoveRequest(OwnRequests, abc.ABC):
    """The request for a move, which is sent once, whatever gets lost."""

    refusals: frozenset[int]
    """Statuses by which Nova refuses the move itself; others are about who
    asks."""

    def __init__(self, settings: MoveSettings, context: MoveContext) -> None:
        super().__init__(self._listed)
        self._settings = settings
        self._task = settings.task
        self._context = context

    @abc.abstractmethod
    def _listed(self) -> list[str]:
        """Ids of Kronos' own requests for such a move, the newest first.

        :raises NovaClientError: Nova cannot be asked
        """

    @abc.abstractmethod
    def _is_begun(self, instance: Instance) -> bool:
        """Whether a server has the task of such a move."""

    @abc.abstractmethod
    def _refused(
        self, status: int, reason: str
    ) -> exceptions.MigrationError | None:
        """The error of a refusal of this kind of move; None: of any.

        :param reason: Nova's words
        """

    def _ask_once(self, ask: Callable[[], str]) -> tuple[str, bool]:
        """Ask Nova; :meth:`begin` comes before.

        :param ask: gives the request's id
        :returns: that id, and whether it is surely that of this call
        :raises MigrationError: Nova refuses
        :raises NovaClientError: Nova surely does not carry it out
        """
        try:
            request, is_sure = ask(), True
        except exceptions.NovaClientError as error:
            request, is_sure = self._after(error), False
        self.take(request)
        return request, is_sure

    def _after(self, error: exceptions.NovaClientError) -> str:
        """The request that came of a call which gave an error.

        :raises MigrationError, NovaClientError: none did
        """
        status = error.kwargs['status']
        if status in self.refusals:
            request = self._rival() if status == CONFLICT else ''
            if request:
                return request
            raise self._refusal(error) from error
        if not may_have_arrived(error):
            raise error
        LOG.warning(
            'Instance %s: %s; asking Nova whether it moves',
            self._task.instance,
            error,
        )
        self.in_doubt = True
        request = await_request(
            self._settings, self._context, self._context.nova, self.late
        )
        if not request:
            raise error
        return request

    def _refusal(
        self, error: exceptions.NovaClientError
    ) -> exceptions.MigrationError:
        status, reason = error.kwargs['status'], words_of(error)
        if is_of_server(reason):
            return faults.error(
                Fault.INSTANCE_REFUSED, f'rejected by Nova: {reason}'
            )
        return self._refused(status, reason) or faults.error(
            Fault.NOVA_REJECTED, f'rejected by Nova: HTTP {status}: {reason}'
        )

    def _rival(self) -> str:
        """The request that came before one that Nova refused, or ''.

        An earlier try that was slow may have come first, or something in
        between sent this one twice. Nova says that the server is moving a
        moment before it writes the request down.
        """
        was_in_doubt, self.in_doubt = self.in_doubt, True
        uuid, timing = self._task.instance, self._settings.timing
        context = self._context
        deadline = context.clock() + timing.queue_timeout
        looks = 0
        while looks < QUIET_LOOKS and context.clock() < deadline:
            try:
                request = self.late()
                instance = context.nova.get_instance(uuid)
            except exceptions.NovaClientError as error:
                LOG.warning('Instance %s: %s', uuid, error)
            else:
                looks += 1
                if request:
                    return request
                if instance is None or not self._is_begun(instance):
                    break
            context.sleep(timing.poll_interval)
        self.in_doubt = was_in_doubt
        return ''
