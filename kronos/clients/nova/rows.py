# SPDX-License-Identifier: Apache-2.0
"""The rows of Nova's API, in Kronos' words."""

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from kronos.clients.nova.progress import Progress
from kronos.clients.schema import seconds_of
from kronos.common import masking
from kronos.common.names.name_marks import (
    HostName,
    ScopeName,
    Text,
    Uuid,
    ZoneName,
)
from kronos.engine import types

Row = Mapping[str, Any]

PINNING_IMAGE_PROPERTIES = {
    'hw_cpu_policy': 'hw:cpu_policy',
    'hw_cpu_realtime_mask': 'hw:cpu_realtime_mask',
    'hw_emulator_threads_policy': 'hw:emulator_threads_policy',
    'hw_locked_memory': 'hw:locked_memory',
    'hw_mem_encryption': 'hw:mem_encryption',
    'hw_mem_page_size': 'hw:mem_page_size',
    'hw_numa_nodes': 'hw:numa_nodes',
    'hw_tpm_model': 'hw:tpm_model',
    'hw_tpm_version': 'hw:tpm_version',
}
"""Image properties that act like the extra spec beside them."""

_STAYED = frozenset({'cancelled', 'conflict', 'error', 'failed'})
OVER = _STAYED | {'completed', 'confirmed', 'done', 'reverted'}
"""Statuses after which nothing more happens to a migration."""

UNDER_WAY = (
    'accepted',
    'pre-migrating',
    'queued',
    'preparing',
    'running',
    'running (post-copy)',
    'migrating',
    'post-migrating',
    'reverting',
)
"""Statuses of a migration of any type that moves its server still."""
_ARRIVED = frozenset(
    {'completed', 'confirmed', 'confirming', 'done', 'finished', 'reverted'}
)
"""A cold migration that waits for its confirmation has arrived, too; one that
was reverted has arrived where it came from."""


@dataclass
class HostAggregate:
    """A Nova host aggregate; an availability zone is one too."""

    id: int
    name: ScopeName
    uuid: Uuid = ''
    hosts: list[HostName] = field(default_factory=list)
    metadata: dict[Text, Text] = field(default_factory=dict)
    availability_zone: ZoneName = ''


@dataclass
class MigrationStatus:
    """A live migration as Nova sees it now.

    ``uuid`` is empty and ``id`` None while Nova has accepted the request
    but not made a migration of it yet. Ids repeat between cells.
    """

    instance: str
    status: str
    uuid: str = ''
    id: int | None = None
    source: str = ''
    destination: str = ''
    created_at: float = 0.0
    updated_at: float = 0.0
    progress: Progress | None = None
    """Of a running or post-migrating one; None where Nova tells none."""

    @property
    def is_over(self) -> bool:
        return self.status in OVER


class AbortOutcome(StrEnum):
    """What became of the request to abort a migration."""

    ABORTING = 'aborting'
    """Nova took it; the migration ends as ``cancelled``."""
    OVER = 'over'
    """Too late: the migration ended by itself, or its server is gone."""
    REFUSED = 'refused'
    """Nova cannot abort it in the state that it is in."""


@dataclass
class AbortResult:
    outcome: AbortOutcome
    text: str = ''
    """What Nova said, unless it accepted."""


def time_of(seconds: float) -> str:
    """A time in the format that Nova's filters take, in UTC."""
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.strftime('%Y-%m-%dT%H:%M:%SZ')


def host(row: Row) -> types.Host:
    """A row of ``os-hypervisors/detail``."""
    return types.Host(
        name=row['service']['host'],
        node=row['hypervisor_hostname'],
        hypervisor_type=row['hypervisor_type'],
        hypervisor_version=row.get('hypervisor_version', 0),
    )


def service(row: Row) -> types.ComputeService:
    """A row of ``os-services``; of a down cell's only parts exist."""
    reason = row.get('disabled_reason')
    return types.ComputeService(
        host=row['host'],
        binary=row['binary'],
        state=row.get('state'),
        status=row.get('status'),
        zone=row.get('zone') or '',
        disabled_reason=masking.masked(reason) if reason else '',
        forced_down=bool(row.get('forced_down', False)),
    )


def aggregate(row: Row) -> HostAggregate:
    """A row of ``os-aggregates``."""
    return HostAggregate(
        id=row['id'],
        name=row['name'],
        uuid=row.get('uuid') or '',
        hosts=list(row['hosts']),
        metadata=dict(row['metadata']),
        availability_zone=row.get('availability_zone') or '',
    )


def instance(row: Row) -> types.Instance:
    """A server with details, at 2.47 or later."""
    flavor = row['flavor']
    return types.Instance(
        uuid=row['id'],
        host=row.get('OS-EXT-SRV-ATTR:host') or '',
        name=row.get('name') or '',
        internal_name=row.get('OS-EXT-SRV-ATTR:instance_name') or '',
        vcpus=flavor['vcpus'],
        memory_mb=flavor['ram'],
        disk_gb=_local_disk_gb(row),
        status=row['status'],
        task_state=row.get('OS-EXT-STS:task_state'),
        power_state=row.get('OS-EXT-STS:power_state') or 0,
        locked=bool(row.get('locked', False)),
        metadata=dict(row.get('metadata') or {}),
        tags=list(row.get('tags') or []),
        extra_specs=_extra_specs(row),
        pinned_availability_zone=row.get('pinned_availability_zone'),
        project_id=row.get('tenant_id') or '',
        flavor=flavor.get('original_name') or '',
        root_gb=flavor.get('disk', 0),
        ephemeral_gb=flavor.get('ephemeral', 0),
        swap_mb=flavor.get('swap') or 0,
        is_volume_backed=_is_volume_backed(row),
        has_key=bool(row.get('key_name')),
        created=seconds_of(row.get('created')),
    )


