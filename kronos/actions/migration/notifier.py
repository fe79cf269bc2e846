# SPDX-License-Identifier: Apache-2.0
"""The notifier: it hands notifications to the broker, and delays no move."""

import os
import queue
import threading
import uuid
from dataclasses import dataclass
from typing import Any

import oslo_messaging
from oslo_log import log as logging
from oslo_utils import timeutils
from watcher.common import rpc

LOG = logging.getLogger(__name__)

_RETRIES = 1
"""Of a notice: a connection that stood idle may have died unnoticed."""


@dataclass
class Notice:
    """One notification."""

    topic: str
    event_type: str
    priority: str
    payload: dict[str, Any]


class Messenger:
    """Sends notices one after the other, at most once each.

    :param conf: options of the host service
    :param limit: notices that wait for the broker; more are dropped
    """

    def __init__(self, conf: Any, limit: int = 1000) -> None:
        self._conf = conf
        self._transport: Any = None
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

    def flush(self) -> None:
        """Wait until every notice has been sent or given up."""
        self._waiting.join()

    def _run(self) -> None:
        while True:
            problem = self._attempt(self._waiting.get())
            # Outside of the except: oslo.log would add the error's text.
            if problem:
                self._lost(problem)
            else:
                self._silent = False
            self._waiting.task_done()

    def _attempt(self, notice: Notice) -> str:
        """Returns what went wrong; '' if nothing did."""
        try:
            self._deliver(notice)
        except Exception as error:
            return type(error).__name__
        return ''

    def _lost(self, reason: str) -> None:
        """Warn once until a notice is sent again."""
        if not self._silent:
            LOG.warning(
                'Notices of migrations (kronos.results.*) are being lost, '
                'the migrations go on: %s',
                reason,
            )
        self._silent = True

    def _deliver(self, notice: Notice) -> None:
        # As oslo.messaging's Notifier does with its driver messagingv2. That
        # one swallows every error and logs each with its traceback.
        if self._transport is None:
            self._transport = _transport(self._conf)
        self._transport._send_notification(
            oslo_messaging.Target(topic=f'{notice.topic}.{notice.priority}'),
            {},
            {
                'message_id': str(uuid.uuid4()),
                'publisher_id': f'kronos.{self._conf.host}',
                'event_type': notice.event_type,
                'priority': notice.priority.upper(),
                'payload': notice.payload,
                'timestamp': str(timeutils.utcnow()),
            },
            version=2.0,
            retry=_RETRIES,
        )


class _OfProcess:
    """What a process has once. A thread does not live on in a fork of it."""

    def __init__(self) -> None:
        self.forget()
        os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """Begin anew; somebody may have held the lock during a fork."""
        self.lock = threading.Lock()
        self.messenger: Messenger | None = None


_own = _OfProcess()


def of_process(conf: Any) -> Messenger:
    """The one messenger of this process, made when it is first needed."""
    with _own.lock:
        if _own.messenger is None:
            _own.messenger = Messenger(conf)
        return _own.messenger


def _transport(conf: Any) -> Any:
    """The host service's own transport for notifications, or one like it."""
    return (
        rpc.NOTIFICATION_TRANSPORT
        or oslo_messaging.get_notification_transport(conf)
    )
