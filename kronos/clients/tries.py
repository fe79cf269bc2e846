# SPDX-License-Identifier: Apache-2.0
"""The tries of a request: each later than the one before, logged once."""

from collections.abc import Callable
from typing import Any

import tenacity
from oslo_log import log as logging

LOG = logging.getLogger(__name__)


class Tries:
    """Tries of requests to one service.

    :param most: further tries of each request
    :param backoff: seconds before the first of them, then doubled
    :param longest: seconds between two tries at most
    :param asked_wait: seconds that the service asked to wait, by an error
    :param described: an error for the log, without secrets
    """

    def __init__(
        self,
        most: int,
        backoff: float,
        longest: float,
        *,
        asked_wait: Callable[[BaseException], float],
        described: Callable[[BaseException], str],
        sleep: Callable[[float], None],
    ) -> None:
        self._longest = longest
        self._asked_wait = asked_wait
        self._described = described
        self._exponential = tenacity.wait_exponential(
            multiplier=backoff, max=longest
        )
        self._away = ''
        self._retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(most + 1),
            wait=self._wait,
            sleep=sleep,
            before_sleep=self._report,
            reraise=True,
        )

    def run(
        self,
        is_worth_it: Callable[[BaseException], bool],
        function: Callable[..., Any],
        *args: Any,
    ) -> Any:
        """The result of the first try that succeeds.

        :param is_worth_it: whether a try may follow an error
        """
        retry = tenacity.retry_if_exception(is_worth_it)
        return self._retrying.copy(retry=retry)(function, *args)

    def succeeded(self) -> None:
        """Log once that the service is back."""
        if self._away:
            LOG.info('The service answers again, after: %s', self._away)
        self._away = ''

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """Longer each time, never shorter than the service asked for."""
        least = self._asked_wait(_error_of(state))
        return min(max(self._exponential(state), least), self._longest)

    def _report(self, state: tenacity.RetryCallState) -> None:
        """Log once that it is away, however often it is asked."""
        if not self._away:
            self._away = self._described(_error_of(state))
            LOG.info('%s; trying again', self._away)


def _error_of(state: tenacity.RetryCallState) -> BaseException:
    error = state.outcome.exception() if state.outcome else None
    return error or RuntimeError('no outcome')