def flavor(row: Row) -> types.Flavor:
    """A flavor with details."""
    return types.Flavor(
        id=row['id'],
        name=row['name'],
        vcpus=row['vcpus'],
        memory_mb=row['ram'],
        root_gb=row['disk'],
        ephemeral_gb=row.get('OS-FLV-EXT-DATA:ephemeral', 0),
        swap_mb=row.get('swap') or 0,
        extra_specs=dict(row.get('extra_specs') or {}),
    )


def node(row: Row) -> str:
    """The hypervisor that a server is on; '' where Nova does not tell."""
    return row.get('OS-EXT-SRV-ATTR:hypervisor_hostname') or ''


def is_partial(row: Row) -> bool:
    """Whether Nova does not tell the host, as for a cell that is down.

    Alone, such a server still has its flavor; in a listing it has not.
    """
    return 'OS-EXT-SRV-ATTR:host' not in row or 'flavor' not in row


def _is_volume_backed(row: Row) -> bool:
    return not row.get('image')


def _local_disk_gb(row: Row) -> int:
    flavor = row['flavor']
    root = 0 if _is_volume_backed(row) else flavor.get('disk', 0)
    swap_gb = math.ceil((flavor.get('swap') or 0) / 1024)
    return int(root + flavor.get('ephemeral', 0) + swap_gb)


def _extra_specs(row: Row) -> dict[str, str]:
    """The flavor's, and what the image asks for in the same sense."""
    specs = dict(row['flavor'].get('extra_specs') or {})
    image = row.get('image') or {}
    for name, value in (image.get('properties') or {}).items():
        if name.startswith('trait:'):
            specs.setdefault(name, str(value))
        elif name in PINNING_IMAGE_PROPERTIES:
            specs.setdefault(PINNING_IMAGE_PROPERTIES[name], str(value))
    return specs


def group(row: Row) -> types.ServerGroup:
    """A row of ``os-server-groups``, of any microversion."""
    policies = row.get('policies') or ['']
    rules = row.get('rules') or {}
    return types.ServerGroup(
        uuid=row['id'],
        policy=row.get('policy') or policies[0],
        members=list(row['members']),
        name=row.get('name') or '',
        max_server_per_host=int(rules.get('max_server_per_host', 1)),
    )


def is_move(row: Row) -> bool:
    """Whether it takes a server elsewhere; a resize may stay on one host.

    A host that is not told (yet) is another one.
    """
    source, destination = row.get('source_compute'), row.get('dest_compute')
    return not source or source != destination


def event(row: Row) -> types.Event:
    """A migration of ``os-migrations`` of any type, as history."""
    now = migration(row)
    ends, moment = (now.source, now.destination), now.updated_at
    if now.status == 'reverted':
        ends = (now.destination, now.source)
    result = outcome(now.status)
    kind = row.get('migration_type')
    if kind == 'evacuation' and result is types.Outcome.MOVED:
        # A dead host that comes back writes to the row once more, whenever
        # that is; the move was over long before.
        moment = now.created_at
    is_live = kind == 'live-migration' and result is types.Outcome.MOVED
    return types.Event(
        instance=now.instance,
        source=ends[0],
        destination=ends[1],
        outcome=result,
        at=moment,
        origin=types.Origin.NOVA,
        status=now.status,
        seconds=moment - now.created_at if is_live else 0.0,
        is_resize=kind == 'resize',
    )


def disruption(row: Row) -> types.Disruption:
    """A migration as budgets count it, without the project of its server.

    That of the row is the project of who requested the migration.
    """
    now = migration(row)
    return types.Disruption(
        now.instance,
        started=now.created_at,
        is_under_way=outcome(now.status) is types.Outcome.UNDER_WAY,
    )


def past_event(row: Row) -> types.Event:
    """The same, with when it began: for what happened in a past interval."""
    return replace(event(row), began=migration(row).created_at)


def outcome(status: str) -> types.Outcome:
    """How far a migration got.

    A status that no Nova of today has may mean anything: it is taken for
    under way, which holds the server back, and ends no quarantine.
    """
    if status in _ARRIVED:
        return types.Outcome.MOVED
    if status in _STAYED:
        return types.Outcome.FAILED
    return types.Outcome.UNDER_WAY


def migration(row: Row) -> MigrationStatus:
    """A row of ``os-migrations``, or of one server's live migrations."""
    created_at = seconds_of(row['created_at'])
    return MigrationStatus(
        instance=row.get('instance_uuid') or row.get('server_uuid') or '',
        status=row['status'] or '',
        uuid=row['uuid'],
        id=row['id'],
        source=row.get('source_compute') or '',
        destination=row.get('dest_compute') or '',
        created_at=created_at,
        updated_at=seconds_of(row.get('updated_at')) or created_at,
    )
