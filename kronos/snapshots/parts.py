# SPDX-License-Identifier: Apache-2.0
"""The parts of extensions in audits: what each reads, whoever's audit it is.

The extension that an audit brings along reads by its strategy. What matters
to the audits of all others stands here, such as hosts that it needs itself.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from kronos.common.plugins import extensions
from kronos.engine.settings import Settings
from kronos.engine.types import ComputeService
from kronos.snapshots.reader import Reader

if TYPE_CHECKING:
    from kronos.clients.connection import HostProcess


class AuditPart:
    """What an extension reads in every audit; nothing, if not derived."""

    def reader(
        self, settings: Settings, conf: Any, clients: 'HostProcess'
    ) -> Reader:
        """What it reads after all else, also after the audit's own reader.

        :param settings: what the audit plans by
        :param conf: Watcher's configuration
        """
        return Reader()

    def is_at_work(self, service: ComputeService) -> bool:
        """Whether somebody works on a host: its silence is no fault."""
        return False


def every() -> Collection[AuditPart]:
    """Those of all extensions that have one."""
    return extensions.parts('audits', AuditPart).values()


def is_at_work(service: ComputeService) -> bool:
    """Whether an extension knows that somebody works on a host."""
    return any(part.is_at_work(service) for part in every())
