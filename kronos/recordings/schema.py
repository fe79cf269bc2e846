# SPDX-License-Identifier: Apache-2.0
"""The schemas of a recording's answers and events, and the bounds of all.

The rows are the format's own, as those of the inventory and of ``meta.json``.
"""

import dataclasses
import datetime
import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

import pydantic

from kronos.common import first_fault
from kronos.common.names import near_names
from kronos.engine.eligibility.overrides import FOR_EVER
from kronos.engine.types import (
    ClockDifference,
    Health,
    Origin,
    Outcome,
    Reading,
    Sample,
    Seeds,
)
from kronos.recordings.safe_files import MAX_ROWS, STRICT

T = TypeVar('T')

MOST = 2**40
"""Largest amount of anything; sums of it still fit into 64 bits."""
END_OF_TIME = 253402300799.0
"""The last second that a date can tell, in Unix seconds."""
COOLDOWNS = (
    'aggregate_cooldowns',
    'instance_cooldowns',
    'instance_quarantines',
)
"""The sections of ``cooldowns.json``."""
_NOT_NUMBERS = {'NaN': math.nan, '+Inf': math.inf, '-Inf': -math.inf}
"""As Prometheus writes them; JSON has none of them."""
Number = float | Literal['NaN', '+Inf', '-Inf']
"""What Prometheus gives; JSON knows some of its numbers only as text."""


def seconds_of(text: str) -> float:
    """The Unix seconds of a time in ISO 8601, by default in UTC.

    :raises ValueError: it is none since 1970
    """
    moment = datetime.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    try:
        seconds = moment.timestamp()
    except OverflowError:
        seconds = -1.0
    if not 0.0 <= seconds <= END_OF_TIME:
        raise ValueError(text)
    return seconds


def copied(source: object, kind: type[T], **differing: Any) -> T:
    """An object of ``kind`` with the values of ``source``, by field.

    A field that ``source`` lacks has its default. Values are shared.

    :param kind: a dataclass
    :param differing: values of fields that are not those of ``source``
    """
    values = {
        field.name: getattr(source, field.name)
        for field in dataclasses.fields(cast(Any, kind))
        if field.name not in differing and hasattr(source, field.name)
    }
    return kind(**values, **differing)


def copies(sources: Iterable[object], kind: type[T]) -> list[T]:
    """The same of each."""
    return [copied(source, kind) for source in sources]


@dataclass
class SampleRow:
    """An element of ``samples``."""

    label: str
    value: Number
    timestamp: float
    series: str = ''


@dataclass
class ClockRow:
    """``clock`` of an answer: one moment by both clocks, in Unix seconds."""

    there: float
    here: float


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
    incomplete: str = ''
    unlabelled: int = 0
    unlabelled_series: str = ''
    clock: ClockRow | None = None

    @classmethod
    def of(
        cls, reading: Reading, label: str, repeated: Collection[str]
    ) -> 'ReadingFile':
        """:param repeated: names that several instances have"""
        counts = Counter(sample.label for sample in reading.samples)
        # Only of series that are confused does a message tell the labels,
        # and does planning look at the label of the host.
        rows = [
            copied(
                sample,
                SampleRow,
                value=written(sample.value),
                series=sample.series
                if counts[sample.label] > 1 or sample.label in repeated
                else '',
            )
            for sample in reading.samples
        ]
        clock = reading.clock
        return copied(
            reading,
            cls,
            label=label,
            samples=rows,
            clock=clock and copied(clock, ClockRow),
        )

    def reading(self) -> Reading:
        samples = [
            copied(row, Sample, value=read(row.value)) for row in self.samples
        ]
        clock = self.clock
        return copied(
            self,
            Reading,
            samples=samples,
            clock=clock and copied(clock, ClockDifference),
        )


@dataclass
class EventRow:
    """A row of ``nova/migrations.json`` and ``watcher/history.json``."""

    instance: str
    source: str
    destination: str
    outcome: Outcome
    at: float
    origin: Origin
    scope: str = ''
    error_type: str = ''
    fault: str = ''
    status: str = ''
    plan: str = ''
    began: float = 0.0
    phase: str = ''
    is_resize: bool = False
    seconds: float = 0.0


@dataclass
class DisruptionRow:
    """A row of ``nova/disruptions.json``."""

    instance: str
    project: str = ''
    started: float | None = None
    is_under_way: bool = False


@dataclass
class EffectRow:
    """A row of ``watcher/effects.json``."""

    scope: str
    policy: str
    ratio: float
    plans: int
    former: int = 0


def written(value: float | None) -> Any:
    """A number of Prometheus as JSON can tell it, if there is one."""
    if value is None or math.isfinite(value):
        return value
    return next(
        name
        for name, number in _NOT_NUMBERS.items()
        if str(number) == str(value)
    )


def read(value: float | str | None) -> float | None:
    """The same as a number."""
    return _NOT_NUMBERS[value] if isinstance(value, str) else value


def adapter(kind: Any) -> pydantic.TypeAdapter[Any]:
    """Of a file that holds rows, and nothing else."""
    return first_fault.adapter(kind, STRICT, MAX_ROWS)


READING = first_fault.adapter(ReadingFile, most=MAX_ROWS)
EVENTS = adapter(list[EventRow])
DISRUPTIONS = adapter(list[DisruptionRow])
EFFECTS = adapter(list[EffectRow])
SECTIONS = adapter(dict[str, Any])
SECONDS = adapter(dict[str, float])


def too_much(
    rows: Iterable[Any], fields: Sequence[str], least: int = 0
) -> str:
    """The first amount out of bounds as ``[3].vcpus: ...``; '' if none."""
    for number, row in enumerate(rows):
        for name in fields:
            if not least <= getattr(row, name) <= MOST:
                return (
                    f'[{number}].{name}: must be at least {least} and at most '
                    f'{MOST}'
                )
    return ''


def repeated(rows: Iterable[Any], name: str) -> str:
    """The first value that two rows share, as a fault; '' if none."""
    seen: set[Any] = set()
    for number, row in enumerate(rows):
        value = getattr(row, name)
        if value in seen:
            return f'[{number}].{name}: {value:.80} is there twice'
        seen.add(value)
    return ''


def seeds(sections: dict[str, Any]) -> Seeds:
    """What ``cooldowns.json`` says; comments begin with ``_``.

    :raises ValueError: names the section or the entry that is wrong
    """
    by_section: dict[str, dict[str, float]] = {name: {} for name in COOLDOWNS}
    for section, values in sections.items():
        if section.startswith('_'):
            continue
        if section not in by_section:
            raise ValueError(
                f'{section:.80}: there is no such section; '
                + near_names.of_fields(section, COOLDOWNS)
            )
        by_section[section] = _seconds(section, values)
    return Seeds(**by_section)


def _seconds(section: str, values: Any) -> dict[str, float]:
    try:
        by_name: dict[str, float] = SECONDS.validate_python(values)
    except pydantic.ValidationError:
        raise ValueError(
            f'{section}: must be a mapping of names to seconds'
        ) from None
    for name, seconds in by_name.items():
        if seconds < 0.0 and seconds != FOR_EVER:
            raise ValueError(
                f'{section}.{name:.80}: must be seconds of at least 0, or '
                '-1 in instance_quarantines'
            )
    return by_name
