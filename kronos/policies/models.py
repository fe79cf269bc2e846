# SPDX-License-Identifier: Apache-2.0
"""The policies file as data: every field, its default and its limits."""

import math
from enum import StrEnum
from typing import Annotated, Self

import pydantic


class Mode(StrEnum):
    SPREAD = 'spread'
    PACK = 'pack'


class LabelType(StrEnum):
    """What the values of ``vm_profile_label`` are (C8)."""

    NOVA_INTERNAL_NAME = 'nova_internal_name'
    NOVA_INSTANCE_UUID = 'nova_instance_uuid'
    NOVA_DISPLAY_NAME = 'nova_display_name'


class Fallback(StrEnum):
    """What an instance without a series weighs (C9)."""

    SKIP = 'skip'
    FLAVOR_VCPU_RATIO = 'flavor_vcpu_ratio'
    HOST_AVERAGE = 'host_average'


Name = Annotated[str, pydantic.Field(pattern=r'^[a-z0-9][a-z0-9_-]*$')]
Query = Annotated[
    str, pydantic.StringConstraints(strip_whitespace=True, min_length=1)
]
Ratio = Annotated[float, pydantic.Field(ge=0.0, le=1.0)]
WEIGHT_TOLERANCE = 1e-6


class Policy(pydantic.BaseModel):
    """One quantity to keep even, or packed, over the hosts of a scope."""

    model_config = pydantic.ConfigDict(extra='forbid')

    name: Name
    mode: Mode
    weight: Ratio
    enabled: bool = True
    imbalance_query: Query
    """PromQL: one series per host, its value in [0, 1]."""
    host_label: Query = 'host'
    vm_profile_query: Query
    """PromQL: one series per instance: its share of its host's score, or,
    with ``host_capacity_query``, its usage in that query's unit."""
    vm_profile_label: Query = 'instance_name'
    vm_profile_label_type: LabelType = LabelType.NOVA_INTERNAL_NAME
    vm_profile_fallback: Fallback = Fallback.SKIP
    host_capacity_query: Query | None = None
    """PromQL: one series per host: what a usage is divided by."""
    threshold: Ratio = 0.15
    """Largest max - min over the hosts that is left alone."""
    capacity_query: Query | None = None
    capacity_threshold: Ratio = 0.80
    max_migrations_per_cycle: Annotated[int, pydantic.Field(ge=1, le=100)] = 3

    @pydantic.model_validator(mode='after')
    def _pack_needs_capacity(self) -> Self:
        if self.mode is Mode.PACK and self.capacity_query is None:
            raise ValueError('capacity_query is required in mode pack')
        return self


class PolicyFile(pydantic.BaseModel):
    """The whole file: ``policies``, all of one mode, weights summing to 1."""

    model_config = pydantic.ConfigDict(extra='forbid')

    policies: Annotated[list[Policy], pydantic.Field(min_length=1)]

    @property
    def enabled(self) -> list[Policy]:
        return [policy for policy in self.policies if policy.enabled]

    @pydantic.model_validator(mode='after')
    def _fit_together(self) -> Self:
        names = [policy.name for policy in self.policies]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(
                f'name: {", ".join(twice)} is used more than once; '
                'names must be unique'
            )
        if len({policy.mode for policy in self.policies}) > 1:
            raise ValueError('mode: all policies must have the same mode')
        if not self.enabled:
            raise ValueError('enabled: at least one policy must be enabled')
        total = math.fsum(policy.weight for policy in self.enabled)
        if abs(total - 1.0) > WEIGHT_TOLERANCE:
            raise ValueError(
                'weight: the weights of the enabled policies sum to '
                f'{total:g}; they must sum to 1'
            )
        return self
