# SPDX-License-Identifier: Apache-2.0
"""The notifications of each migration, for whoever listens.

Notifications of oslo.messaging, described in doc/source/notifications.rst.
They are sent by a thread of their own: without a broker, oslo.messaging may
block for as long as it likes.
"""

import hashlib
import importlib.metadata
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from oslo_log import log as logging

from kronos.actions.core import notifier
from kronos.common import status
from kronos.engine import faults

LOG = logging.getLogger(__name__)

VERSION = '1.1'
"""Of the payload: 1.1 has more fields, 2.0 has others."""
TOPIC = 'kronos.results.'
_LONGEST = 200
"""Bytes of a scope in a topic; RabbitMQ takes 255 with the priority."""


@dataclass
class Facts:
    """What every notice of a move tells."""

    instance_uuid: str
    instance_name: str
    scope: str
    phase: str
    source: str
    destination: str
    action_uuid: str
    action_plan_uuid: str
    audit_uuid: str


@dataclass
class Record:
    """What is known of one try; the migration fills it while it goes on."""

    request_id: str = ''
    migration_uuid: str = ''
    status: str = ''
    queued_seconds: float | None = None
    running_seconds: float | None = None
    total_seconds: float | None = None
    memory_bytes: int | None = None
    """Processed, as all bytes here."""
    disk_bytes: int | None = None


class Notices:
    """The notices of one move; nothing is sent unless ``[kronos] notify``.

    No method ever fails or waits for the broker.

    :param conf: options of the host service
    :param send: None: that of the notifier of this process
    """

    def __init__(
        self,
        facts: Facts,
        conf: Any,
        send: Callable[[notifier.Notice], None] | None = None,
    ) -> None:
        self._facts = facts
        self._conf = conf
        self._deliver = send

    def started(self, *, request_id: str, retry_count: int) -> None:
        """Nova was asked to migrate."""
        record = Record(request_id=request_id)
        self._send(
            'started',
            'info',
            record,
            message='',
            retry_count=retry_count,
            final=False,
        )

    def completed(
        self, *, record: Record, retry_count: int, remark: str = ''
    ) -> None:
        """The instance runs on its destination."""
        self._send(
            'completed',
            'info',
            record,
            message=status.fit(remark),
            retry_count=retry_count,
            final=True,
        )

    def failed(
        self,
        *,
        record: Record,
        error: Exception,
        retry_count: int,
        final: bool,
    ) -> None:
        """The move failed.

        :param final: False if it will be tried again
        """
        self._send(
            'failed',
            'error' if final else 'warn',
            record,
            error_type=type(error).__name__,
            fault=str(faults.of_error(error)),
            message=status.fit(str(error)),
            retry_count=retry_count,
            final=final,
        )

    def _send(
        self,
        event: str,
        priority: str,
        record: Record,
        **more: Any,
    ) -> None:
        if not self._conf.kronos.notify:
            return
        notice = notifier.Notice(
            topic=topic_of(self._facts.scope),
            event_type=f'migration.{event}',
            priority=priority,
            payload={
                'version': VERSION,
                'kronos_version': importlib.metadata.version('kronos-watcher'),
                **asdict(self._facts),
                **{k: None if v == '' else v for k, v in vars(record).items()},
                'error_type': None,
                'fault': None,
                **more,
            },
        )
        try:
            deliver = self._deliver or notifier.of_process(self._conf).send
            deliver(notice)
        except Exception:
            # The migration is what matters.
            LOG.exception('Notification %s was not sent', notice.event_type)


def topic_of(scope: str) -> str:
    """The topic of a scope, without the priority that is appended to it.

    Letters, digits, ``_`` and ``-`` of ASCII are safe in the names of every
    broker. Other names get a digest, so that no two scopes share a topic.
    """
    safe = re.sub(r'[^A-Za-z0-9_-]+', '_', scope)
    if safe != scope or len(safe) > _LONGEST:
        digest = hashlib.sha256(scope.encode()).hexdigest()[:8]
        safe = f'{safe[: _LONGEST - 9]}-{digest}'
    return f'{TOPIC}{safe}'
