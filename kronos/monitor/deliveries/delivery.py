# SPDX-License-Identifier: Apache-2.0
"""The delivery to one sink: a thread of its own, in order per instance.

What one sink does holds up no other. A message is tried until it is taken; a
sink that is away is asked again after a pause that grows.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oslo_log import log as logging

from kronos.monitor import messages
from kronos.monitor.domains import Domain, State
from kronos.monitor.messages import Message
from kronos.monitor.sinks.base import Outcome, Result, Sink
from kronos.monitor.spool import Spool, SpoolError, Waiting

if TYPE_CHECKING:
    # An applier delivers notices, too, and needs no prometheus_client.
    from kronos.monitor.metrics import Metrics

LOG = logging.getLogger(__name__)

BATCH = 100
"""Deliveries that are read at once."""
LONGEST_ASKED = 3600.0
"""Seconds that a sink may ask for with Retry-After."""
RESOLVED = 'resolved'
INVALID = 'invalid'

Look = Callable[[str], Domain | None]
"""As of :class:`kronos.monitor.sources.base.Source`."""


@dataclass(frozen=True)
class Backoff:
    """How the pauses between tries grow; in seconds."""

    first: float = 1.0
    most: float = 60.0

    def after(self, tries: int, least: float | None) -> float:
        """The pause after so many tries in vain.

        :param least: by the sink; its own pause is never shorter
        """
        own = min(self.first * 2.0 ** min(tries - 1, 20), self.most)
        # Agents of many hosts must not come back all at once.
        own *= random.uniform(0.75, 1.25)  # noqa: S311
        return max(own, min(least or 0.0, LONGEST_ASKED))


@dataclass
class _Pause:
    """An instance whose next message was not taken."""

    tries: int
    until: float
    """Seconds of the monotonic clock."""


class Delivery:
    """Hands the messages of the spool to one sink.

    :param look: tells how a domain is now, and may take its time
    :param stale_seconds: so old a message may be without a look at its domain
    """

    def __init__(
        self,
        sink: Sink,
        spool: Spool,
        look: Look,
        metrics: Metrics,
        stale_seconds: float,
        backoff: Backoff,
    ) -> None:
        self.sink = sink
        self._spool = spool
        self._look = look
        self._metrics = metrics
        self._stale_seconds = stale_seconds
        self._backoff = backoff
        self._paused: dict[str, _Pause] = {}
        self._tries = 0
        """In vain, since the sink last took a message."""
        self._taken: int | None = None
        """What the sink has, and the spool does not know of yet."""
        for result in (*Outcome, RESOLVED, INVALID):
            # An increase from nothing is none to Prometheus.
            metrics.deliveries.labels(sink.name, str(result))
        self._new = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name=f'sink {sink.name}', daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """There is something new."""
        self._new.set()

    def end(self) -> None:
        """Begin no further try."""
        self._ended.set()
        self._new.set()

    def join(self, seconds: float) -> None:
        """Wait for the try that is under way."""
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._ended.is_set():
            self._new.clear()
            try:
                away, rest = self._round()
            except SpoolError as error:
                LOG.debug('Sink %s waits: %s', self.sink.name, error)
                away, rest = self._backoff.first, None
            except Exception:
                LOG.exception('Sink %s: an unexpected error', self.sink.name)
                self._metrics.errors.inc()
                away, rest = self._backoff.most, None
            if away is not None:
                self._ended.wait(away)
            else:
                self._new.wait(rest)
        self.sink.close()

    def _round(self) -> tuple[float | None, float | None]:
        """Try what is due.

        :returns: seconds to wait for the sink, whatever is new meanwhile; if
            None: seconds until something is due, None for ever
        """
        after, paused = 0, dict[str, _Pause]()
        while batch := self._spool.waiting(self.sink.name, after, BATCH):
            for due in batch:
                after = due.seq
                if self._ended.is_set():
                    return None, None
                if due.instance in paused:
                    continue
                before = self._paused.get(due.instance)
                if before is not None and before.until > time.monotonic():
                    paused[due.instance] = before
                    continue
                result = self._deliver(due)
                if result.outcome is Outcome.AWAY:
                    return self._away(result), None
                if result.outcome is Outcome.LATER:
                    paused[due.instance] = self._later(due, before, result)
        # What is not waiting any more is held no longer.
        self._paused = paused
        now = time.monotonic()
        dues = [max(pause.until - now, 0.0) for pause in paused.values()]
        return None, min(dues, default=None)

    def _deliver(self, waiting: Waiting) -> Result:
        """Try one message, and note what became of it."""
        if waiting.seq != self._taken:
            result = self._try(waiting)
            if result.outcome in (Outcome.AWAY, Outcome.LATER):
                return result
            if self._tries:
                LOG.info('Sink %s accepts messages again', self.sink.name)
            self._tries = 0
            self._taken = waiting.seq
        self._spool.done(waiting.seq, self.sink.name)
        self._taken = None
        self._paused.pop(waiting.instance, None)
        return Result(Outcome.DELIVERED)

    def _try(self, waiting: Waiting) -> Result:
        age = time.time() - waiting.seen
        resolved = age > self._stale_seconds and self._is_resolved(waiting)
        try:
            message = messages.sent(waiting.body, time.time(), resolved)
        except ValueError:
            LOG.error(
                'Incident %s is not readable; the agent drops it', waiting.id
            )
            self._count(INVALID)
            return Result(Outcome.REFUSED)
        if resolved and not self.sink.WANTS_RESOLVED:
            self._count(RESOLVED)
            return Result(Outcome.DELIVERED)
        result = self._result_of(message)
        self._count(result.outcome)
        if result.outcome is Outcome.REFUSED:
            LOG.error(
                'Sink %s refuses incident %s of instance %s: %s',
                self.sink.name,
                waiting.id,
                waiting.instance,
                result.text,
            )
        return result

    def _result_of(self, message: Message) -> Result:
        """A sink that stumbles over a message holds up that instance only."""
        try:
            return self.sink.deliver(message)
        except Exception as error:
            LOG.exception('Sink %s had an unexpected error', self.sink.name)
            self._metrics.errors.inc()
            return Result(Outcome.LATER, type(error).__name__)

    def _is_resolved(self, waiting: Waiting) -> bool:
        """Whether the domain runs anew, after what the incident tells."""
        try:
            domain = self._look(waiting.instance)
        except OSError:
            return False
        if domain is None or domain.state is not State.RUNNING:
            return False
        return domain.run != waiting.run or waiting.state != State.RUNNING

    def _away(self, result: Result) -> float:
        self._tries += 1
        pause = self._backoff.after(self._tries, result.wait)
        if self._tries == 1:
            LOG.warning(
                'Sink %s accepts no messages; they wait: %s',
                self.sink.name,
                result.text,
            )
        return pause

    def _later(
        self, waiting: Waiting, before: _Pause | None, result: Result
    ) -> _Pause:
        tries = before.tries + 1 if before else 1
        if tries == 1:
            LOG.warning(
                'Sink %s did not accept incident %s of instance %s; trying '
                'again: %s',
                self.sink.name,
                waiting.id,
                waiting.instance,
                result.text,
            )
        pause = self._backoff.after(tries, result.wait)
        return _Pause(tries, time.monotonic() + pause)

    def _count(self, result: str) -> None:
        self._metrics.deliveries.labels(self.sink.name, str(result)).inc()
