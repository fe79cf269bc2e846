# SPDX-License-Identifier: Apache-2.0
"""The requests of Kronos' own among a server's instance actions.

Every step looks among them for a request whose answer was lost. So does a move
that is asked for by one request.
"""

from collections.abc import Callable, Collection

from oslo_log import log as logging

from kronos.actions.core import lost_answers
from kronos.actions.core.retries import Tries
from kronos.actions.live.context import Patience
from kronos.clients.nova.client import NovaClient
from kronos.common import exceptions
from kronos.engine.types import Instance

LOG = logging.getLogger(__name__)

CONFLICT = 409
"""Nova's status for a server or a service in another state: it may pass."""


class OwnRequests:
    """What Nova lists of one kind of request, and what is new in it.

    :param listing: gives their ids, the newest first; raises NovaClientError
    """

    def __init__(self, listing: Callable[[], Collection[str]]) -> None:
        self._list = listing
        self.known: set[str] = set()
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
        self.known.update(self._list())
        return ''

    def late(self) -> str:
        """The newest whose answer was lost, or ''.

        :raises NovaClientError: Nova cannot be asked
        """
        if not self.in_doubt:
            return ''
        requests = self._list()
        return next((uid for uid in requests if uid not in self.known), '')

    def take(self, request: str) -> None:
        """Have it followed."""
        self.known.add(request)
        self.in_doubt = False


class SoleRequest(OwnRequests):
    """The request for a move, which is sent once, whatever gets lost.

    :param refusals: statuses by which Nova refuses the move itself; others
        are about who asks
    :param refusal: gives the error of such a one
    :param is_begun: whether a server has the task of such a move
    """

    def __init__(
        self,
        listing: Callable[[], Collection[str]],
        settings: Tries,
        patience: Patience,
        nova: NovaClient,
        *,
        refusals: Collection[int],
        refusal: Callable[
            [exceptions.NovaClientError], exceptions.MigrationError
        ],
        is_begun: Callable[[Instance], bool],
    ) -> None:
        super().__init__(listing)
        self._settings = settings
        self._patience = patience
        self._nova = nova
        self._refusals = refusals
        self._refusal = refusal
        self._is_begun = is_begun

    def send(self, ask: Callable[[], str]) -> tuple[str, bool]:
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
        if status in self._refusals:
            request = self._rival() if status == CONFLICT else ''
            if request:
                return request
            raise self._refusal(error) from error
        if not lost_answers.may_have_arrived(error):
            raise error
        LOG.warning(
            'Instance %s: %s; asking Nova whether it moves',
            self._settings.task.instance,
            error,
        )
        self.in_doubt = True
        request = lost_answers.await_request(
            self._settings, self._patience, self._nova, self.late
        )
        if not request:
            raise error
        return request

    def _rival(self) -> str:
        """The request that came before one that Nova refused, or ''.

        An earlier try that was slow may have come first, or something in
        between sent this one twice. Nova says that the server is moving a
        moment before it writes the request down.
        """
        was_in_doubt, self.in_doubt = self.in_doubt, True
        uuid, timing = self._settings.task.instance, self._settings.timing
        deadline = self._patience.clock() + timing.queue_timeout
        looks = 0
        while (
            looks < lost_answers.QUIET_LOOKS
            and self._patience.clock() < deadline
        ):
            try:
                request = self.late()
                instance = self._nova.get_instance(uuid)
            except exceptions.NovaClientError as error:
                LOG.warning('Instance %s: %s', uuid, error)
            else:
                looks += 1
                if request:
                    return request
                if instance is None or not self._is_begun(instance):
                    break
            self._patience.sleep(timing.poll_interval)
        self.in_doubt = was_in_doubt
        return ''
