# SPDX-License-Identifier: Apache-2.0
"""The extension that empties a cell: its answers to the trunk's questions."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from kronos.engine import edits
from kronos.engine.constraints.availability_zone import PinnedZone
from kronos.engine.constraints.base import Constraint
from kronos.engine.constraints.cell import SameCell
from kronos.engine.constraints.hypervisor_version import HypervisorVersion
from kronos.engine.constraints.vtpm import VtpmTraits
from kronos.engine.edits import Pair, Relaxation
from kronos.engine.eligibility import hosts
from kronos.engine.eligibility.instances import RUNNING, Rule
from kronos.engine.extension import Extension, Phase, ReasonCode
from kronos.engine.phase_rules import PhaseRow
from kronos.engine.planning.phase_input import PhasePlan
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    Closing,
    Flavor,
    Host,
    Instance,
    PlanningInput,
    Snapshot,
)
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import (
    SAME,
    CellDrain,
    CellNeeds,
    CellPhase,
    CrossCellPolicy,
)
from kronos.extensions.cells.options import CellOptions
from kronos.extensions.cells.planning import (
    flavors,
    outcome,
    search,
    unfinished_moves,
)
from kronos.extensions.cells.planning.cell_moves import CellMoves
from kronos.extensions.cells.planning.quota import Quota
from kronos.extensions.cells.planning.target_cell import TargetCell
from kronos.extensions.cells.readings import cell_hosts
from kronos.extensions.cells.readings.cell_hosts import CellScope
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import ScopeRequest

DEFAULT_MOVES = 10
"""So many servers leave by one plan, if the audit does not say."""
ROW = PhaseRow(
    from_draining=True,
    from_counting=False,
    ceilings=True,
    return_guard=False,
    may_price_soft_groups=True,
    is_drain=True,
    # Their members leave one after the other, and Nova refuses none.
    always_prices_soft_groups=True,
)


def _drain(**values: Any) -> Relaxation:
    """Lifts a reason by other parameters of the audit."""

    def relaxed(case: PlanningInput, _: Reason, __: Pair) -> PlanningInput:
        drain = cell_drain.of(case.settings)
        if drain is None:
            return case
        changed = Cells(replace(drain, **values))
        return edits.with_settings(case, extension=changed)

    return relaxed


def _mapped(case: PlanningInput, reason: Reason, pair: Pair) -> PlanningInput:
    drain = cell_drain.of(case.settings)
    flavor_map = dict(drain.flavor_map or {}) if drain else {}
    flavor_map[reason.about] = SAME
    return _drain(flavor_map=flavor_map)(case, reason, pair)


def _flavor_made(
    case: PlanningInput, reason: Reason, pair: Pair
) -> PlanningInput:
    """The cloud has a flavor that is as large as the instance."""
    instance = case.snapshot.instances[pair.instance]
    flavors = cell_drain.needs_of(case.snapshot).flavors
    had = flavors.get(
        reason.about,
        Flavor(reason.about, reason.about, instance.vcpus, instance.memory_mb),
    )
    flavor = replace(had, root_gb=max(had.root_gb, instance.root_gb))
    return edits.with_beside(
        case, cell_drain.NAME, flavors=flavors | {reason.about: flavor}
    )


def _source_closed(
    case: PlanningInput, reason: Reason, pair: Pair
) -> PlanningInput:
    case = edits.with_beside(case, cell_drain.NAME, open_source_hosts=[])
    return _drain(close_source=True)(case, reason, pair)


def _move_over(case: PlanningInput, _: Reason, pair: Pair) -> PlanningInput:
    """Its move to another cell is over, and it is where it is now."""
    unfinished = [
        move
        for move in cell_drain.needs_of(case.snapshot).unfinished
        if move.instance != pair.instance
    ]
    case = edits.with_beside(case, cell_drain.NAME, unfinished=unfinished)
    return edits.with_instance(
        case,
        pair.instance,
        status='ACTIVE',
        task_state=None,
        power_state=RUNNING,
    )


@dataclass(frozen=True)
class Cells(Extension):
    """It moves servers of one cell to others, cold, one after the other."""

    asked: CellDrain

    name: ClassVar[str] = cell_drain.NAME
    cannot: ClassVar[str] = 'leave the cell'
    phases: ClassVar[Mapping[Phase, PhasePlan]] = {
        CellPhase.CELL_DRAIN: PhasePlan(ROW, search.run)
    }
    relaxations: ClassVar[Mapping[ReasonCode, Relaxation]] = {
        Code.CELL_STATUS: edits.instance(status='ACTIVE', power_state=RUNNING),
        Code.CELL_BEGUN: _move_over,
        Code.CELL_UNCONFIRMED: _move_over,
        Code.CELL_STOPPED: _drain(include_stopped=True),
        Code.CELL_AFFINITY: lambda case, reason, _: edits.without_group(
            case, reason.about
        ),
        Code.CELL_FLAVOR_UNMAPPED: _mapped,
        Code.CELL_FLAVOR_GONE: _flavor_made,
        Code.CELL_FLAVOR_TOO_SMALL: _flavor_made,
        Code.CELL_RESIZE_INSIDE: _source_closed,
        Code.CELL_LOSSY: edits.option(CellOptions, cell_move_lossy=True),
        Code.CELL_PORT: edits.instance(tied_port=''),
        Code.CELL_POLICY: lambda case, _, __: edits.with_beside(
            case, cell_drain.NAME, cell_policy=CrossCellPolicy.OPEN
        ),
        Code.CELL_SNAPSHOT_SLOW: edits.option(
            CellOptions, long_rpc_timeout_seconds=math.inf
        ),
    }
    remedies: ClassVar[Mapping[ReasonCode, Mapping[str, str]]] = {
        Code.CELL_LOSSY: {'cell_move_lossy': 'true'}
    }

    @property
    def closes_hosts(self) -> bool:
        return self.asked.close_source

    def prepare(self, settings: Settings) -> None:
        settings.max_migrations = settings.max_migrations or DEFAULT_MOVES
        # The zones of two cells are never the same.
        settings.restrict_to_az = False

    def cut(
        self,
        snapshot: Snapshot,
        inventory: CloudInventory,
        request: ScopeRequest,
    ) -> CellNeeds:
        scope = request.chosen
        services = inventory.services or {}
        hosts = inventory.cloud.hosts | inventory.cloud.other_hosts
        available = {
            name for name, service in services.items() if service.is_available
        }
        return replace(
            cell_drain.needs_of(inventory),
            open_source_hosts=cell_hosts.open_beside(scope, hosts, available)
            if isinstance(scope, CellScope)
            else [],
        )

    def host_reasons(self, host: Host, settings: Settings) -> list[Reason]:
        if not settings.evacuate or host.cell != self.asked.source:
            return []
        return [Reason(hosts.BEING_DRAINED, Code.HOST_DRAINED)]

    def to_empty(self, snapshot: Snapshot, settings: Settings) -> set[str]:
        return {
            name
            for name, host in snapshot.hosts.items()
            if host.cell == self.asked.source
        }

    def movable(self, snapshot: Snapshot, settings: Settings) -> Rule:
        return CellMoves(snapshot, settings).reasons

    def demand(
        self, instance: Instance, snapshot: Snapshot, settings: Settings
    ) -> dict[str, int]:
        return flavors.demand(instance, snapshot, settings)

    def under_way(self, snapshot: Snapshot, settings: Settings) -> set[str]:
        """Until somebody has confirmed a move."""
        moves = unfinished_moves.of_drain(snapshot, settings)
        return {move.instance for move in moves}

    def constraints(
        self, trunk: tuple[type[Constraint], ...]
    ) -> tuple[type[Constraint], ...]:
        instead: dict[type[Constraint], list[type[Constraint]]] = {
            SameCell: [TargetCell],
            HypervisorVersion: [],
            VtpmTraits: [Quota],
        }
        if self.asked.unpin_az:
            instead[PinnedZone] = []
        return tuple(
            own for kind in trunk for own in instead.get(kind, [kind])
        )

    def closings(
        self, result: AggregateResult, snapshot: Snapshot, settings: Settings
    ) -> list[Closing]:
        if not (self.asked.close_source and result.steps):
            return []
        return outcome.closings(snapshot, self.asked)

    def note(
        self, result: AggregateResult, snapshot: Snapshot, settings: Settings
    ) -> None:
        outcome.note(result, snapshot, settings)
