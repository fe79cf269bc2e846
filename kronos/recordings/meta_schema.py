# SPDX-License-Identifier: Apache-2.0
"""The schema of a recording's meta.json: what was asked for, and how."""

from collections.abc import Iterable
from dataclasses import dataclass, field, make_dataclass
from typing import Any

from kronos.common import first_fault
from kronos.engine.extension import Extension
from kronos.engine.settings import PlainSettings, Settings, UnexplainedLoad
from kronos.extensions import registry
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import CellDrain
from kronos.extensions.cells.readings.cell_hosts import CellScope
from kronos.options import extensions
from kronos.recordings import cell_schema, schema
from kronos.recordings.safe_files import MAX_ROWS, STRICT
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
        cells = request.chosen
        return schema.copied(
            request,
            cls,
            cells=schema.copied(cells, cell_schema.CellScopeRow)
            if isinstance(cells, CellScope)
            else None,
            aggregates=_ref_rows(request.aggregates),
            excluded_aggregates=_ref_rows(request.excluded_aggregates),
        )

    def request(self) -> ScopeRequest:
        cells = self.cells
        return schema.copied(
            self,
            ScopeRequest,
            chosen=cells and schema.copied(cells, CellScope),
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


_BESIDE: Any = make_dataclass('Beside', [], bases=extensions.classes())


@dataclass
class SettingsRow(PlainSettings, _BESIDE):  # type: ignore[misc]
    """What was planned with, or what ``[kronos]`` said."""

    unexplained_load: UnexplainedLoad = UnexplainedLoad.FOLLOWS
    """As all was planned before there was a choice."""
    recover: bool = False
    cell_drain: cell_schema.CellDrainRow | None = None
    extension: ExtensionRow | None = None
    """Not one that has keys of its own."""

    @classmethod
    def of(cls, settings: Settings) -> 'SettingsRow':
        drain = cell_drain.of(settings)
        beside: dict[str, Any] = {}
        for kind in extensions.classes():
            beside |= vars(settings.options(kind))
        return schema.copied(
            settings,
            cls,
            **beside,
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
        settings = schema.copied(self, Settings, extension=self._extension())
        for kind in extensions.classes():
            settings.set_options(schema.copied(self, kind))
        return settings


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
