# SPDX-License-Identifier: Apache-2.0
"""The policies file as data: every field, its default and its limits.

A field's description is its rule as a user reads it in an error message,
after the words "must be".
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Self

import pydantic

from kronos.policies import windows


class Mode(StrEnum):
    SPREAD = 'spread'
    PACK = 'pack'


class LabelType(StrEnum):
    """What the values of ``vm_profile_label`` are."""

    NOVA_INTERNAL_NAME = 'nova_internal_name'
    NOVA_INSTANCE_UUID = 'nova_instance_uuid'
    NOVA_DISPLAY_NAME = 'nova_display_name'


class Fallback(StrEnum):
    """What an instance without a series weighs."""

    SKIP = 'skip'
    FLAVOR_VCPU_RATIO = 'flavor_vcpu_ratio'
    HOST_AVERAGE = 'host_average'


def _one_of(values: type[StrEnum]) -> Any:
    return pydantic.Field(
        strict=False, description=f'one of {", ".join(values)}'
    )


Name = Annotated[
    str,
    pydantic.Field(
        pattern=r'^[a-z0-9][a-z0-9_-]*$',
        description='lowercase letters, digits, "-" and "_", and start with '
        'a letter or a digit',
    ),
]
Query = Annotated[
    str,
    pydantic.StringConstraints(strip_whitespace=True, min_length=1),
    pydantic.Field(description='a non-empty PromQL query'),
]
OptionalQuery = Annotated[
    Query | None, pydantic.Field(description='a non-empty PromQL query')
]
Label = Annotated[
    str,
    pydantic.StringConstraints(strip_whitespace=True, min_length=1),
    pydantic.Field(description='the non-empty name of a label'),
]
Ratio = Annotated[
    float,
    pydantic.Field(
        ge=0.0,
        le=1.0,
        allow_inf_nan=False,
        description='a number from 0 to 1',
    ),
]
Flag = Annotated[bool, pydantic.Field(description='true or false')]
Count = Annotated[
    int,
    pydantic.Field(ge=1, le=1000, description='a whole number from 1 to 1000'),
]
OptionalSeconds = Annotated[
    Annotated[
        float,
        pydantic.Field(ge=0.0, le=windows.LONGEST, allow_inf_nan=False),
    ]
    | None,
    pydantic.Field(description='a number of seconds from 0 to 604800'),
]
WEIGHT_TOLERANCE = 1e-6


class Policy(pydantic.BaseModel):
    """One quantity to keep even, or packed, over the hosts of a scope.

    Nothing is coerced: ``weight: "0.3"`` and ``enabled: 1`` are refused.
    """

    model_config = pydantic.ConfigDict(extra='forbid', strict=True)

    name: Name
    mode: Annotated[Mode, _one_of(Mode)]
    weight: Ratio
    enabled: Flag = True
    imbalance_query: Query
    """PromQL: one series per host, its value in [0, 1]."""
    host_label: Label = 'host'
    vm_profile_query: Query
    """PromQL: one series per instance: its share of its host's score, or,
    with ``host_capacity_query``, its usage in that query's unit."""
    vm_profile_label: Label = 'instance_name'
    vm_profile_label_type: Annotated[LabelType, _one_of(LabelType)] = (
        LabelType.NOVA_INTERNAL_NAME
    )
    vm_profile_fallback: Annotated[Fallback, _one_of(Fallback)] = Fallback.SKIP
    host_capacity_query: OptionalQuery = None
    """PromQL: one series per host: what a usage is divided by."""
    threshold: Ratio = 0.15
    """Largest max - min over the hosts that is left alone."""
    capacity_query: Annotated[
        OptionalQuery, pydantic.Field(validate_default=True)
    ] = None
    capacity_threshold: Ratio = 0.80
    relief_threshold: Ratio = 0.85
    """In mode pack: a host above it, and above ``capacity_threshold``, gives
    servers away; 1: none does."""
    metrics_window: OptionalSeconds = None
    """Over so many seconds the values of hosts are averages; None: as the
    ranges of their PromQL have it. 0: they show a move at once."""
    max_migrations_per_cycle: Count = 3

    @pydantic.field_validator('capacity_query')
    @classmethod
    def _pack_needs_capacity(
        cls, value: str | None, info: pydantic.ValidationInfo
    ) -> str | None:
        if value is None and info.data.get('mode') is Mode.PACK:
            raise ValueError('is required in mode pack')
        return value

    @property
    def relief_limit(self) -> float:
        """Above it pack relieves a host; infinite where it relieves none."""
        limit = self.relief_threshold
        if self.mode is not Mode.PACK or limit >= 1.0:
            return math.inf
        return max(limit, self.capacity_threshold)


