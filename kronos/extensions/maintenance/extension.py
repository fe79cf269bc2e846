# SPDX-License-Identifier: Apache-2.0
"""The extension that maintains hosts: its answers to the trunk's questions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kronos.engine.extension import Extension, Phase
from kronos.engine.phase_rules import PhaseRow
from kronos.engine.planning.phase_input import PhasePlan
from kronos.engine.reasons import Reason
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    Closing,
    MigrationPhase,
    Snapshot,
)
from kronos.extensions.maintenance import host_states, maintenance
from kronos.extensions.maintenance.closing_reason import Step
from kronos.extensions.maintenance.codes import MaintenanceCode
from kronos.extensions.maintenance.maintenance import Maintenance, RunView
from kronos.extensions.maintenance.planning import waves
from kronos.extensions.maintenance.planning.waves import Waves

ROW = PhaseRow(
    from_draining=True,
    from_counting=True,
    ceilings=True,
    may_price_soft_groups=True,
    is_drain=True,
)


@dataclass(frozen=True)
class MaintenanceRun(Extension):
    """It empties the hosts of a run, a few at a time."""

    asked: Maintenance

    name: ClassVar[str] = maintenance.NAME
    asks: ClassVar[type | None] = Maintenance
    keeps: ClassVar[type | None] = RunView
    phases: ClassVar[Mapping[Phase, PhasePlan]] = {
        MigrationPhase.EVACUATE: PhasePlan(ROW, waves.run)
    }

    @property
    def closes_hosts(self) -> bool:
        return True

    def to_empty(self, snapshot: Snapshot, settings: Settings) -> set[str]:
        """Those that the run has closed and that are not handed over."""
        return {
            name
            for name, row in host_states.of(snapshot, self.asked).items()
            if row.reason is not None and row.reason.step is Step.EMPTYING
        }

    def closings(
        self, result: AggregateResult, snapshot: Snapshot, settings: Settings
    ) -> list[Closing]:
        planned = waves_of(result)
        return [
            Closing(
                host,
                Reason(
                    f'it is maintained in run {self.asked.run}',
                    MaintenanceCode.HOST_WAITS,
                ),
            )
            for host in planned.closing
        ]


def waves_of(result: AggregateResult) -> Waves:
    """What a plan does for a run in a scope."""
    planned = result.beside.get(maintenance.NAME)
    return planned if isinstance(planned, Waves) else Waves()
