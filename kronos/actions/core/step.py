# SPDX-License-Identifier: Apache-2.0
"""The step of an action: one request to Nova about a server, and its end.

Restarts, and the ends and repairs of moves to another cell, are made of steps.
A request whose answer was lost is looked for among the server's instance
actions. It is repeated only while Nova shows that nothing goes on.
"""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from oslo_log import log as logging

from kronos.actions.core import own_requests
from kronos.actions.core.context import Patience
from kronos.actions.core.own_requests import CONFLICT, OwnRequests
from kronos.common import exceptions

LOG = logging.getLogger(__name__)

T = TypeVar('T')
"""What a look at the server gives."""


class StepEnd(Enum):
    """How a step ended."""

    REACHED = 'reached'
    REFUSED = 'refused'
    """Nova does not take the request."""
    GIVEN_UP = 'given up'
    """Nova took it, and gave it up."""
    LATE = 'late'


@dataclass(frozen=True)
class StepLimits:
    """For how long a step goes on; in seconds."""

    timeout: float
    poll_interval: float
    outage: float = 0.0
    """By so much at most a Nova that answers nothing prolongs it."""
    doubt: float = 0.0
    """Of quiet, after which a request whose answer was lost counts as never
    arrived; a look that shows quiet comes first in any case."""
    idle: float = 30.0
    """Of quiet, after which a request that Nova took is repeated."""
    conflict: float = 0.0
    """For which a conflict is endured."""
    retry_interval: float = 0.0
    """Between a refusal and the next request, if more than a poll."""
    requests: float = math.inf
    """So many are sent at most."""
    refusals: float = 1
    """The last of so many, other than conflicts, ends the step."""


@dataclass(kw_only=True)
class Step(Generic[T]):
    """What Nova is asked for, and how its end is known."""

    participle: str
    """For messages, such as ``started``."""
    ask: Callable[[], str]
    """Sends the request.

    Returns its id, or '' if the answer has none; raises NovaClientError.
    """
    look: Callable[[], T]
    """Looks at the server; raises ClientError while Nova is away."""
    is_reached: Callable[[T], bool]
    may_ask: Callable[[T], bool]
    """Whether nothing goes on, in a state in which Nova takes the request."""
    requests: Callable[[], Collection[str]] = tuple
    """Lists the ids of all such requests; raises NovaClientError."""
    lists_own: Callable[[], bool] = lambda: True
    """Whether those are of Kronos' own user alone."""
    why_given_up: Callable[[T, str], str] = lambda look, request: ''
    """Says why nothing comes of a request ('' if unknown); '': it may."""
    on_request: Callable[[str], object] = lambda request: None
    """Gets the id of a request that Nova took."""
    on_trouble: Callable[[str], object] = lambda words: None
    """Gets Nova's words each time that the request is not taken."""


@dataclass(frozen=True)
class StepResult(Generic[T]):
    """How a step ended, and what was seen last."""

    end: StepEnd
    seen: T | None
    """None: Nova was away at last."""
    request: str = ''
    """Id of the newest request; '': Nova took none, or it is not known."""
    words: str = ''
    """Nova's, on why the step is not done."""
    error: exceptions.NovaClientError | None = None
    """What the newest request has raised; None: nothing."""


