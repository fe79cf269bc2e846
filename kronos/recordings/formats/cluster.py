# SPDX-License-Identifier: Apache-2.0
"""The format cluster/1, read as a snapshot and as a recording.

The format is made for planning: scores and shares by policy, no services,
no queries. A host with ``available: false`` takes nothing, but its scores
count and its instances may leave.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pydantic

from kronos.clients.nova.rows import HostAggregate
from kronos.common import first_fault, gc_pause
from kronos.common.exceptions import ArchiveError
from kronos.common.names import near_names
from kronos.engine.server_groups import APART, TOGETHER
from kronos.engine.settings import SearchName, Settings, UnexplainedLoad
from kronos.engine.types import (
    ComputeService,
    Headroom,
    Host,
    Instance,
    PolicyReadings,
    Reading,
    Sample,
    ServerGroup,
    Snapshot,
)
from kronos.policies import loader
from kronos.policies.models import LabelType, Mode, Policy, PolicyFile
from kronos.recordings import safe_files
from kronos.recordings.formats import cluster_schema as schema
from kronos.recordings.formats.cluster_schema import FORMAT, FormatError
from kronos.recordings.recording import Recording
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import Cloud, ScopeRequest

ROUNDING = 0.05
"""How far above 1 a score may be: the files round scores and shares, so a
full host can come out above it. It is taken for 1, with a warning."""
_NOT_ASKED = 'recorded'
"""Begins the queries, which the format does not have."""


@dataclass
class Cluster:
    """One scope and the policies to plan it by."""

    snapshot: Snapshot
    policies: list[Policy]
    warnings: list[str] = field(default_factory=list)


@gc_pause.paused()
def read(path: str) -> Cluster:
    """Read a file, gzipped or not.

    :raises ArchiveError: if it cannot be read or is not of this format; the
        message names the file and the field
    """
    document = safe_files.document(path)
    try:
        return _ClusterReader().cluster(document)
    except FormatError as fault:
        raise ArchiveError(path=path, reason=str(fault)) from fault


def recording(path: str) -> Recording:
    """Read a file as one scope, all services up, no past.

    :raises ArchiveError: as :func:`read`
    """
    cluster = read(path)
    snapshot = cluster.snapshot
    aggregate = HostAggregate(1, snapshot.scope, hosts=[*snapshot.hosts])
    return Recording(
        gathered=CloudInventory(
            Cloud(snapshot.hosts, {}, [aggregate]),
            snapshot.services,
            list(snapshot.instances.values()),
            snapshot.groups,
        ),
        policies=cluster.policies,
        request=ScopeRequest([snapshot.scope]),
        settings=Settings(
            require_headroom=True,
            search=SearchName.BEST,
            unexplained_load=UnexplainedLoad.FOLLOWS,
        ),
        answers={
            (reading.query, label): reading
            for policy in cluster.policies
            for label, reading in _answers(policy, snapshot)
        },
        policies_text=loader.dump(cluster.policies),
        source=path,
        made_by=FORMAT,
        unknown=cluster.warnings,
    )


def _answers(policy: Policy, snapshot: Snapshot) -> list[tuple[str, Reading]]:
    readings = snapshot.readings[policy.name]
    answers = [(policy.host_label, readings.imbalance)]
    if readings.profile is not None:
        answers.append((policy.vm_profile_label, readings.profile))
    return answers


class _ClusterReader:
    """Fills a snapshot part by part."""

    def __init__(self) -> None:
        self._hosts: dict[str, Host] = {}
        self._instances: dict[str, Instance] = {}
        self._readings: dict[str, PolicyReadings] = {}
        self._warnings: list[str] = []

    def cluster(self, document: Any) -> Cluster:
        file = schema.parsed(document)
        policies = self._policies(file.policies)
        for index, host in enumerate(file.hosts):
            self._host(host, f'hosts[{index}]')
        for index, instance in enumerate(file.instances):
            self._instance(instance, f'instances[{index}]')
        snapshot = Snapshot(
            scope='cluster',
            hosts=self._hosts,
            instances=self._instances,
            readings=self._readings,
            services={
                name: ComputeService(name, state='up', status='enabled')
                for name in self._hosts
            },
            groups=self._groups(file.groups),
        )
        return Cluster(snapshot, policies, self._warnings)

    def _policies(self, rows: list[schema.PolicyRow]) -> list[Policy]:
        policies = []
        for index, row in enumerate(rows):
            if row.mode != Mode.SPREAD:
                raise FormatError(
                    f'policies[{index}].mode', 'only spread is supported'
                )
            try:
                policy = Policy(
                    name=row.name,
                    mode=Mode.SPREAD,
                    weight=row.weight,
                    threshold=row.threshold,
                    imbalance_query=f'{_NOT_ASKED} score of {row.name}',
                    vm_profile_query=f'{_NOT_ASKED} share of {row.name}',
                    vm_profile_label_type=LabelType.NOVA_INSTANCE_UUID,
                )
            except pydantic.ValidationError as error:
                raise _invalid(f'policies[{index}]', error) from error
            self._readings[row.name] = PolicyReadings(
                Reading(policy.imbalance_query),
                Reading(policy.vm_profile_query),
            )
            policies.append(policy)
        try:
            PolicyFile(policies=policies)
        except pydantic.ValidationError as error:
            raise _invalid('policies', error) from error
        return policies

    def _host(self, row: schema.ClusterHostRow, where: str) -> None:
        _require_new(row.name, self._hosts, where)
        for policy, value in row.scores.items():
            reading = self._reading(policy, f'{where}.scores').imbalance
            if 1.0 < value <= 1.0 + ROUNDING:
                self._warnings.append(
                    f'{where}.scores.{policy}: {value:g} is taken for 1'
                )
                value = 1.0
            reading.samples.append(Sample(row.name, value, 0.0))
        self._hosts[row.name] = Host(
            row.name,
            headroom={
                'MEMORY_MB': Headroom(row.memory_mb, 0),
                'VCPU': Headroom(row.vcpus, 0),
            },
            closed='' if row.available else 'available is false',
        )

    def _instance(self, row: schema.ClusterInstanceRow, where: str) -> None:
        _require_new(row.name, self._instances, where)
        if row.host not in self._hosts:
            hint = near_names.of_cloud(row.host, self._hosts)
            raise FormatError(
                f'{where}.host', f'there is no host {row.host}; {hint}'
            )
        for policy, value in row.shares.items():
            profile = self._reading(policy, f'{where}.shares').profile
            if profile is not None:
                profile.samples.append(Sample(row.name, value, 0.0))
        self._instances[row.name] = Instance(
            row.name,
            row.host,
            name=row.name,
            memory_mb=row.memory_mb,
            vcpus=row.vcpus,
            unmovable='' if row.movable else 'movable is false',
        )
        headroom = self._hosts[row.host].headroom or {}
        headroom['MEMORY_MB'].used += row.memory_mb
        headroom['VCPU'].used += row.vcpus

    @staticmethod
    def _groups(rows: list[schema.ClusterGroupRow]) -> list[ServerGroup]:
        groups: dict[str, ServerGroup] = {}
        for index, row in enumerate(rows):
            _require_new(row.name, groups, f'groups[{index}]')
            if row.policy not in APART | TOGETHER:
                raise FormatError(
                    f'groups[{index}].policy',
                    f'must be one of {", ".join(sorted(APART | TOGETHER))}, '
                    f'is {row.policy}',
                )
            groups[row.name] = ServerGroup(
                row.name, row.policy, row.members, row.name
            )
        return list(groups.values())

    def _reading(self, policy: str, where: str) -> PolicyReadings:
        if policy not in self._readings:
            hint = near_names.of_cloud(policy, self._readings)
            raise FormatError(
                f'{where}.{policy}', f'there is no such policy; {hint}'
            )
        return self._readings[policy]


def _require_new(name: str, taken: Mapping[str, Any], where: str) -> None:
    if name in taken:
        raise FormatError(f'{where}.name', f'{name} is used twice')


def _invalid(where: str, error: pydantic.ValidationError) -> FormatError:
    field, what, _ = first_fault.of(error)
    return FormatError(f'{where}.{field}' if field else where, what)
