# SPDX-License-Identifier: Apache-2.0
"""The event rules as data: every field, its default and its limits.

A field's description is its rule as a user reads it in an error message,
after the words "must be".
"""

from enum import StrEnum
from typing import Annotated, Any

import pydantic

from kronos.monitor.events import Kind

MAX_RULES = 1000


class Action(StrEnum):
    SEND = 'send'
    DROP = 'drop'


class Severity(StrEnum):
    """The least severe first."""

    INFO = 'info'
    WARNING = 'warning'
    ERROR = 'error'
    CRITICAL = 'critical'

    @property
    def rank(self) -> int:
        return [*Severity].index(self)


def listed(value: Any) -> Any:
    """A single text stands for a list of it.

    :raises ValueError: nothing is given, which would match everything
    """
    if value is None:
        raise ValueError('nothing is given')
    return [value] if isinstance(value, str) else value


Name = Annotated[
    str,
    pydantic.Field(
        pattern=r'^[a-z0-9][a-z0-9_-]*$',
        max_length=64,
        description='at most 64 lowercase letters, digits, "-" and "_", and '
        'start with a letter or a digit',
    ),
]
_Glob = Annotated[str, pydantic.Field(min_length=1, max_length=255)]
Globs = Annotated[
    Annotated[list[_Glob], pydantic.Field(min_length=1, max_length=1000)]
    | None,
    pydantic.BeforeValidator(listed),
    pydantic.Field(
        description='a list of patterns, in which * stands for any text and '
        '? for any character'
    ),
]
Sinks = Annotated[
    Annotated[list[str], pydantic.Field(min_length=1)] | None,
    pydantic.BeforeValidator(listed),
    pydantic.Field(description='a list of names of [kronos_monitor] sinks'),
]
_KINDS = ', '.join(Kind)


def _one_of(values: type[StrEnum]) -> Any:
    return pydantic.Field(
        strict=False, description=f'one of {", ".join(values)}'
    )


class Match(pydantic.BaseModel):
    """What an incident must have; what is left out may be anything."""

    model_config = pydantic.ConfigDict(extra='forbid', strict=True)

    kind: Annotated[
        Annotated[
            list[Annotated[Kind, pydantic.Field(strict=False)]],
            pydantic.Field(min_length=1),
        ]
        | None,
        pydantic.BeforeValidator(listed),
        pydantic.Field(description=f'a list of {_KINDS}'),
    ] = None
    event: Globs = None
    detail: Globs = None
    instance: Globs = None
    """The UUID."""
    name: Globs = None
    """The hypervisor's, or Nova's display name."""
    project: Globs = None
    """The UUID, or the name."""
    flavor: Globs = None
    extra_specs: Globs = None
    """``key=value``."""
    image: Globs = None
    """The UUID, or ``property=value``."""
    host: Globs = None


class Rule(pydantic.BaseModel):
    """One rule. Nothing is coerced: ``dedup_seconds: "30"`` is refused."""

    model_config = pydantic.ConfigDict(extra='forbid', strict=True)

    name: Name
    match: Annotated[
        Match, pydantic.Field(description='a mapping of fields')
    ] = Match()
    action: Annotated[Action, _one_of(Action)]
    severity: Annotated[Severity, _one_of(Severity)] = Severity.ERROR
    sinks: Sinks = None
    """None: all."""
    dedup_seconds: Annotated[
        float,
        pydantic.Field(
            ge=0,
            le=86400,
            allow_inf_nan=False,
            description='a number of seconds from 0 to 86400',
        ),
    ] = 0
    """For so long a further incident of the same kind of the same instance
    is not sent."""


class RuleFile(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra='forbid', strict=True)

    rules: Annotated[
        list[Rule],
        pydantic.Field(
            min_length=1,
            max_length=MAX_RULES,
            description=f'a list of 1 to {MAX_RULES} rules',
        ),
    ]
