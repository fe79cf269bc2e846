# SPDX-License-Identifier: Apache-2.0
"""The checks of hosts before a run: which servers would not leave, and why.

They know what Nova shows of a server. What only the options of Kronos, the
groups or the room forbid, the audit's report says.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from kronos.clients.nova.rows import MigrationStatus
from kronos.engine import wording
from kronos.engine.eligibility import instances
from kronos.engine.reasons import Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Instance
from kronos.extensions.maintenance.client.fields import Fields
from kronos.extensions.maintenance.maintenance import SHUTOFF

RESIZED = 'VERIFY_RESIZE'
SHOWN = 3
"""Servers of a kind that a line names."""


@dataclass
class HostCheck:
    """What is on a host that is to be maintained; servers by name."""

    host: str
    servers: int = 0
    """All of them."""
    stopped: list[str] = field(default_factory=list)
    resized: list[str] = field(default_factory=list)
    """Those whose resize somebody has to confirm or revert."""
    may_return: list[str] = field(default_factory=list)
    """Uuids of servers elsewhere that come back if a resize is reverted."""
    staying: list[tuple[str, Reason]] = field(default_factory=list)
    """Those that cannot leave, with each reason."""

    @property
    def document(self) -> Fields:
        return {
            'host': self.host,
            'servers': self.servers,
            'stopped': self.stopped,
            'resized': self.resized,
            'may_return': self.may_return,
            'can_be_emptied': not self.staying,
            'staying': [
                {
                    'server': name,
                    'reason_code': why.code.value,
                    'reason': str(why),
                    'remedy': why.code.remedy,
                }
                for name, why in self.staying
            ],
        }

    @property
    def lines(self) -> list[str]:
        """How many servers there are; below, what keeps the host."""
        text = f'{self.host}: {wording.counted(self.servers, "server")}'
        for names, word in (
            (self.stopped, 'stopped'),
            (self.resized, 'to be confirmed or reverted'),
            (self.may_return, 'to come back if a resize is reverted'),
        ):
            if names:
                text += f', {len(names)} {word}: {wording.some(names, SHOWN)}'
        if self.staying:
            text += ', cannot be emptied'
        return [text] + [
            f'{self.host}: {name} stays: [{why.code.value}] {why}'
            + (f'. {why.code.remedy}' if why.code.remedy else '')
            for name, why in self.staying
        ]


def of(
    host: str,
    servers: Collection[Instance],
    unconfirmed: Iterable[MigrationStatus] = (),
) -> HostCheck:
    """What is on a host, and may come back to it.

    :param servers: those that Nova has on the host
    :param unconfirmed: cold migrations that wait for their confirmation
    """
    returning = {row.instance for row in unconfirmed if row.source == host}
    here = {server.uuid for server in servers}
    check = HostCheck(host, may_return=sorted(returning - here))
    settings = Settings()
    for server in sorted(servers, key=lambda server: server.uuid):
        name = server.name or server.uuid
        check.servers += 1
        if server.status == SHUTOFF:
            check.stopped.append(name)
        elif server.status == RESIZED:
            check.resized.append(name)
        else:
            check.staying += [
                (name, why) for why in instances.reasons(server, settings)
            ]
    return check
