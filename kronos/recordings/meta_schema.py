# SPDX-License-Identifier: Apache-2.0
"""The schema of a recording's meta.json: what was asked for, and how."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from kronos.common import first_fault
from kronos.engine.extension import Extension
from kronos.engine.settings import (
    HostMatch,
    PartialAnswers,
    SearchName,
    Settings,
    SoftRules,
    SwapMoves,
    TieBreak,
    UnexplainedLoad,
    VetoReference,
)
from kronos.extensions import registry
from kronos.extensions.cells import cell_drain
from kronos.recordings import cell_schema
from kronos.recordings.safe_files import MAX_ROWS, STRICT
from kronos.snapshots.scopes import AggregateRef, ScopeRequest

FORMAT_VERSION = 1


@dataclass
class AggregateRefRow:
    """An aggregate in a request, by its id or its name."""

    id: str = ''
    name: str = ''

    @classmethod
    def of(cls, ref: AggregateRef) -> 'AggregateRefRow':
        return cls(
            id=ref.id,
            name=ref.name,
        )

    def ref(self) -> AggregateRef:
        return AggregateRef(
            id=self.id,
            name=self.name,
        )


def _ref_rows(
    refs: Iterable[str | AggregateRef],
) -> list[str | AggregateRefRow]:
    return [
        one if isinstance(one, str) else AggregateRefRow.of(one)
        for one in refs
    ]


def _refs(rows: Iterable[str | AggregateRefRow]) -> list[str | AggregateRef]:
    return [one if isinstance(one, str) else one.ref() for one in rows]


@dataclass
class RequestRow:
    """What was asked for."""

    aggregates: list[str | AggregateRefRow] = field(default_factory=list)
    include_unassigned: bool = False
    availability_zones: list[str] = field(default_factory=list)
    excluded_hosts: list[str] = field(default_factory=list)
    excluded_aggregates: list[str | AggregateRefRow] = field(
        default_factory=list
    )
    excluded_instances: list[str] = field(default_factory=list)
    excluded_projects: list[str] = field(default_factory=list)
    excluded_metadata: list[dict[str, str]] = field(default_factory=list)
    cells: cell_schema.CellScopeRow | None = None
    """Instead of aggregates and zones."""

    @classmethod
    def of(cls, request: ScopeRequest) -> 'RequestRow':
        cells = request.cells
        return cls(
            cells=None
            if cells is None
            else cell_schema.CellScopeRow.of(cells),
            aggregates=_ref_rows(request.aggregates),
            include_unassigned=request.include_unassigned,
            availability_zones=request.availability_zones,
            excluded_hosts=request.excluded_hosts,
            excluded_aggregates=_ref_rows(request.excluded_aggregates),
            excluded_instances=request.excluded_instances,
            excluded_projects=request.excluded_projects,
            excluded_metadata=request.excluded_metadata,
        )

    def request(self) -> ScopeRequest:
        return ScopeRequest(
            cells=None if self.cells is None else self.cells.scope(),
            aggregates=_refs(self.aggregates),
            include_unassigned=self.include_unassigned,
            availability_zones=self.availability_zones,
            excluded_hosts=self.excluded_hosts,
            excluded_aggregates=_refs(self.excluded_aggregates),
            excluded_instances=self.excluded_instances,
            excluded_projects=self.excluded_projects,
            excluded_metadata=self.excluded_metadata,
        )


@dataclass
class ExtensionRow:
    """What an audit asks of an extension, in plain values."""

    name: str
    asked: Any = None

    @classmethod
    def of(cls, extension: Extension) -> 'ExtensionRow | None':
        if extension.name in ('', *registry.OWN):
            return None
        return cls(extension.name, extension.asked)


@dataclass
class SettingsRow:
    """What was planned with, or what ``[kronos]`` said."""

    max_migrations: int | None = None
    restrict_to_az: bool = False
    require_all_policies: bool = False
    min_host_coverage: float = 0.9
    host_match: HostMatch = HostMatch.EXACT
    partial_answers: PartialAnswers = PartialAnswers.WARN
    check_disk: bool = False
    require_headroom: bool = False
    allowed_extra_specs: list[str] = field(default_factory=list)
    cooldown_seconds: float = 0.0
    instance_cooldown_seconds: float = 0.0
    quarantine_seconds: float = 0.0
    return_guard_seconds: float = 0.0
    stuck_seconds: float = 86400.0
    evacuate: bool = False
    drain_hosts: list[str] | None = None
    recover: bool = False
    max_closed_hosts: int = 1
    restart_servers: bool = False
    recovery_window_seconds: float = 600.0
    cell_drain: cell_schema.CellDrainRow | None = None
    extension: ExtensionRow | None = None
    """Not one that has keys of its own."""
    cell_move_lossy: bool = False
    long_rpc_timeout_seconds: float = 1800.0
    snapshot_mb_per_second: float = 100.0
    drain_may_exceed_threshold: bool = False
    enforce_hard_affinity: bool = False
    enforce_soft_affinity: bool = False
    rebalance: bool = True
    unlimited: bool = False
    soft_rules: SoftRules = SoftRules.VETO
    soft_rule_penalty: float = 0.05
    pack_partial_drains: bool = False
    keep_hosts: int = 1
    headroom_hosts: int = 0
    search: SearchName = SearchName.GREEDY
    """As all was planned before there was a choice."""
    veto_reference: VetoReference = VetoReference.STEP
    min_gain: float = 0.0
    min_plan_gain: float = 0.0
    optimal_limit: int = 1000
    optimal_seconds: float = 25.0
    cost_weight: float = 0.0
    migration_bandwidth: float = 800.0
    migration_timeout_seconds: float = 600.0
    migration_timeout_per_gib: float = 16.0
    unexplained_load: UnexplainedLoad = UnexplainedLoad.FOLLOWS
    plateau_moves: bool = True
    swap_moves: SwapMoves = SwapMoves.SAFE
    tie_break: TieBreak = TieBreak.VARIANCE
    repeat_moves: bool = False
    exhaust: bool = False

    @classmethod
    def of(cls, settings: Settings) -> 'SettingsRow':
        return cls(
            cell_drain=cell_schema.drain_row(cell_drain.of(settings)),
            extension=ExtensionRow.of(settings.extension),
            max_migrations=settings.max_migrations,
            restrict_to_az=settings.restrict_to_az,
            require_all_policies=settings.require_all_policies,
            min_host_coverage=settings.min_host_coverage,
            host_match=settings.host_match,
            partial_answers=settings.partial_answers,
            check_disk=settings.check_disk,
            require_headroom=settings.require_headroom,
            allowed_extra_specs=settings.allowed_extra_specs,
            cooldown_seconds=settings.cooldown_seconds,
            instance_cooldown_seconds=settings.instance_cooldown_seconds,
            quarantine_seconds=settings.quarantine_seconds,
            return_guard_seconds=settings.return_guard_seconds,
            stuck_seconds=settings.stuck_seconds,
            evacuate=settings.evacuate,
            drain_hosts=settings.drain_hosts,
            recover=settings.extension.name == 'recovery',
            max_closed_hosts=settings.max_closed_hosts,
            restart_servers=settings.restart_servers,
            recovery_window_seconds=settings.recovery_window_seconds,
            cell_move_lossy=settings.cell_move_lossy,
            long_rpc_timeout_seconds=settings.long_rpc_timeout_seconds,
            snapshot_mb_per_second=settings.snapshot_mb_per_second,
            drain_may_exceed_threshold=settings.drain_may_exceed_threshold,
            enforce_hard_affinity=settings.enforce_hard_affinity,
            enforce_soft_affinity=settings.enforce_soft_affinity,
            rebalance=settings.rebalance,
            unlimited=settings.unlimited,
            soft_rules=settings.soft_rules,
            soft_rule_penalty=settings.soft_rule_penalty,
            pack_partial_drains=settings.pack_partial_drains,
            keep_hosts=settings.keep_hosts,
            headroom_hosts=settings.headroom_hosts,
            search=settings.search,
            veto_reference=settings.veto_reference,
            min_gain=settings.min_gain,
            min_plan_gain=settings.min_plan_gain,
            optimal_limit=settings.optimal_limit,
            optimal_seconds=settings.optimal_seconds,
            cost_weight=settings.cost_weight,
            migration_bandwidth=settings.migration_bandwidth,
            migration_timeout_seconds=settings.migration_timeout_seconds,
            migration_timeout_per_gib=settings.migration_timeout_per_gib,
            unexplained_load=settings.unexplained_load,
            plateau_moves=settings.plateau_moves,
            swap_moves=settings.swap_moves,
            tie_break=settings.tie_break,
            repeat_moves=settings.repeat_moves,
            exhaust=settings.exhaust,
        )

    def _extension(self) -> Extension:
        if self.cell_drain is not None:
            return registry.make('cells', self.cell_drain.drain())
        if self.extension is not None:
            return registry.make(self.extension.name, self.extension.asked)
        return registry.make('recovery' if self.recover else '')

    def settings(self) -> Settings:
        return Settings(
            extension=self._extension(),
            max_migrations=self.max_migrations,
            restrict_to_az=self.restrict_to_az,
            require_all_policies=self.require_all_policies,
            min_host_coverage=self.min_host_coverage,
            host_match=self.host_match,
            partial_answers=self.partial_answers,
            check_disk=self.check_disk,
            require_headroom=self.require_headroom,
            allowed_extra_specs=self.allowed_extra_specs,
            cooldown_seconds=self.cooldown_seconds,
            instance_cooldown_seconds=self.instance_cooldown_seconds,
            quarantine_seconds=self.quarantine_seconds,
            return_guard_seconds=self.return_guard_seconds,
            stuck_seconds=self.stuck_seconds,
            evacuate=self.evacuate,
            drain_hosts=self.drain_hosts,
            max_closed_hosts=self.max_closed_hosts,
            restart_servers=self.restart_servers,
            recovery_window_seconds=self.recovery_window_seconds,
            cell_move_lossy=self.cell_move_lossy,
            long_rpc_timeout_seconds=self.long_rpc_timeout_seconds,
            snapshot_mb_per_second=self.snapshot_mb_per_second,
            drain_may_exceed_threshold=self.drain_may_exceed_threshold,
            enforce_hard_affinity=self.enforce_hard_affinity,
            enforce_soft_affinity=self.enforce_soft_affinity,
            rebalance=self.rebalance,
            unlimited=self.unlimited,
            soft_rules=self.soft_rules,
            soft_rule_penalty=self.soft_rule_penalty,
            pack_partial_drains=self.pack_partial_drains,
            keep_hosts=self.keep_hosts,
            headroom_hosts=self.headroom_hosts,
            search=self.search,
            veto_reference=self.veto_reference,
            min_gain=self.min_gain,
            min_plan_gain=self.min_plan_gain,
            optimal_limit=self.optimal_limit,
            optimal_seconds=self.optimal_seconds,
            cost_weight=self.cost_weight,
            migration_bandwidth=self.migration_bandwidth,
            migration_timeout_seconds=self.migration_timeout_seconds,
            migration_timeout_per_gib=self.migration_timeout_per_gib,
            unexplained_load=self.unexplained_load,
            plateau_moves=self.plateau_moves,
            swap_moves=self.swap_moves,
            tie_break=self.tie_break,
            repeat_moves=self.repeat_moves,
            exhaust=self.exhaust,
        )


@dataclass
class Meta:
    """``meta.json``."""

    __pydantic_config__ = STRICT

    format_version: int
    recorded_at: str
    """For people: ISO 8601."""
    taken_at: float
    """The same in Unix seconds."""
    made_by: str
    strategy: str
    request: RequestRow
    settings: SettingsRow
    configured: SettingsRow | None
    max_concurrent_migrations: int
    anonymized: bool
    warnings: list[str]
    unknown: list[str] = field(default_factory=list)
    exclusions_unknown: str = ''
    """Why ``exclude_hosts_query`` was not answered; '' if it was."""
    failures_unknown: str | None = None
    """The same of ``host_fault_query`` and ``server_fault_query``; None:
    nobody asked them."""


META = first_fault.adapter(Meta, most=MAX_ROWS)
