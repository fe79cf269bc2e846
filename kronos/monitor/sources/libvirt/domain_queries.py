# SPDX-License-Identifier: Apache-2.0
"""The queries for single domains, in a thread of their own.

Callbacks may not ask libvirt anything, and whoever asks must not wait for one
that hangs.
"""

import queue
import threading
from collections import deque

from oslo_log import log as logging

from kronos.monitor.domains import Domain, Gone
from kronos.monitor.sources.base import News
from kronos.monitor.sources.libvirt.connection import Connection

LOG = logging.getLogger(__name__)

LOOK_SECONDS = 5.0
"""For which somebody waits for an answer."""
AWAY = 'libvirt is away'

Answer = Domain | OSError | None
_Answers = queue.SimpleQueue[Answer]


class DomainQueries:
    """Asks for domains, one after the other.

    :param news: where those go that nobody waits for
    """

    def __init__(self, news: deque[News]) -> None:
        self._news = news
        self._connection: Connection | None = None
        self._requests: queue.SimpleQueue[tuple[str, _Answers | None]] = (
            queue.SimpleQueue()
        )
        self._ended = False
        self._thread = threading.Thread(
            target=self._run, name='libvirt queries', daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End when there is time for it; nobody has to wait."""
        self._ended = True
        self._requests.put(('', None))

    def use(self, connection: Connection | None) -> None:
        """Look there from now on.

        :param connection: None: there is none
        """
        self._connection = connection

    def want(self, instance: str) -> None:
        """Have a domain looked at and told; callbacks may do that."""
        self._requests.put((instance, None))

    def look(self, instance: str) -> Domain | None:
        """A domain as it is now, within a time.

        :raises OSError: libvirt is away, or does not answer
        """
        if self._connection is None:
            raise ConnectionError(AWAY)
        answers: _Answers = queue.SimpleQueue()
        self._requests.put((instance, answers))
        try:
            answer = answers.get(timeout=LOOK_SECONDS)
        except queue.Empty:
            raise TimeoutError(
                f'libvirt did not answer within {LOOK_SECONDS:g} s'
            ) from None
        if isinstance(answer, OSError):
            raise answer
        return answer

    def _run(self) -> None:
        while not self._ended:
            instance, answers = self._requests.get()
            if not instance:
                continue
            answer = self._answer(instance)
            if answers is not None:
                answers.put(answer)
            elif answer is None:
                self._news.append(Gone(instance))
            elif isinstance(answer, Domain):
                self._news.append(answer)

    def _answer(self, instance: str) -> Answer:
        connection = self._connection
        if connection is None:
            return ConnectionError(AWAY)
        try:
            return connection.domain(instance)
        except OSError as error:
            return error
        except Exception:
            LOG.exception('Reading domain %s failed', instance)
            return OSError('it failed')
