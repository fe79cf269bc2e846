# SPDX-License-Identifier: Apache-2.0
"""The part of maintenance in the audits of all strategies."""

from typing import TYPE_CHECKING, Any

from kronos.engine.settings import Settings
from kronos.snapshots.parts import AuditPart
from kronos.snapshots.reader import Reader

if TYPE_CHECKING:
    from kronos.clients.connection import HostProcess


class MaintenanceAudits(AuditPart):
    """It keeps the hosts of live runs free."""

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
