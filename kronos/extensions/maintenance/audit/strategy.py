# SPDX-License-Identifier: Apache-2.0
"""The strategy kronos_maintain: it maintains hosts, a few at a time."""

from typing import TYPE_CHECKING, Any

from kronos.engine.settings import ModePhases, Settings, When
from kronos.extensions.maintenance import maintenance_parameters
from kronos.extensions.maintenance.audit import additions, goal
from kronos.extensions.maintenance.extension import MaintenanceRun
from kronos.snapshots.reader import Reader
from kronos.strategies import base
from kronos.strategies.parameters import Parameters

if TYPE_CHECKING:
    from kronos.clients.connection import HostProcess

MODE = ModePhases(
    evacuate=When.ALWAYS,
    unlimited=True,
    waits_for_cooldown=False,
    is_extended=True,
)


class Maintain(base.KronosStrategy):
    """Empty the hosts of a run, hand them over, and open them again.

    Made for CONTINUOUS audits: each run of it plans the next moves from what
    the cloud shows. A ONESHOT audit is a look.
    """

    NAME = 'kronos_maintain'
    DISPLAY_NAME = 'Kronos: maintain hosts'
    PLAN_MODE = MODE
    GOAL = goal.Maintenance
    PARAMETERS = ()
    ADDITIONS = additions.MaintenanceAdditions()
    summary = staticmethod(additions.summary)

    @classmethod
    def get_schema(cls) -> dict[str, Any]:
        return maintenance_parameters.schema()

    @classmethod
    def parse(cls, raw: dict[str, Any]) -> Parameters:
        spec = maintenance_parameters.parse(raw)
        return Parameters(
            aggregates=maintenance_parameters.aggregates(raw),
            extension=MaintenanceRun(spec),
        )

    @classmethod
    def reader(
        cls, settings: Settings, conf: Any, clients: 'HostProcess'
    ) -> Reader:
        from kronos.extensions.maintenance.audit import (
            history,
            live_runs,
            started_plans,
        )
        from kronos.extensions.maintenance.readings.done_hosts import (
            RunQueries,
        )
        from kronos.extensions.maintenance.readings.reader import (
            MaintenanceReader,
        )

        queries = RunQueries(
            conf.kronos.maintenance_done_query,
            conf.kronos.maintenance_ready_query,
        )
        return MaintenanceReader(
            queries,
            history.closed,
            live_runs.elsewhere,
            live_runs.moves,
            live_runs.balancing,
            conf.kronos.max_concurrent_migrations,
            started_plans.in_hand,
            live_runs.pace,
        )
