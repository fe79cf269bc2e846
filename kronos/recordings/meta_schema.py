# SPDX-License-Identifier: Apache-2.0
"""The schema of a recording's meta.json: what was asked for, and how."""

import dataclasses
import functools
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, make_dataclass
from typing import Any, Self, TypeVar

import pydantic

from kronos.common import first_fault
from kronos.engine.extension import PLAIN, Extension
from kronos.engine.settings import PlainSettings, Settings, UnexplainedLoad
from kronos.options import extensions
from kronos.recordings import parts, schema
from kronos.recordings.parts import Keys, RecordingPart
from kronos.recordings.safe_files import MAX_ROWS, STRICT
from kronos.snapshots.scopes import AggregateRef, ScopeRequest

T = TypeVar('T')

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

    @classmethod
    def of(cls, request: ScopeRequest) -> Self:
        return schema.copied(
            request,
            cls,
            aggregates=_ref_rows(request.aggregates),
            excluded_aggregates=_ref_rows(request.excluded_aggregates),
            **_joined(part.request_values(request) for part in parts.every()),
        )

    def request(self) -> ScopeRequest:
        return schema.copied(
            self,
            ScopeRequest,
            aggregates=_refs(self.aggregates),
            excluded_aggregates=_refs(self.excluded_aggregates),
            **_joined(part.request_fields(self) for part in parts.every()),
        )


def _joined(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {key: value for row in rows for key, value in row.items()}


@dataclass
class ExtensionRow:
    """What an audit asks of an extension, in plain values."""

    name: str
    asked: Any = None

    @classmethod
    def of(cls, extension: Extension) -> 'ExtensionRow | None':
        if not extension.name or parts.has_keys(extension):
            return None
        return cls(extension.name, extension.asked)


_BESIDE: Any = make_dataclass('Beside', [], bases=extensions.classes())


@dataclass
class SettingsRow(PlainSettings, _BESIDE):  # type: ignore[misc]
    """What was planned with, or what ``[kronos]`` said."""

    unexplained_load: UnexplainedLoad = UnexplainedLoad.FOLLOWS
    """As all was planned before there was a choice."""
    extension: ExtensionRow | None = None
    """Not one that has keys of its own."""

    @classmethod
    def of(cls, settings: Settings) -> Self:
        beside: dict[str, Any] = {}
        for kind in extensions.classes():
            beside |= vars(settings.options(kind))
        return schema.copied(
            settings,
            cls,
            **beside,
            extension=ExtensionRow.of(settings.extension),
            **_joined(
                part.settings_values(settings) for part in parts.every()
            ),
        )

    def _extension(self) -> Extension:
        own = (part.extension(self) for part in parts.every())
        if extension := next(filter(None, own), None):
            return extension
        if self.extension is None:
            return PLAIN
        return parts.made(self.extension.name, self.extension.asked)

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


@dataclass(frozen=True)
class Schemas:
    """The rows with the keys that extensions add to them."""

    request: type[RequestRow]
    settings: type[SettingsRow]
    meta: type[Meta]
    file: pydantic.TypeAdapter[Meta]


def schemas() -> Schemas:
    """Those with the extensions that are installed."""
    return _schemas(tuple(parts.every()))


@functools.cache
def _schemas(every: Collection[RecordingPart]) -> Schemas:
    request = _with(RequestRow, [part.request for part in every])
    settings = _with(SettingsRow, [part.settings for part in every])
    nested: Keys = {
        'request': (request, dataclasses.MISSING),
        'settings': (settings, dataclasses.MISSING),
        'configured': (settings | None, dataclasses.MISSING),
    }
    meta = _with(Meta, [nested, *(part.meta for part in every)])
    file = first_fault.adapter(meta, most=MAX_ROWS)
    return Schemas(request, settings, meta, file)


def _with(kind: type[T], keys: Iterable[Keys]) -> type[T]:
    """The same row with more keys, and with other types of some."""
    fields = [
        (key, of_key, dataclasses.field(default=default))
        for each in keys
        for key, (of_key, default) in each.items()
    ]
    return dataclasses.make_dataclass(kind.__name__, fields, bases=(kind,))


def left_out() -> tuple[set[str], set[str], set[str]]:
    """Keys of the meta, a request and settings that are no null."""
    every = parts.every()
    return (
        _optional(part.meta for part in every),
        _optional(part.request for part in every),
        {'extension', *_optional(part.settings for part in every)},
    )


def _optional(keys: Iterable[Keys]) -> set[str]:
    return {
        key
        for each in keys
        for key, (_, default) in each.items()
        if default is None
    }
