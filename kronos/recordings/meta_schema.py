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
from kronos.extensions.cells.cell_drain import CellDrain
from kronos.extensions.cells.recordings import cell_schema
from kronos.recordings import schema
from kronos.recordings.safe_files import MAX_ROWS, STRICT
from kronos.snapshots.cell_hosts import CellScope
from kronos.snapshots.scopes import AggregateRef, ScopeRequest

FORMAT_VERSION = 1


@dataclass
class AggregateRefRow:
    """An aggregate in a request, by its id or its name."""

    id: str = ''
    name: str = ''


def _ref_rows(
    refs: Iterable[str | AggregateRef],
) -> list[str | AggregateRefRow]:
    return [
        ref if isinstance(ref, str) else schema.copied(ref, AggregateRefRow)
        for ref in refs
    ]


def _refs(rows: Iterable[str | AggregateRefRow]) -> list[str | AggregateRef]:
    return [
        row if isinstance(row, str) else schema.copied(row, AggregateRef)
        for row in rows
    ]


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
        return schema.copied(
            request,
            cls,
            cells=cells and schema.copied(cells, cell_schema.CellScopeRow),
            aggregates=_ref_rows(request.aggregates),
            excluded_aggregates=_ref_rows(request.excluded_aggregates),
        )

    def request(self) -> ScopeRequest:
        cells = self.cells
        return schema.copied(
            self,
            ScopeRequest,
            cells=cells and schema.copied(cells, CellScope),
            aggregates=_refs(self.aggregates),
            excluded_aggregates=_refs(self.excluded_aggregates),
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
        drain = cell_drain.of(settings)
        return schema.copied(
            settings,
            cls,
            cell_drain=drain
            and schema.copied(drain, cell_schema.CellDrainRow),
            recover=settings.extension.name == 'recovery',
            extension=ExtensionRow.of(settings.extension),
        )

    def _extension(self) -> Extension:
        if self.cell_drain is not None:
            drain = schema.copied(self.cell_drain, CellDrain)
            return registry.make('cells', drain)
        if self.extension is not None:
            return registry.make(self.extension.name, self.extension.asked)
        return registry.make('recovery' if self.recover else '')

    def settings(self) -> Settings:
        return schema.copied(self, Settings, extension=self._extension())


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
