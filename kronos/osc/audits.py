# SPDX-License-Identifier: Apache-2.0
"""The audits that plans are of, each asked for once."""

from dataclasses import dataclass

from kronos.clients.watcher import WatcherClient
from kronos.common import exceptions, plain_text


@dataclass
class Audit:
    """An audit; a text is '' where it has none, or was deleted."""

    uuid: str
    name: str = ''
    message: str = ''
    """What its last run said, which may be younger than a plan of it."""


class Audits:
    """By uuid.

    :param watcher: who knows them
    """

    def __init__(self, watcher: WatcherClient) -> None:
        self._watcher = watcher
        self._by_uuid: dict[str, Audit] = {}

    def get(self, uuid: str) -> Audit:
        """:raises ClientError: Watcher is away, or refuses"""
        if uuid not in self._by_uuid:
            self._by_uuid[uuid] = self._ask(uuid) if uuid else Audit('')
        return self._by_uuid[uuid]

    def _ask(self, uuid: str) -> Audit:
        try:
            row = self._watcher.audit(uuid)
        except exceptions.ClientError as error:
            if error.kwargs['status'] != 404:
                raise
            return Audit(uuid)
        return Audit(
            uuid,
            plain_text.line(row.get('name') or ''),
            plain_text.line(row.get('status_message') or ''),
        )
