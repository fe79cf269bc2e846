# SPDX-License-Identifier: Apache-2.0
"""The notifier: it hands notifications to the broker, and delays no move."""

import os
import queue
import threading
from dataclasses import dataclass
from typing import Any

import oslo_messaging
from oslo_log import log as logging
from oslo_messaging.notify import messaging
from watcher.common import rpc

LOG = logging.getLogger(__name__)

_RETRIES = 1
"""Of a notice: a connection that stood idle may have died unnoticed."""
_DRIVER = 'messagingv2'


@dataclass
class Notice:
    """One notification."""

    topic: str
    event_type: str
    priority: str
    """``info``, ``warn`` or ``error``."""
    payload: dict[str, Any]


class _Failures:
    """The failures that oslo.messaging logs in the thread of this object.

    A filter of its log. It raises none, and logs each with its traceback and
    the payload. They are kept here instead, so that one warning can stand for
    all.
    """

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._last = ''

    def filter(self, record: Any) -> bool:
        if threading.get_ident() != self._thread:
            return True
        kind = (record.exc_info or (None,))[0]
        self._last = kind.__name__ if kind else record.msg
        return False

    def taken(self) -> str:
        """The last one, by its type; '' if there is none since."""
        last, self._last = self._last, ''
        return last


class Notifier:
    """Sends notices one after the other, at most once each.

    :param conf: options of the host service
    :param limit: notices that wait for the broker; more are dropped
    """

    def __init__(self, conf: Any, limit: int = 1000) -> None:
        self._conf = conf
        self._transport: oslo_messaging.Transport | None = None
        self._waiting: queue.Queue[Notice] = queue.Queue(limit)
        self._silent = False
        self._thread = threading.Thread(
            target=self._run, name='kronos-notices', daemon=True
        )
        self._thread.start()

    def send(self, notice: Notice) -> None:
        """Have a notice sent some time; never waits, never fails."""
        try:
            self._waiting.put_nowait(notice)
        except queue.Full:
            self._lost('too many wait for the broker')

    def _run(self) -> None:
        failures = _Failures()
        messaging.LOG.addFilter(failures)
        while True:
            notice = self._waiting.get()
            problem = self._attempt(notice) or failures.taken()
            # Outside of the except: oslo.log would add the error's text.
            if problem:
                self._lost(problem)
            else:
                self._silent = False
            self._waiting.task_done()

    def _attempt(self, notice: Notice) -> str:
        """Returns what went wrong, as far as that is raised."""
        try:
            self._deliver(notice)
        except Exception as error:
            return type(error).__name__
        return ''

    def _lost(self, reason: str) -> None:
        """Warn once until a notice is sent again."""
        if not self._silent:
            LOG.warning(
                'Notifications of migrations (kronos.results.*) are being '
                'lost; the migrations continue: %s',
                reason,
            )
        self._silent = True

    def _deliver(self, notice: Notice) -> None:
        if self._transport is None:
            self._transport = _transport(self._conf)
        sender = oslo_messaging.Notifier(
            self._transport,
            f'kronos.{self._conf.host}',
            driver=_DRIVER,
            retry=_RETRIES,
            topics=[notice.topic],
        )
        send = getattr(sender, notice.priority)
        send({}, notice.event_type, notice.payload)


class _OfProcess:
    """What a process has once. A thread does not live on in a fork of it.

    Watcher makes an action anew at each delivery; what waits for the broker
    outlives it.
    """

    def __init__(self) -> None:
        self.forget()
        os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """Begin anew; somebody may have held the lock during a fork."""
        self.lock = threading.Lock()
        self.notifier: Notifier | None = None


_own = _OfProcess()


def of_process(conf: Any) -> Notifier:
    """The one notifier of this process, made when it is first needed."""
    with _own.lock:
        if _own.notifier is None:
            _own.notifier = Notifier(conf)
        return _own.notifier


def _transport(conf: Any) -> Any:
    """The host service's own transport for notifications, or one like it."""
    return (
        rpc.NOTIFICATION_TRANSPORT
        or oslo_messaging.get_notification_transport(conf)
    )
