# SPDX-License-Identifier: Apache-2.0
"""The further tries of a move: whether, when, and what is said of them."""

import itertools
from collections.abc import Callable
from typing import TypeVar

from oslo_log import log as logging

from kronos.actions.core.context import Patience
from kronos.actions.core.parameters import MoveSettings
from kronos.common import durations, exceptions

LOG = logging.getLogger(__name__)

T = TypeVar('T')
E = TypeVar('E', bound=exceptions.KronosException)


def reach(
    settings: MoveSettings, patience: Patience, connect: Callable[[], T]
) -> T:
    """Connect to a service, again if what it takes is away for a moment.

    :raises KronosException: it is away for longer, or for good
    """
    for failures in itertools.count():
        try:
            return connect()
        except (exceptions.ClientError, exceptions.TurnUnknown) as error:
            delay = next_try(settings, error, failures)
            if delay is None:
                raise given_up(settings, error) from error
            back_off(settings, patience, error, delay)
    raise AssertionError


def next_try(
    settings: MoveSettings,
    error: exceptions.KronosException,
    failures: int,
) -> float | None:
    """Seconds until a further try: more each time, or as Nova asks.

    :param failures: how many there were before this one
    :returns: None if there is no further try
    """
    wish, most = _asked(error), settings.timing.queue_timeout
    passing = bool(error.kwargs.get('transient'))
    if not passing or failures >= settings.max_retries or wish > most:
        return None
    return max(wish, min(settings.retry_backoff * 2.0**failures, most))


def back_off(
    settings: MoveSettings,
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
    while (remaining := end - patience.clock()) > 0:
        patience.stop_if_cancelled()
        patience.sleep(min(remaining, settings.timing.poll_interval))


def given_up(
    settings: MoveSettings, error: exceptions.KronosException, *more: str
) -> exceptions.KronosException:
    """An error that no further try follows, with what is to be said of it."""
    delay = _asked(error)
    long = delay > settings.timing.queue_timeout
    wish = f'it requires a wait of {durations.exact(delay)}' if long else ''
    return extended(error, wish, *more)


def _asked(error: exceptions.KronosException) -> float:
    return float(error.kwargs.get('retry_after') or 0.0)


def counted(retries: int) -> str:
    """How often a move was tried; '' if once."""
    return f'tried {retries + 1} times' if retries > 0 else ''


def reworded(error: E, text: str) -> E:
    """The same error in other words."""
    return type(error)(text, **error.kwargs)


def extended(error: E, *more: str) -> E:
    """The same error, with more to be said of it."""
    return reworded(error, joined(str(error), *more))


def joined(*parts: str) -> str:
    """What is not empty, as one text."""
    return '; '.join(part for part in parts if part)
