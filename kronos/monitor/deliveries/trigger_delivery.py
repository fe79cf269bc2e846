# SPDX-License-Identifier: Apache-2.0
"""The delivery to a trigger: many incidents, one trigger.

It waits until somebody has read the metrics since an incident, so that who is
triggered finds there what is wrong; or for a bounded time.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from oslo_log import log as logging

from kronos.monitor.deliveries.delivery import Backoff, Delivery
from kronos.monitor.metrics import Metrics
from kronos.monitor.sinks.base import Outcome, Result, Trigger
from kronos.monitor.spool import Spool

LOG = logging.getLogger(__name__)

READ_SECONDS = 1.0
"""From when somebody begins to read the metrics until they are known."""
LOOK_SECONDS = 1.0
"""Between two looks whether somebody has read them."""
LATE_SECONDS = 600.0
"""After which it is told that nothing has come of a trigger."""


@dataclass
class _Mark:
    """Up to which incident there was something at a moment."""

    seq: int
    moment: float
    """By the monotonic clock."""
    read: float | None = None
    """When the metrics were read after that, as far as is known."""

    def is_due(self, now: float, delay: float) -> bool:
        is_known = self.read is not None and now >= self.read + READ_SECONDS
        return is_known or now >= self.moment + delay


class TriggerDelivery(Delivery):
    """Triggers a sink for what is in the spool.

    It needs no look at domains: who is triggered does that by the metrics.

    :param clock: as that of :attr:`.metrics.Metrics.read`
    """

    def __init__(
        self,
        sink: Trigger,
        spool: Spool,
        metrics: Metrics,
        backoff: Backoff,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(sink, spool, lambda _: None, metrics, 0.0, backoff)
        self._trigger = sink
        self._clock = clock
        self._marks: list[_Mark] = []
        """Until it may be triggered."""
        self._until = 0
        """Up to this ``seq`` it is to be triggered; 0: there is nothing."""
        self._since = 0.0
        """When the first of these was due."""
        self._is_late = False

    def _round(self) -> tuple[float | None, float | None]:
        if self._taken is not None:
            return self._done(self._taken)
        newest = self._spool.newest(self.sink.name)
        now = self._clock()
        if newest is None:
            self._marks.clear()
            self._until = 0
            return None, None
        self._mark(newest, now)
        self._take_due(now)
        if not self._until:
            return None, LOOK_SECONDS
        result = self._triggered()
        if result.outcome is Outcome.AWAY:
            return self._away(result), None
        if self._tries:
            LOG.info('Sink %s accepts triggers again', self.sink.name)
        self._tries = 0
        if result.outcome is Outcome.PENDING:
            self._warn_late(result, now)
            wait = result.wait or LOOK_SECONDS
            return None, min(wait, LOOK_SECONDS) if self._marks else wait
        return self._done(self._until)

    def _mark(self, newest: int, now: float) -> None:
        """Note that there are newer ones, once a second at most."""
        last = self._marks[-1] if self._marks else None
        seq = last.seq if last else self._until
        if newest > seq and (not last or now - last.moment >= LOOK_SECONDS):
            self._marks.append(_Mark(newest, now))

    def _take_due(self, now: float) -> None:
        """Begin anew with all incidents that may be triggered by now."""
        read = self._metrics.read
        for mark in self._marks:
            # Where many read them, a later reading puts nothing off.
            if mark.read is None and mark.moment < read:
                mark.read = read
        delay = self._trigger.delay
        due = [mark for mark in self._marks if mark.is_due(now, delay)]
        if not due:
            return
        if not self._until:
            self._since, self._is_late = now, False
        self._until = due[-1].seq
        del self._marks[: len(due)]
        self._trigger.begin()

    def _triggered(self) -> Result:
        try:
            result = self._trigger.trigger()
        except Exception as error:
            LOG.exception('Sink %s had an unexpected error', self.sink.name)
            self._metrics.errors.inc()
            result = Result(Outcome.AWAY, type(error).__name__)
        if result.outcome is Outcome.AWAY:
            self._count(result.outcome)
        return result

    def _done(self, until: int) -> tuple[float | None, float | None]:
        self._taken = until
        count = self._spool.done(until, self.sink.name, 0)
        self._taken, self._until = None, 0
        labels = (self.sink.name, str(Outcome.DELIVERED))
        self._metrics.deliveries.labels(*labels).inc(count)
        LOG.info('Sink %s: triggered for %d incidents', self.sink.name, count)
        return None, 0.0

    def _warn_late(self, result: Result, now: float) -> None:
        if self._is_late or now < self._since + LATE_SECONDS:
            return
        self._is_late = True
        LOG.warning(
            'Sink %s: its trigger has had no effect for %d s: %s',
            self.sink.name,
            now - self._since,
            result.text,
        )
