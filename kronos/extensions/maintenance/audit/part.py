# SPDX-License-Identifier: Apache-2.0
"""The part of maintenance in the audits of all strategies."""

from typing import TYPE_CHECKING, Any

from kronos.engine.settings import Settings
from kronos.engine.types import ComputeService
from kronos.extensions.maintenance import closing_reason
from kronos.snapshots.parts import AuditPart
from kronos.snapshots.reader import Reader

if TYPE_CHECKING:
    from kronos.clients.connection import HostProcess


class MaintenanceAudits(AuditPart):
    """It keeps the hosts of live runs free, and knows who reboots."""

    def reader(
        self, settings: Settings, conf: Any, clients: 'HostProcess'
    ) -> Reader:
        from kronos.extensions.maintenance.audit import live_runs
        from kronos.extensions.maintenance.readings.done_hosts import (
            RunQueries,
        )
        from kronos.extensions.maintenance.readings.other_runs import (
            OtherRunsReader,
        )

        queries = RunQueries(
            conf.kronos.maintenance_done_query,
            conf.kronos.maintenance_ready_query,
        )
        return OtherRunsReader(queries, live_runs.live)

    def is_at_work(self, service: ComputeService) -> bool:
        """A host that is handed over, until it is open again."""
        return closing_reason.is_handed_over(service)
