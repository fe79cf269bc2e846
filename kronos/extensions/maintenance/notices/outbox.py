# SPDX-License-Identifier: Apache-2.0
"""The outbox of notices: on disk until the webhook has them, at least once.

It is the spool and the delivery of the instance monitor; the servers of whose
incidents it usually keeps are hosts here.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from oslo_log import log as logging

from kronos.engine.types import ComputeService
from kronos.extensions.maintenance import closing_reason
from kronos.extensions.maintenance.closing_reason import Step
from kronos.extensions.maintenance.notices.notice import Event, HostNotice
from kronos.extensions.maintenance.notices.signed_webhook import (
    NAME,
    SignedWebhook,
)
from kronos.monitor.deliveries.delivery import Backoff, Delivery
from kronos.monitor.domains import State
from kronos.monitor.sinks.base import Outcome, Result
from kronos.monitor.spool import Changes, Entry, Spool, SpoolError, Waiting

LOG = logging.getLogger(__name__)

MAX_BYTES = 16 * 2**20
"""Of the file; a notice has half a kilobyte."""
MOST_UNSAVED = 1000
"""Notices that wait in memory for a disk that is full."""
_EVENTS = {
    Step.EMPTYING: Event.CLOSED,
    Step.HANDED_OVER: Event.HANDED_OVER,
}


class Uncounted:
    """In the place of the monitor's metrics: an applier has its own."""

    def __init__(self) -> None:
        self.deliveries = self.errors = self

    def labels(self, *_: str) -> Self:
        return self

    def inc(self, amount: float = 1) -> None:
        """Count nothing."""


class HostDelivery(Delivery):
    """Posts what the spool has, in order per host."""

    def __init__(
        self, sink: SignedWebhook, spool: Spool, backoff: Backoff
    ) -> None:
        metrics: Any = Uncounted()
        super().__init__(sink, spool, lambda _: None, metrics, 0.0, backoff)
        self._webhook = sink

    def _try(self, waiting: Waiting) -> Result:
        result = self._webhook.post(waiting.body)
        if result.outcome is Outcome.REFUSED:
            LOG.error('Notice %s is refused: %s', waiting.id, result.text)
        return result


class Outbox:
    """Keeps notices and has them delivered; for several threads.

    :param spool: of this process alone
    :raises SpoolError: what is kept cannot be read just now
    """

    def __init__(
        self,
        spool: Spool,
        sink: SignedWebhook,
        backoff: Backoff | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._spool = spool
        self._wall = wall
        self._lock = threading.Lock()
        self._unsaved: dict[str, HostNotice] = {}
        spool.keep_sinks([NAME])
        spool.alive(wall())
        self._sent = spool.load(wall()).sent
        self._delivery = HostDelivery(sink, spool, backoff or Backoff())
        self._delivery.start()

    def add(self, notice: HostNotice) -> None:
        """Have it delivered; one that was added before is not added again.

        It never fails, and waits for no receiver.
        """
        with self._lock:
            if (notice.host, notice.key) in self._sent:
                return
            self._unsaved[notice.id] = notice
            if len(self._unsaved) > MOST_UNSAVED:
                self._unsaved.pop(next(iter(self._unsaved)))
            self._save()

    def catch_up(self, services: Mapping[str, ComputeService]) -> None:
        """Add what an applier did that was killed before it could say so."""
        for notice in [*_closed(services), *self._reopened(services)]:
            self.add(notice)

    def close(self, seconds: float = 5.0) -> None:
        """End; what waits is delivered by the next one."""
        self._delivery.end()
        self._delivery.join(seconds)
        self._spool.close()

    def _save(self) -> None:
        now = self._wall()
        notices = [*self._unsaved.values()]
        sent = {(notice.host, notice.key): now for notice in notices}
        entries = [_entry(notice, now) for notice in notices]
        try:
            self._spool.commit(Changes(entries=entries, sent=sent))
        except SpoolError as error:
            LOG.error(
                '%s. %d notices about maintenance wait in memory',
                error,
                len(notices),
            )
            return
        self._sent |= sent
        self._unsaved.clear()
        self._delivery.wake()

    def _reopened(
        self, services: Mapping[str, ComputeService]
    ) -> Iterable[HostNotice]:
        for host, key in [*self._sent]:
            event, since, run = key.split(' ', 2)
            service = services.get(host)
            if (
                event == Event.HANDED_OVER
                and service is not None
                and service.status != 'disabled'
            ):
                yield HostNotice(Event.REOPENED, run, host, '', float(since))


def _closed(services: Mapping[str, ComputeService]) -> Iterable[HostNotice]:
    for host, service in services.items():
        reason = closing_reason.parsed(service.disabled_reason or '')
        if service.status != 'disabled' or reason is None:
            continue
        if reason.step in _EVENTS:
            yield HostNotice(
                _EVENTS[reason.step],
                reason.run,
                host,
                '',
                reason.since,
                reason.audit,
            )


def _entry(notice: HostNotice, now: float) -> Entry:
    return Entry(
        id=notice.id,
        instance=notice.host,
        severity=0,
        seen=now,
        run=None,
        state=State.RUNNING,
        body=notice.body,
        sinks=(NAME,),
    )
