# SPDX-License-Identifier: Apache-2.0
"""A writer of a made-up cloud as a recording of Kronos' own format."""

import dataclasses
import uuid

from generator import queries
from generator.cells import DISK_GB, Cells
from generator.cloud import Cloud, Host, Server
from kronos.clients.nova.rows import HostAggregate
from kronos.engine import types
from kronos.engine.settings import PlanMode
from kronos.engine.types import (
    ComputeService,
    Headroom,
    Instance,
    Reading,
    Sample,
    ServerGroup,
)
from kronos.extensions.recovery.extension import RECOVERY
from kronos.policies import loader
from kronos.policies.models import Policy
from kronos.recordings import load
from kronos.recordings.recording import Recording
from kronos.snapshots import scopes, settings_from_conf
from kronos.snapshots.cloud import CloudInventory

ZONE = 'nova'
DISK_PER_CORE = 60
SCRAPED = 15.0
"""Seconds that a sample is older than its recording."""
MIB = 2**20
FROZEN = {
    'locked': {'locked': True},
    'pinned': {'extra_specs': {'hw:cpu_policy': 'dedicated'}},
}


def write(path: str, found: Cloud, at: float) -> None:
    """Write a new directory.

    :param at: Unix seconds of the recording
    :raises ArchiveError: there is something already, or it cannot be written
    """
    load.write(path, recording(found, at))


def recording(found: Cloud, at: float) -> Recording:
    """What an audit would have kept of it."""
    mode = found.wanted.plan_mode
    text = queries.text(mode)
    policies = loader.parse(text, 'policies.yaml').policies
    settings = settings_from_conf.default_settings()
    cells = Cells(found)
    extension = cells.extension()
    if mode is PlanMode.RECOVER:
        extension = RECOVERY
    asked = dataclasses.replace(settings.selection(), extension=extension)
    settings.set_mode(mode, asked)
    aggregates = _aggregates(found)
    hosts = {
        host.name: _host(host, cells.of(host.name)) for host in found.hosts
    }
    return Recording(
        gathered=CloudInventory(
            scopes.Cloud(hosts, {}, aggregates),
            {
                host.name: _service(host, cells.of(host.name))
                for host in found.hosts
            },
            [
                _instance(server, server.host.name, cells.flavor(server))
                for server in found.servers
                if server.host is not None
            ],
            _groups(found),
            [],
            at,
            beside={'cells': cells.needs()},
        ),
        policies=policies,
        request=scopes.ScopeRequest(
            [aggregate.name for aggregate in aggregates], chosen=cells.scope()
        ),
        settings=settings,
        answers=_answers(found, policies, at - SCRAPED),
        policies_text=text,
        configured=settings_from_conf.default_settings(),
        strategy=mode.strategy,
        max_concurrent=settings_from_conf.default_concurrency(),
        recorded_at=at,
        made_by=f'tools/generate {found.wanted.command()}',
    )


def _aggregates(found: Cloud) -> list[HostAggregate]:
    rows = []
    for number in range(found.wanted.aggregates):
        name = found.aggregate_name(number)
        hosts = [host.name for host in found.hosts if host.aggregate == number]
        identifier = str(uuid.uuid5(uuid.NAMESPACE_DNS, name))
        rows.append(HostAggregate(number + 1, name, identifier, hosts))
    return rows


def _zone(cell: str) -> str:
    """No zone is in two cells."""
    return f'{ZONE}-{cell}' if cell else ZONE


def _host(host: Host, cell: str) -> types.Host:
    servers_disk = DISK_GB * host.used_vcpus
    return types.Host(
        host.name,
        f'{host.name}.example.org',
        'QEMU',
        _zone(cell),
        {
            'DISK_GB': Headroom(DISK_PER_CORE * host.cores, servers_disk),
            'MEMORY_MB': Headroom(host.memory_mb, host.used_mb),
            'VCPU': Headroom(host.vcpus, host.used_vcpus),
        },
        cell=cell,
    )


def _service(host: Host, cell: str) -> ComputeService:
    return ComputeService(
        host.name,
        state='up' if host.is_up else 'down',
        status='enabled' if host.is_enabled else 'disabled',
        zone=_zone(cell),
        disabled_reason='' if host.is_enabled else 'maintenance',
    )


def _instance(server: Server, host: str, flavor: str) -> Instance:
    number = int(server.name.rpartition('-')[2])
    instance = Instance(
        server.uuid,
        host,
        server.name,
        f'instance-{number:08x}',
        server.vcpus,
        server.memory_mb,
        DISK_GB * server.vcpus,
        project_id=server.tenant.project,
        flavor=flavor,
        root_gb=DISK_GB * server.vcpus if flavor else 0,
    )
    return dataclasses.replace(instance, **FROZEN.get(server.frozen, {}))


def _groups(found: Cloud) -> list[ServerGroup]:
    return [
        ServerGroup(
            group.uuid,
            group.policy,
            [member.uuid for member in group.members],
            group.name,
        )
        for group in found.groups
    ]


def _answers(
    found: Cloud, policies: list[Policy], at: float
) -> dict[tuple[str, str], Reading]:
    scores = found.scores()
    answers = {}
    for policy in policies:
        kind = policy.name
        unit = MIB if kind == 'ram' else 1
        of_hosts = {
            host.name: round(scores[kind][host.name], 6)
            for host in found.hosts
            if host.is_up
        }
        tables = {
            (policy.imbalance_query, policy.host_label): of_hosts,
            (policy.vm_profile_query, policy.vm_profile_label): {
                server.uuid: _rounded(kind, server.usage[kind] * unit)
                for server in found.servers
                if server.host is not None and server.host.is_up
            },
            (policy.host_capacity_query or '', policy.host_label): {
                host.name: host.capacity[kind] * unit
                for host in found.hosts
                if host.is_up
            },
        }
        if policy.capacity_query is not None:
            tables[policy.capacity_query, policy.host_label] = of_hosts
        for (query, label), values in tables.items():
            answers[query, label] = Reading(
                query,
                samples=[Sample(*one, at) for one in sorted(values.items())],
            )
    return answers


def _rounded(kind: str, value: float) -> float:
    return round(value, 6) if kind == 'cpu' else float(round(value))
