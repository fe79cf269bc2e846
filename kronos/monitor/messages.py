# SPDX-License-Identifier: Apache-2.0
"""The message that a sink gets of an incident: ``kronos.vm_event/1``.

Fields are added, never renamed; ``doc/source/kronos.vm_event-1.json`` is its
schema.
"""

import datetime
from typing import Any, Literal

import pydantic

from kronos.monitor.events import Kind
from kronos.monitor.incidents import Incident
from kronos.monitor.rules.decision import Ruling
from kronos.monitor.rules.models import Severity

SCHEMA: Literal['kronos.vm_event/1'] = 'kronos.vm_event/1'


class _Part(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra='forbid')


class Instance(_Part):
    """The server, as far as its hypervisor knows it."""

    uuid: str
    name: str = pydantic.Field(description="the hypervisor's name of it")
    display_name: str = pydantic.Field(description="Nova's name, '': unknown")
    project: str = pydantic.Field(description="its UUID, '': unknown")
    project_name: str
    flavor: str = pydantic.Field(description="its name, '': unknown")
    image: str = pydantic.Field(description="its UUID, '': none or unknown")


class SeenEvent(_Part):
    """Equal events of the incident."""

    event: str
    detail: str
    about: str = pydantic.Field(description='the device and its error')
    at: datetime.datetime = pydantic.Field(description='of the first one')
    count: int = pydantic.Field(ge=1)


class MissedTime(_Part):
    """The time in which the incident happened, when no events came."""

    began: datetime.datetime
    ended: datetime.datetime


class Message(_Part):
    """One incident of one server; a further one with its id is the same."""

    schema_: Literal['kronos.vm_event/1'] = pydantic.Field(
        SCHEMA, alias='schema'
    )
    id: str = pydantic.Field(description='a UUID, the same in every try')
    hypervisor: str = pydantic.Field(description='the source of the events')
    host: str
    instance: Instance
    kind: Kind
    events: list[SeenEvent] = pydantic.Field(
        description='what was seen of it; empty where it was inferred'
    )
    severity: Severity
    rule: str = pydantic.Field(description='the rule that has it sent')
    seen: datetime.datetime = pydantic.Field(
        description="when the first event came, by the host's clock"
    )
    sent: datetime.datetime = pydantic.Field(description='of this try')
    inferred: bool = pydantic.Field(
        description='whether it was found by comparing states after a gap'
    )
    gap: MissedTime | None
    resolved: bool = pydantic.Field(
        description='whether the server ran anew before it was sent'
    )


def of(
    incident: Incident, decision: Ruling, host: str, hypervisor: str
) -> Message:
    """The message of an incident, as it is kept."""
    metadata, gap = incident.metadata, incident.gap
    missed = None
    if gap is not None:
        missed = MissedTime(began=moment(gap.began), ended=moment(gap.ended))
    return Message(
        schema=SCHEMA,
        id=incident.id,
        hypervisor=hypervisor,
        host=host,
        instance=Instance(
            uuid=incident.instance,
            name=incident.name,
            display_name=metadata.display_name,
            project=metadata.project,
            project_name=metadata.project_name,
            flavor=metadata.flavor,
            image=metadata.image,
        ),
        kind=incident.kind,
        events=[
            SeenEvent(
                event=event.event,
                detail=event.detail,
                about=event.about,
                at=moment(event.moment),
                count=event.count,
            )
            for event in incident.events
        ],
        severity=decision.severity,
        rule=decision.rule,
        seen=moment(incident.seen),
        sent=moment(incident.seen),
        inferred=incident.inferred,
        gap=missed,
        resolved=False,
    )


def text_of(message: Message) -> str:
    """The text of a message, for the disk and for the wire."""
    return message.model_dump_json(by_alias=True)


def sent(text: str, now: float, resolved: bool) -> Message:
    """A kept message as it goes out.

    :param now: Unix seconds
    :raises ValueError: the text is none
    """
    message = Message.model_validate_json(text)
    more = {'sent': moment(now), 'resolved': resolved}
    return message.model_copy(update=more)


def moment(seconds: float) -> datetime.datetime:
    """Of Unix seconds, in UTC; of a clock that is far off, the nearest."""
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    except (ValueError, OverflowError, OSError):
        far = datetime.datetime.max if seconds > 0 else datetime.datetime.min
        return far.replace(tzinfo=datetime.UTC)


def schema() -> dict[str, Any]:
    body = Message.model_json_schema(by_alias=True)
    return {'$schema': 'https://json-schema.org/draft/2020-12/schema', **body}