@dataclass(frozen=True)
class PolicyQuery:
    """A query that a policy may have, for all who ask, record or change it."""

    field: str
    """Of the policy, as the next two; None there: it is not asked."""
    label: str
    """Names the label by which the answer tells its series apart."""
    reading: str
    """The answer's field of :class:`kronos.engine.types.PolicyReadings`."""
    file: str
    """What its file in a recording is called after the policy."""
    label_type: str = ''
    """Of the policy: which name of an instance the label's values are; '':
    they are hosts."""
    for_ceilings: bool = False
    """Whether it is asked only where capacity ceilings matter."""
    ranks_hosts: bool = False
    """Whether nova-scheduler's weigher asks it, too."""
    least: float = 0.0
    """What a host's value can be used from, and up to where."""
    most: float = 1.0
    default: float = 0.0
    """A value that can be used, where one has to be made up."""


QUERIES: Sequence[PolicyQuery] = (
    PolicyQuery(
        'imbalance_query',
        'host_label',
        'imbalance',
        'imbalance',
        ranks_hosts=True,
    ),
    PolicyQuery(
        'vm_profile_query',
        'vm_profile_label',
        'profile',
        'vm_profile',
        label_type='vm_profile_label_type',
    ),
    PolicyQuery(
        'host_capacity_query',
        'host_label',
        'host_capacity',
        'host_capacity',
        least=1e-9,
        most=math.inf,
        default=1.0,
    ),
    PolicyQuery(
        'capacity_query',
        'host_label',
        'capacity',
        'capacity',
        for_ceilings=True,
        ranks_hosts=True,
    ),
)
"""In the order in which they are asked."""


@dataclass(frozen=True)
class DirtyRateQuery:
    """Asks how fast the guest of each instance writes to its memory."""

    query: str
    """PromQL: one series per instance, in bytes per second."""
    label: str
    label_type: LabelType


class PolicyFile(pydantic.BaseModel):
    """The whole file: ``policies``, all of one mode, weights summing to 1.

    And how fast guests write to memory, if it tells.
    """

    model_config = pydantic.ConfigDict(extra='forbid', strict=True)

    policies: Annotated[
        list[Policy],
        pydantic.Field(
            min_length=1, description='a list with at least one policy'
        ),
    ]
    dirty_rate_query: OptionalQuery = None
    """PromQL: one series per instance, the bytes per second that its guest
    writes to memory."""
    dirty_rate_label: Label = 'instance_name'
    dirty_rate_label_type: Annotated[LabelType, _one_of(LabelType)] = (
        LabelType.NOVA_INTERNAL_NAME
    )

    @property
    def dirty_rates(self) -> DirtyRateQuery | None:
        if self.dirty_rate_query is None:
            return None
        return DirtyRateQuery(
            self.dirty_rate_query,
            self.dirty_rate_label,
            self.dirty_rate_label_type,
        )

    @property
    def enabled(self) -> list[Policy]:
        return [policy for policy in self.policies if policy.enabled]

    @property
    def mode(self) -> Mode:
        return self.policies[0].mode

    @pydantic.model_validator(mode='after')
    def _fit_together(self) -> Self:
        if faults := conflicts([dict(policy) for policy in self.policies]):
            raise ValueError('; '.join(faults))
        return self


def conflicts(rows: Sequence[Mapping[Any, Any]]) -> list[str]:
    """What is wrong between policies, each of them right or not.

    :param rows: a policy's fields each, validated or raw; what the faults
        of a single field make undecidable is not judged
    :return: faults as ``FIELD: RULE``
    """
    faults = []
    numbers_of: dict[str, list[str]] = {}
    for number, row in enumerate(rows, 1):
        name = row.get('name')
        if isinstance(name, str):
            numbers_of.setdefault(name, []).append(str(number))
    for name, places in numbers_of.items():
        if len(places) > 1:
            faults.append(
                f'name: {name} is used more than once (policies '
                f'{" and ".join(places)}), names must be unique'
            )
    modes = [row.get('mode') for row in rows]
    if all(mode in modes for mode in Mode):
        faults.append('mode: all policies must have the same mode')
    return faults + _weight_conflicts(rows)


def _weight_conflicts(rows: Sequence[Mapping[Any, Any]]) -> list[str]:
    flags = [row.get('enabled', True) for row in rows]
    if not rows or any(not isinstance(flag, bool) for flag in flags):
        return []
    if not any(flags):
        return ['enabled: at least one policy must be enabled']
    weights = [
        row.get('weight')
        for row, flag in zip(rows, flags, strict=True)
        if flag
    ]
    numbers = [
        weight
        for weight in weights
        if isinstance(weight, int | float)
        and not isinstance(weight, bool)
        and 0.0 <= weight <= 1.0
    ]
    total = math.fsum(numbers)
    if len(numbers) < len(weights) or abs(total - 1.0) <= WEIGHT_TOLERANCE:
        return []
    return [
        f'weight: the weights of the enabled policies sum to {total:.9g}, '
        'they must sum to 1'
    ]
