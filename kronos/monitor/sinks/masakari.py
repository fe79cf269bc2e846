# SPDX-License-Identifier: Apache-2.0
"""Masakari: each message becomes a notification of a failed server."""

import dataclasses
from collections.abc import Iterable
from typing import ClassVar

from kronos.clients import masakari
from kronos.common import exceptions, yaml_files
from kronos.common.names import near_names
from kronos.common.shell_commands import ShellCommand
from kronos.monitor.events import Kind
from kronos.monitor.messages import Message
from kronos.monitor.sinks import keystone
from kronos.monitor.sinks.base import Options, Outcome, Result, Sink

NOTIFY = 'os_masakari_api:notifications:create'
LONGEST_NAME = 255
"""Characters that Masakari takes of each text."""


class Masakari(Sink):
    """Notifies Masakari, which starts the server again on its host."""

    WANTS_RESOLVED: ClassVar[bool] = False

    def __init__(self, name: str, options: Options) -> None:
        super().__init__(name, options)
        self._events = {
            kind: event.partition('/')[::2]
            for kind, event in options['event_map'].items()
        }
        self._service = keystone.Service(options, masakari.connect, 'Masakari')

    @classmethod
    def faults(cls, options: Options) -> list[str]:
        return [*keystone.faults(options), *_faults_of(options['event_map'])]

    def deliver(self, message: Message) -> Result:
        if message.kind.value not in self._events:
            return Result(Outcome.UNWANTED)
        event, detail = self._events[message.kind.value]
        payload = {
            'event': event,
            'instance_uuid': message.instance.uuid,
            'vir_domain_event': detail,
        }
        try:
            client = self._service.client()
            client.notify(message.host, message.seen, payload)
        except exceptions.ClientError as error:
            outcome, remedy = _judged(error, message.host)
            result = self._service.result_of(error, remedy)
            return dataclasses.replace(result, outcome=outcome)
        return Result(Outcome.DELIVERED)

    def check(self, host: str) -> str:
        try:
            rows = [*self._service.client().hosts(host)]
        except exceptions.ClientError as error:
            # Who may notify need not be allowed to list segments.
            if error.kwargs.get('status') == 403:
                return ''
            return self._service.result_of(error).text
        if not rows:
            return f'Masakari has no host {host}: {_unknown(host)}'
        if all(row['on_maintenance'] for row in rows):
            return f'host {host} is under maintenance: {_closed(host)}'
        return ''

    def close(self) -> None:
        self._service.close()


def _judged(error: exceptions.ClientError, host: str) -> tuple[Outcome, str]:
    """What became of a notification that was not taken, and what to do.

    '' as for any service.
    """
    status, text = error.kwargs.get('status'), str(error)
    if status == 409 and 'duplicate' in text:
        return Outcome.DELIVERED, ''
    if status == 409 and 'maintenance' in text:
        return Outcome.REFUSED, _closed(host)
    if status == 409:
        return Outcome.LATER, ''
    if status == 400 and 'could not be found' in text:
        return Outcome.REFUSED, _unknown(host)
    if status == 400:
        return Outcome.REFUSED, ''
    if status == 403:
        return Outcome.AWAY, (
            f'the role of its user needs the policy {NOTIFY}'
        )
    return Outcome.AWAY, ''


def _unknown(host: str) -> str:
    return (
        'add the host to a segment, under the name in [kronos_monitor] host '
        f'here: {ShellCommand.SEGMENT_HOST_CREATE.of(host=host)}'
    )


def _closed(host: str) -> str:
    return (
        'Masakari recovers no servers there until its maintenance ends: '
        + ShellCommand.SEGMENT_HOST_OPEN.of(host=host)
    )


def _faults_of(event_map: dict[str, str]) -> Iterable[str]:
    kinds = [kind.value for kind in Kind]
    for kind, event in event_map.items():
        if kind not in kinds:
            hint = near_names.of_fields(kind, kinds)
            name = yaml_files.clip(kind)
            yield f'event_map: there is no kind {name}, {hint}'
        parts = event.split('/')
        if len(parts) != 2 or not all(
            0 < len(part) <= LONGEST_NAME for part in parts
        ):
            yield (
                f'event_map: {yaml_files.clip(event)} is not EVENT/DETAIL, '
                'such as LIFECYCLE/STOPPED_FAILED'
            )
