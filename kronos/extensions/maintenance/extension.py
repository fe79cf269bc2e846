# SPDX-License-Identifier: Apache-2.0
"""The extension that maintains hosts: its answers to the trunk's questions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from kronos.engine.extension import Extension, Phase
from kronos.engine.phase_rules import PhaseRow
from kronos.engine.planning.phase_input import PhasePlan
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    Closing,
    MigrationPhase,
    Snapshot,
)
from kronos.extensions.maintenance import (
    host_states,
    maintenance,
    outcome,
)
from kronos.extensions.maintenance.closing_reason import Step
from kronos.extensions.maintenance.codes import MaintenanceCode
from kronos.extensions.maintenance.host_states import HostState, State
from kronos.extensions.maintenance.maintenance import (
    SHUTOFF,
    Maintenance,
    RunView,
    Stopped,
)
from kronos.extensions.maintenance.outcome import RunOutcome, Waves
from kronos.extensions.maintenance.planning import forecast, look, waves

MIGRATING = 'migrating'
"""Nova's task state of a server that is under way, and does not stay."""
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

    def prepare(self, settings: Settings) -> None:
        settings.evacuate, settings.rebalance = True, False
        settings.enforce_hard_affinity = False
        settings.enforce_soft_affinity = False
        settings.unlimited = settings.max_migrations is None

    def to_empty(self, snapshot: Snapshot, settings: Settings) -> set[str]:
        """Those that the run has closed and that hold servers again, too."""
        states = host_states.of(snapshot, self.asked)
        return {name for name, row in states.items() if row.is_emptied}

    def closings(
        self, result: AggregateResult, snapshot: Snapshot, settings: Settings
    ) -> list[Closing]:
        waves = result.beside.get(maintenance.NAME)
        hosts = waves.closing if isinstance(waves, Waves) else []
        text = f'it is maintained in run {self.asked.run}'
        reason = Reason(text, MaintenanceCode.HOST_WAITS)
        return [Closing(host, reason) for host in hosts]

    def note(
        self, result: AggregateResult, snapshot: Snapshot, settings: Settings
    ) -> None:
        run = _outcome(result, snapshot, self.asked)
        fixed = {
            uuid: why
            for uuid, why in result.unmovable.items()
            if not isinstance(why.code, MaintenanceCode)
            and why.code is not Code.INSTANCE_ON_ITS_WAY
            and snapshot.instances[uuid].task_state != MIGRATING
        }
        run.look = look.of(snapshot, self.asked, fixed)
        run.forecast = forecast.of(
            snapshot, settings, self.asked, fixed, run.look.blocked
        )
        result.beside[maintenance.NAME] = run

    def host_answer(
        self, result: AggregateResult, name: str
    ) -> dict[str, Any]:
        """The state of a host of the run, and what becomes of it."""
        return {maintenance.NAME: outcome.of_host(outcome.of(result), name)}


def _outcome(
    result: AggregateResult, snapshot: Snapshot, spec: Maintenance
) -> RunOutcome:
    states = host_states.of(snapshot, spec)
    waves = result.beside.get(maintenance.NAME)
    view = maintenance.view_of(snapshot.beside)
    run = RunOutcome(
        spec,
        states,
        waves if isinstance(waves, Waves) else Waves(),
        moved=view.moved,
        moved_twice=view.moved_twice,
        unknown=view.unknown,
        missing=view.missing,
        taken_at=snapshot.taken_at,
    )
    occupied = _count_servers(result, snapshot, run)
    emptied = [name for name, row in states.items() if _is_emptying(row)]
    in_hand = {*view.in_hand}
    run.handing_over = [
        name
        for name in (*emptied, *run.waves.closing)
        if name not in occupied | in_hand
    ]
    if spec.reopen:
        run.reopening = [
            name for name in run.hosts(State.RETURNING) if name not in in_hand
        ]
    hosts = {each.host for each in snapshot.instances.values()}
    run.empty_done = [
        name for name in run.hosts(State.DONE) if name not in hosts
    ]
    return run


def _count_servers(
    result: AggregateResult, snapshot: Snapshot, run: RunOutcome
) -> set[str]:
    """Count the servers to be moved.

    :returns: the hosts that some must leave and do not
    """
    leaving = {step.instance for step in result.steps}
    occupied = set()
    for uuid, instance in snapshot.instances.items():
        row = run.states.get(instance.host)
        may_stay = run.spec.stopped is Stopped.STAY
        if row is None or (may_stay and instance.status == SHUTOFF):
            continue
        run.to_move += row.state is State.TO_DO or row.is_emptied
        if uuid not in leaving:
            occupied.add(instance.host)
    return occupied


def _is_emptying(row: HostState) -> bool:
    """Whether it is to be handed over once its servers have left."""
    return row.reason is not None and row.reason.step is Step.EMPTYING
