# SPDX-License-Identifier: Apache-2.0
"""The schemas of kronos-openstack's files."""

from dataclasses import dataclass, field
from typing import Any

import pydantic

from kronos.common import first_fault
from kronos.engine.types import ComputeService, Health, Instance, ServerGroup
from kronos.recordings.safe_files import MAX_ROWS, MAX_TEXT

TOLERANT = pydantic.ConfigDict(
    strict=True, extra='ignore', allow_inf_nan=False, str_max_length=MAX_TEXT
)
CPU_TRAITS = 'placement/cpu_traits.json'


@dataclass
class LegacyMeta:
    __pydantic_config__ = TOLERANT

    recorded_at: str | None = None
    aggregates: list[str] | None = None


@dataclass
class LegacyInstanceRow:
    uuid: str
    flavor_vcpus: int
    flavor_ram_mb: int
    name: str | None = ''
    internal_name: str | None = ''
    status: str = 'ACTIVE'
    server_groups: list[str] | None = None

    def instance(self, host: str) -> Instance:
        return Instance(
            self.uuid,
            host,
            self.name or '',
            self.internal_name or '',
            self.flavor_vcpus,
            self.flavor_ram_mb,
            status=self.status,
        )


@dataclass
class LegacyGroupRow:
    """``policy`` and ``rules`` of Nova 2.64, or ``policies``."""

    id: str
    name: str | None = ''
    policy: str | None = None
    policies: list[str] | None = None
    rules: dict[str, Any] | None = None
    members: list[str] | None = None

    def group(self, also: list[str]) -> ServerGroup:
        """:param also: uuids that say themselves that they are in it"""
        members = dict.fromkeys([*(self.members or ()), *also])
        most = (self.rules or {}).get('max_server_per_host', 1)
        return ServerGroup(
            self.id,
            self.policy or next(iter(self.policies or ()), ''),
            list(members),
            self.name or '',
            most if type(most) is int else 0,
        )


@dataclass
class LegacyServiceRow:
    host: str
    binary: str = 'nova-compute'
    state: str | None = None
    status: str | None = None
    zone: str | None = ''
    disabled_reason: str | None = ''
    forced_down: bool | None = False

    def service(self) -> ComputeService:
        return ComputeService(
            self.host,
            self.binary,
            self.state,
            self.status,
            self.zone or '',
            self.disabled_reason or '',
            bool(self.forced_down),
        )


@dataclass
class LegacyReadingFile:
    __pydantic_config__ = TOLERANT

    query: str
    health: Health = Health.HEALTHY
    series: dict[str, float | None] = field(default_factory=dict)
    warnings: list[Any] = field(default_factory=list)


def _adapter(kind: Any) -> pydantic.TypeAdapter[Any]:
    return first_fault.adapter(kind, TOLERANT, MAX_ROWS)


META = first_fault.adapter(LegacyMeta, most=MAX_ROWS)
READING = first_fault.adapter(LegacyReadingFile, most=MAX_ROWS)
AGGREGATES = _adapter(dict[str, list[str]])
INSTANCES = _adapter(dict[str, list[LegacyInstanceRow]])
GROUPS = _adapter(list[LegacyGroupRow])
SERVICES = _adapter(list[LegacyServiceRow])
TRAITS = _adapter(dict[str, list[str]])