class StepRun(Generic[T]):
    """One step, brought to its end.

    One class, since what an answer means depends on the answers before it,
    and on what Nova has shown since.
    """

    def __init__(
        self, step: Step[T], patience: Patience, limits: StepLimits
    ) -> None:
        self._step = step
        self._patience = patience
        self._limits = limits
        self._seen: T | None = None
        self._own = OwnRequests(step.requests)
        self._request = self._words = ''
        self._error: exceptions.NovaClientError | None = None
        self._deadline = math.inf
        self._wish = 0.0
        """Seconds that Nova asks to wait after a refusal."""
        self._looks_at_once = False
        """Whether the next look comes without a wait."""
        self._not_before = -math.inf
        """When the next request may be sent, if Nova is quiet by then..."""
        self._quiet_needed = 0.0
        """... for so many seconds."""
        self._quiet_since = math.inf
        self._sent = self._refusals = 0
        self._conflict_since = math.inf
        self._refusal: int | None = None
        """Status of a refusal that was not weighed yet; 0: none."""

    def carry_out(self) -> StepResult[T]:
        """Send the request, and look until the server is as it should be.

        :raises KronosException: what ``look`` and ``on_request`` raise, but
            for a Nova that is away
        """
        clock, limits = self._patience.clock, self._limits
        self._deadline = clock() + limits.timeout
        latest = self._deadline + limits.outage
        while True:
            began = clock()
            is_away = False
            try:
                end = self._advance()
            except exceptions.ClientError as error:
                self._tell(str(error))
                self._seen, is_away, end = None, True, None
            if end is not None:
                return self._result(end)
            if self._looks_at_once:
                self._looks_at_once = False
                continue
            # A look that takes long is not the last one.
            if began >= (latest if is_away else self._deadline):
                return self._result(StepEnd.LATE)
            self._patience.sleep(limits.poll_interval)
            if is_away:
                later = self._deadline + clock() - began
                self._deadline = min(later, latest)

    def _result(self, end: StepEnd) -> StepResult[T]:
        return StepResult(
            end, self._seen, self._request, self._words, self._error
        )

    def _tell(self, words: str) -> None:
        LOG.warning('Not %s: %s', self._step.participle, words)
        self._step.on_trouble(words)

    def _advance(self) -> StepEnd | None:
        """Look, and do what is due; None: look again.

        :raises ClientError: Nova is away
        """
        step = self._step
        self._seen = seen = step.look()
        if request := self._own.late():
            self._take(request)
        if step.is_reached(seen):
            return StepEnd.REACHED
        if why := step.why_given_up(seen, self._request):
            self._words = why
            return StepEnd.GIVEN_UP
        if not step.may_ask(seen):
            self._quiet_since = self._conflict_since = math.inf
            self._refusal = None
            return None
        now = self._patience.clock()
        self._quiet_since = min(self._quiet_since, now)
        quiet = now - self._quiet_since
        if now < self._not_before or quiet < self._quiet_needed:
            return None
        if self._refusal is not None:
            return StepEnd.REFUSED if self._is_refused_for_good() else None
        if self._sent >= self._limits.requests:
            return StepEnd.LATE
        if now < self._deadline or not self._sent:
            # What is sent is looked at once more.
            self._send()
        return None

    def _is_refused_for_good(self) -> bool:
        """Whether a refusal, while nothing goes on, is the last word."""
        now, limits = self._patience.clock(), self._limits
        status, self._refusal = self._refusal, None
        interval = limits.retry_interval or limits.poll_interval
        self._wait(max(interval, self._wish))
        if status == CONFLICT:
            self._conflict_since = min(self._conflict_since, now)
            return now - self._conflict_since >= limits.conflict
        self._refusals += 1
        return self._refusals >= limits.refusals

    def _send(self) -> None:
        """Ask Nova, and see what the answer means.

        :raises NovaClientError: Nova is away; it was not asked
        """
        if not self._sent:
            self._own.begin()
        self._sent += 1
        try:
            request = self._step.ask()
        except exceptions.NovaClientError as error:
            self._refused(error)
            return
        if request:
            self._take(request)
            self._looks_at_once = True
        else:
            # It came from something in between that gave up on Nova.
            self._doubt()

    def _take(self, request: str) -> None:
        self._own.take(request)
        self._request, self._words, self._error = request, '', None
        self._refusals, self._conflict_since = 0, math.inf
        self._wait(0.0, quiet=self._limits.idle)
        self._step.on_request(request)

    def _refused(self, error: exceptions.NovaClientError) -> None:
        """See what follows on a request that gave an error."""
        details = error.kwargs
        status = details['status']
        own = own_requests.words_of(error)
        self._error = error
        self._words = f'HTTP {status}: {own}' if status else str(error)
        self._tell(self._words)
        wish = float(details.get('retry_after') or 0.0)
        # Something in between may have sent the request on all the same.
        self._own.in_doubt = self._own.in_doubt or self._step.lists_own()
        is_redirect = 300 <= (status or 0) < 400
        if own_requests.may_have_arrived(error) and not is_redirect:
            self._doubt(wish)
        elif details['transient'] or details['sent'] is False:
            self._wait(wish)
        else:
            # Is it busy, or there already?
            self._refusal, self._looks_at_once = status or 0, True
            self._wait(0.0)
            self._wish = wish

    def _doubt(self, wish: float = 0.0) -> None:
        self._own.in_doubt = True
        self._wait(wish, quiet=self._limits.doubt)

    def _wait(self, seconds: float, quiet: float = 0.0) -> None:
        """Let the next request wait, for a while and for Nova to be quiet."""
        now = self._patience.clock()
        self._not_before, self._quiet_needed = now + seconds, quiet
        self._quiet_since = now
