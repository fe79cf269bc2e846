# SPDX-License-Identifier: Apache-2.0
"""The schema of a load: what ``meta.json`` of its directory says."""

from dataclasses import dataclass, field
from typing import Annotated

import pydantic

from kronos.common import first_fault
from kronos.recordings import schema
from kronos.recordings.safe_files import MAX_ROWS, STRICT

FORMAT_VERSION = 'load/1'
META = 'meta.json'
RECORDING = 'recording'
"""The directory with a recording of the moment at which it was fetched."""
PLACEMENT = 'placement.npy'
"""int32 by tick and server: index of its host, -1: there was none."""
MOST_TICKS = 100_000
LONGEST_STEP = 86_400

Seconds = Annotated[float, pydantic.Field(ge=0.0, le=schema.END_OF_TIME)]
Amount = Annotated[int, pydantic.Field(ge=0, le=schema.MOST)]


def usage_file(policy: str) -> str:
    """float32 by tick and server: raw, in the unit of its profile query."""
    return f'usage-{policy}.npy'


def remainder_file(policy: str) -> str:
    """float32 by tick and host: what is of no server, and stays there."""
    return f'remainder-{policy}.npy'


def capacity_file(policy: str) -> str:
    """float32 by host: what a usage is divided by."""
    return f'capacity-{policy}.npy'


@dataclass
class ServerRow:
    """An element of ``instances``: a server that lived at any tick.

    One that is in the recording as well has there what this lacks.
    """

    uuid: str
    name: str = ''
    vcpus: Amount = 0
    memory_mb: Amount = 0
    disk_gb: Amount = 0
    flavor: str = ''
    project_id: str = ''
    group: str | None = None
    """Uuid of its server group, which is in the recording."""
    host_at_start: str | None = None
    """None: it was born later, or nobody knows."""
    internal_name: str = ''
    extra_specs: dict[str, str] = field(default_factory=dict)
    pinned_availability_zone: str | None = None
    is_volume_backed: bool = False
    dirty_rate: Annotated[float, pydantic.Field(ge=0.0)] = 0.0
    born: Seconds | None = None
    """When Nova created it, in Unix seconds; None: as the placement says."""
    gone: Seconds | None = None
    """When it was deleted, likewise."""


@dataclass
class PolicyRow:
    """A value of ``policies``."""

    window: str = 'now'
    """What its ``vm_profile_query`` makes of the raw usage; words of
    :mod:`kronos.policies.windows`."""
    host_window: str = ''
    """The same of its ``imbalance_query``; '': that of the servers."""


@dataclass
class Meta:
    """The file ``meta.json``."""

    __pydantic_config__ = STRICT

    format_version: str
    step: Annotated[int, pydantic.Field(ge=1, le=LONGEST_STEP)]
    """Seconds from tick to tick."""
    start: Seconds
    """Of tick 0, in Unix seconds."""
    ticks: Annotated[int, pydantic.Field(ge=2, le=MOST_TICKS)]
    hosts: list[str]
    """The columns of the hosts' arrays."""
    instances: list[ServerRow]
    """The columns of the servers' arrays."""
    policies: dict[str, PolicyRow]
    limits: list[str] = field(default_factory=list)
    """What the load cannot tell, as sentences."""
    made_by: str = ''
    anonymized: bool = False


META_FILE = first_fault.adapter(Meta, most=MAX_ROWS)


def fault_of(meta: Meta) -> str:
    """What is wrong with it beside its types; '': nothing."""
    if meta.format_version != FORMAT_VERSION:
        return (
            f'format_version: must be {FORMAT_VERSION}, the only one that is '
            f'known, is {meta.format_version:.20}'
        )
    if not meta.hosts or not meta.policies:
        return 'hosts and policies: each needs at least one'
    if len(set(meta.hosts)) < len(meta.hosts):
        return 'hosts: a name is there twice'
    fault = schema.repeated(meta.instances, 'uuid')
    return f'instances{fault}' if fault else ''
