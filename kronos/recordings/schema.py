# SPDX-License-Identifier: Apache-2.0
"""The schemas of a recording's files: their rows, and their bounds."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pydantic

from kronos.clients.nova.rows import HostAggregate
from kronos.engine.eligibility.overrides import FOR_EVER
from kronos.engine.settings import Settings
from kronos.engine.types import (
    ComputeService,
    Event,
    Headroom,
    Health,
    Host,
    Instance,
    Reading,
    Sample,
    Seeds,
    ServerGroup,
)
from kronos.recordings.safe_files import STRICT
from kronos.snapshots.scopes import ScopeRequest

FORMAT_VERSION = 1
MOST = 2**40
"""Largest amount of anything; sums of it still fit into 64 bits."""
END_OF_TIME = 253402300799.0
"""The last second that a date can tell, in Unix seconds."""
_NOT_NUMBERS = {'NaN': math.nan, '+Inf': math.inf, '-Inf': -math.inf}
"""As Prometheus writes them; JSON has none of them."""


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
    request: ScopeRequest
    settings: Settings
    configured: Settings | None
    max_concurrent_migrations: int
    anonymized: bool
    warnings: list[str]
    unknown: list[str] = field(default_factory=list)


@dataclass
class HostRow:
    """A row of ``nova/hosts.json``."""

    name: str
    planned: bool
    """Whether its type is one of ``hypervisor_types``."""
    node: str = ''
    hypervisor_type: str = ''
    availability_zone: str = ''
    cell: str = ''
    closed: str = ''
    frozen: str = ''

    @classmethod
    def of(cls, host: Host, planned: bool) -> 'HostRow':
        return cls(
            host.name,
            planned,
            host.node,
            host.hypervisor_type,
            host.availability_zone,
            host.cell,
            host.closed,
            host.frozen,
        )

    def host(self) -> Host:
        return Host(
            self.name,
            self.node,
            self.hypervisor_type,
            self.availability_zone,
            closed=self.closed,
            frozen=self.frozen,
            cell=self.cell,
        )


@dataclass
class SampleRow:
    label: str
    value: float | Literal['NaN', '+Inf', '-Inf']
    timestamp: float
    series: str = ''


@dataclass
class ReadingFile:
    """A file of ``prometheus``."""

    __pydantic_config__ = STRICT

    query: str
    label: str
    health: Health
    samples: list[SampleRow]
    error: str = ''
    is_away: bool = False

    @classmethod
    def of(
        cls, reading: Reading, label: str, repeated: Collection[str]
    ) -> 'ReadingFile':
        """:param repeated: names that several instances have"""
        counts = Counter(one.label for one in reading.samples)
        # Only of series that are confused does a message tell the labels,
        # and does planning look at the label of the host.
        rows = [
            SampleRow(
                one.label,
                _written(one.value),
                one.timestamp,
                one.series
                if counts[one.label] > 1 or one.label in repeated
                else '',
            )
            for one in reading.samples
        ]
        return cls(
            reading.query,
            label,
            reading.health,
            rows,
            reading.error,
            reading.is_away,
        )

    def reading(self) -> Reading:
        samples = [
            Sample(one.label, _read(one.value), one.timestamp, one.series)
            for one in self.samples
        ]
        return Reading(
            self.query, self.health, samples, self.error, self.is_away
        )


def _written(value: float) -> Any:
    if math.isfinite(value):
        return value
    return next(
        name for name, one in _NOT_NUMBERS.items() if str(one) == str(value)
    )


def _read(value: float | str) -> float:
    return _NOT_NUMBERS[value] if isinstance(value, str) else value


def _adapter(kind: Any) -> pydantic.TypeAdapter[Any]:
    return pydantic.TypeAdapter(kind, config=STRICT)


META = pydantic.TypeAdapter(Meta)
READING = pydantic.TypeAdapter(ReadingFile)
HOSTS = _adapter(list[HostRow])
SERVICES = _adapter(list[ComputeService] | None)
AGGREGATES = _adapter(list[HostAggregate])
INSTANCES = _adapter(list[Instance])
GROUPS = _adapter(list[ServerGroup])
EVENTS = _adapter(list[Event])
HEADROOM = _adapter(dict[str, dict[str, Headroom]])
TRAITS = _adapter(dict[str, list[str]])
SECTIONS = _adapter(dict[str, Any])
SECONDS = _adapter(dict[str, float])


def too_much(
    rows: Iterable[Any], fields: Sequence[str], least: int = 0
) -> str:
    """The first amount out of bounds as ``[3].vcpus: ...``; '' if none."""
    for at, row in enumerate(rows):
        for name in fields:
            if not least <= getattr(row, name) <= MOST:
                return (
                    f'[{at}].{name}: must be at least {least} and at most '
                    f'{MOST}'
                )
    return ''


def repeated(rows: Iterable[Any], name: str) -> str:
    """The first value that two rows share, as a fault; '' if none."""
    seen: set[Any] = set()
    for at, row in enumerate(rows):
        value = getattr(row, name)
        if value in seen:
            return f'[{at}].{name}: {value:.80} is there twice'
        seen.add(value)
    return ''


def seeds(sections: dict[str, Any]) -> Seeds:
    """What ``cooldowns.json`` says; comments begin with ``_``.

    :raises ValueError: names the section or the entry that is wrong
    """
    found = Seeds()
    for section, values in sections.items():
        if section.startswith('_'):
            continue
        if not hasattr(found, section):
            raise ValueError(
                f'{section:.80}: there is no such section; known: '
                'aggregate_cooldowns, instance_cooldowns, '
                'instance_quarantines'
            )
        try:
            seconds = SECONDS.validate_python(values)
        except pydantic.ValidationError:
            raise ValueError(
                f'{section}: must be a mapping of names to seconds'
            ) from None
        for name, left in seconds.items():
            if left < 0.0 and left != FOR_EVER:
                raise ValueError(
                    f'{section}.{name:.80}: must be seconds of at least 0, or '
                    '-1 in instance_quarantines'
                )
        setattr(found, section, seconds)
    return found
