# SPDX-License-Identifier: Apache-2.0
"""The further tries of a move: whether, when, and what is said of them."""

import itertools
from collections.abc import Callable
from typing import Protocol, TypeVar

from oslo_log import log as logging

from kronos.actions.core.task import MigrationTask
from kronos.actions.live.context import Patience
from kronos.common import durations, exceptions

LOG = logging.getLogger(__name__)

T = TypeVar('T')


class Waits(Protocol):
    """How long a move waits for what."""

    queue_timeout: float
    poll_interval: float


class Tries(Protocol):
    """The settings of a move that may be tried again."""

    max_retries: int
    retry_backoff: float

    @property
    def task(self) -> MigrationTask:
        """What is to be moved."""

    @property
    def timing(self) -> Waits:
        """Limits, in seconds."""


def reach(settings: Tries, patience: Patience, connect: Callable[[], T]) -> T:
    """Connect to a service, again if Keystone is away for a moment.

    :raises KronosException: it is away for longer, or for good
    """
    for failures in itertools.count():
        try:
            return connect()
        except exceptions.ClientError as error:
            delay = next_try(settings, error, failures)
            if delay is None:
                raise given_up(settings, error) from error
            back_off(settings, patience, error, delay)
    raise AssertionError


def next_try(
    settings: Tries,
    error: exceptions.KronosException,
    failures: int,
) -> float | None:
    """Seconds until a further try: more each time, or as Nova asks.

    :param failures: how many there were before this one
    :returns: None if there is no further try
    """
    asked, most = _asked(error), settings.timing.queue_timeout
    passing = bool(error.kwargs.get('transient'))
    if not passing or failures >= settings.max_retries or asked > most:
        return None
    return max(asked, min(settings.retry_backoff * 2.0**failures, most))


def back_off(
    settings: Tries,
    patience: Patience,
    error: exceptions.KronosException,
    delay: float,
) -> None:
    """Wait for so many seconds before a further try.

    :raises MigrationCancelled: the plan was cancelled meanwhile
    """
    LOG.warning(
        'Instance %s: %s; the next try is in %g s',
        settings.task.instance,
        error,
        delay,
    )
    patience.tell(f'tries again in {durations.rounded(delay)}: {error}')
    end = patience.clock() + delay
    while (left := end - patience.clock()) > 0:
        patience.stop_if_cancelled()
        patience.sleep(min(left, settings.timing.poll_interval))


def given_up(
    settings: Tries, error: exceptions.KronosException, *more: str
) -> exceptions.KronosException:
    """An error that no further try follows, with what is to be said of it."""
    asked = _asked(error)
    long = asked > settings.timing.queue_timeout
    wish = f'it asks to wait {durations.exact(asked)}' if long else ''
    return type(error)(joined(str(error), wish, *more), **error.kwargs)


def _asked(error: exceptions.KronosException) -> float:
    return float(error.kwargs.get('retry_after') or 0.0)


def joined(*parts: str) -> str:
    """What is not empty, as one text."""
    return '; '.join(part for part in parts if part)
