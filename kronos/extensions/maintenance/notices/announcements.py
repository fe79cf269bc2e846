# SPDX-License-Identifier: Apache-2.0
"""The announcements of an applier: what changed, to broker and webhook.

Neither ever fails or holds up an action.
"""

import importlib.metadata
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

from oslo_log import log as logging

from kronos.actions.core import notifications, notifier
from kronos.common import exceptions
from kronos.engine.types import ComputeService
from kronos.extensions.maintenance.notices.notice import HostNotice
from kronos.extensions.maintenance.notices.outbox import MAX_BYTES, Outbox
from kronos.extensions.maintenance.notices.signed_webhook import (
    Address,
    SignedWebhook,
)
from kronos.monitor.spool import Spool

LOG = logging.getLogger(__name__)

VERSION = '1.0'
"""Of the payload: 1.1 has more fields, 2.0 has others."""

Services = Callable[[], Mapping[str, ComputeService]]
"""Gives those of Nova, by host; raises NovaClientError."""


class _OfProcess:
    """What a process has once. A thread does not live on in a fork of it."""

    def __init__(self) -> None:
        self.forget()
        os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """Begin anew; somebody may have held the lock during a fork."""
        self.lock = threading.Lock()
        self.outbox: Outbox | None = None
        self.fault = ''
        """What keeps it from being there, as was told."""


_own = _OfProcess()


class Announcer:
    """Announces the changes that one action makes.

    :param conf: options of the host service
    :param more: uuids of the action, in the payload of notifications
    :param send: None: that of the notifier of this process
    """

    def __init__(
        self,
        conf: Any,
        services: Services,
        more: Mapping[str, str],
        send: Callable[[notifier.Notice], None] | None = None,
    ) -> None:
        self._conf = conf
        self._services = services
        self._more = more
        self._send = send

    def begin(self) -> None:
        """Have what waits on disk delivered, whatever the action does."""
        _unharmed(lambda: outbox(self._conf, self._services))

    def announce(self, notice: HostNotice) -> None:
        """Tell broker and webhook of a change that Nova shows."""
        _unharmed(lambda: self._notify(notice))
        _unharmed(lambda: self._post(notice))

    def _notify(self, notice: HostNotice) -> None:
        if not self._conf.kronos.notify:
            return
        send = self._send or notifier.of_process(self._conf).send
        payload = notice.document()
        del payload['schema']
        send(
            notifier.Notice(
                topic=notifications.topic_of(notice.scope),
                event_type=f'maintenance.{notice.event}',
                priority='info',
                payload={
                    'version': VERSION,
                    'kronos_version': importlib.metadata.version(
                        'kronos-watcher'
                    ),
                    **payload,
                    **self._more,
                },
            )
        )

    def _post(self, notice: HostNotice) -> None:
        mine = outbox(self._conf, self._services)
        if mine is not None:
            mine.add(notice)


def outbox(conf: Any, services: Services) -> Outbox | None:
    """The outbox of this process, made when it is first needed.

    :param services: for what an earlier process could not say
    :returns: None: there is no webhook, or it cannot be used
    """
    if not conf.kronos.maintenance_webhook_url:
        return None
    with _own.lock:
        if _own.outbox is None:
            _own.outbox = _opened(conf, Address.of(conf), services)
        return _own.outbox


def _opened(conf: Any, address: Address, services: Services) -> Outbox | None:
    fault, spool = '; '.join(address.faults()), None
    try:
        if not fault:
            now = services()
            spool = Spool(conf.kronos.maintenance_outbox_file, MAX_BYTES)
            box = Outbox(spool, SignedWebhook(address))
            box.catch_up(now)
            return box
    except exceptions.KronosException as error:
        fault = str(error)
        if spool is not None:
            spool.close()
    if fault != _own.fault:
        LOG.error(
            'The webhook of maintenance cannot be used, and the next action '
            'of a run tries again: %s',
            fault,
        )
    _own.fault = fault
    return None


def _unharmed(work: Callable[[], object]) -> None:
    try:
        work()
    except Exception:
        # The hosts are what matters.
        LOG.exception('A notice about maintenance was not sent')
