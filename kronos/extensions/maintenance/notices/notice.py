# SPDX-License-Identifier: Apache-2.0
"""The notice of a change of a host: what listeners and receivers get of it.

Fields are added, never renamed.
"""

import datetime
import json
import uuid
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

SCHEMA = 'kronos.maintenance/1'
_NAMESPACE = uuid.UUID('7a1d4f0e-6c35-5b0a-9a53-2d1c8be7f640')


class Event(StrEnum):
    """What became of a host."""

    CLOSED = 'closed'
    HANDED_OVER = 'handed_over'
    REOPENED = 'reopened'

    @property
    def state(self) -> str:
        """In which state the host is then."""
        return _STATES[self]


_STATES = {
    Event.CLOSED: 'emptying',
    Event.HANDED_OVER: 'handed-over',
    Event.REOPENED: 'open',
}


@dataclass(frozen=True)
class HostNotice:
    """One change of one host of a run."""

    event: Event
    run: str
    host: str
    scope: str
    since: float
    """Unix seconds of the closing reason: that which was written, or that
    with which the host was closed until now."""
    audit: str = ''
    """Uuid of the audit that closed it."""

    @property
    def key(self) -> str:
        """The change, among those of its host."""
        return f'{self.event} {self.since:.0f} {self.run}'

    @property
    def id(self) -> str:
        """A UUID, the same whoever sends it, and however often."""
        return str(uuid.uuid5(_NAMESPACE, f'{self.host} {self.key}'))

    def document(self) -> dict[str, Any]:
        moment = datetime.datetime.fromtimestamp(self.since, datetime.UTC)
        return {
            'schema': SCHEMA,
            'id': self.id,
            'event': self.event.value,
            'run': self.run,
            'host': self.host,
            'state': self.event.state,
            'scope': self.scope or None,
            'since': f'{moment:%Y-%m-%dT%H:%M:%SZ}',
            'audit_uuid': self.audit or None,
        }

    @property
    def body(self) -> str:
        """As it is posted."""
        return json.dumps(self.document(), sort_keys=True)
