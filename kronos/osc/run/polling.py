# SPDX-License-Identifier: Apache-2.0
"""The polling of Watcher while an audit or a plan is under way."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from kronos.common import durations, exceptions

T = TypeVar('T')

SECONDS = 2.0
"""Between two looks."""
OUTAGE_SECONDS = 60.0
"""For which looks may fail: Watcher's API is being restarted."""
PENDING = 'PENDING'


class NoServiceError(exceptions.KronosException):
    """No service of Watcher has taken what waits for one."""

    msg_fmt = '%(reason)s'


@dataclass
class Polling:
    """How a run waits.

    :param pickup_seconds: how long an audit or a plan may be PENDING
    :param clock: seconds, from any moment on
    :param wait: waits for seconds; KeyboardInterrupt may end it
    """

    pickup_seconds: float
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep

    def looks(
        self,
        read: Callable[[], T],
        remark: Callable[[str], None],
        outlook: str,
    ) -> Iterator[T]:
        """What is read again and again, without an end.

        :param remark: prints why a look failed
        :param outlook: what goes on if Watcher does not answer for long
        :raises ClientError: Watcher, or Nova, refuses
        :raises KronosException: it does not answer for long
        """
        since: float | None = None
        while True:
            try:
                result = read()
            except exceptions.ClientError as error:
                if not error.kwargs['transient']:
                    raise
                if since is None:
                    since = self.clock()
                    remark(f'{_service(error)} does not answer; trying again')
                elif self.clock() - since >= OUTAGE_SECONDS:
                    raise exceptions.KronosException(
                        f'{_service(error)} has not answered for '
                        f'{durations.exact(OUTAGE_SECONDS)} ({error}). '
                        f'{outlook}'
                    ) from error
            else:
                since = None
                yield result
            self.wait(SECONDS)

    def pickup_limit(self) -> 'PickupLimit':
        return PickupLimit(self)


def _service(error: exceptions.ClientError) -> str:
    is_of_nova = isinstance(error, exceptions.NovaClientError)
    return 'Nova' if is_of_nova else 'Watcher'


class PickupLimit:
    """The limit of the time for which something may be PENDING."""

    def __init__(self, polling: Polling) -> None:
        self._polling = polling
        self._since = polling.clock()

    def is_over(self, state: str) -> bool:
        """:param state: of the audit or the plan; it is PENDING at first"""
        if state != PENDING:
            return False
        waited = self._polling.clock() - self._since
        return waited >= self._polling.pickup_seconds
