# SPDX-License-Identifier: Apache-2.0
"""Loads to simulate, made up, for the tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kronos.clients.nova.rows import HostAggregate
from kronos.engine.types import (
    ComputeService,
    Headroom,
    Host,
    Instance,
    ServerGroup,
)
from kronos.policies import loader
from kronos.policies.models import Policy
from kronos.recordings.recording import Recording
from kronos.simulate import load_schema
from kronos.simulate.load import Load
from kronos.simulate.load_schema import Meta, PolicyRow, ServerRow
from kronos.snapshots import settings_from_conf
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import Cloud, ScopeRequest
from tests.builders import policies as build

START = 1_700_000_100.0
AGGREGATE = 'agg'


def uuid(number: int) -> str:
    return f'00000000-0000-4000-8000-{number:012d}'


def policy(name: str = 'cpu', **fields: Any) -> Policy:
    values = {
        'vm_profile_label_type': 'nova_instance_uuid',
        'host_capacity_query': f'{name}_of_capacity',
        'capacity_query': f'{name}_of_host',
    }
    return build.policy(name, **(values | fields))


def load(
    usage: npt.ArrayLike,
    placement: npt.ArrayLike,
    cores: Sequence[float],
    policies: Sequence[Policy] | None = None,
    groups: Sequence[ServerGroup] = (),
    memory_mb: int = 2048,
    window: str = 'now',
    project: str = '',
    **settings: Any,
) -> Load:
    """A cloud of one aggregate, whose servers are of one project.

    :param usage: by tick and server, the same for every policy
    :param placement: by tick and server, or by server
    :param cores: what each host has by every policy
    :param settings: of planning
    """
    used = np.asarray(usage, np.float32)
    places = np.broadcast_to(np.asarray(placement, np.int32), used.shape)
    used = np.where(places >= 0, used, np.float32(np.nan))
    hosts = [f'h{number:04d}' for number in range(len(cores))]
    many = [policy()] if policies is None else list(policies)
    group_of = {m: group.uuid for group in groups for m in group.members}
    rows = [
        ServerRow(
            uuid(number),
            f'vm-{number}',
            vcpus=1,
            memory_mb=memory_mb,
            project_id=project,
            group=group_of.get(uuid(number)),
            host_at_start=hosts[places[0, number]]
            if places[0, number] >= 0
            else None,
        )
        for number in range(used.shape[1])
    ]
    return Load(
        Meta(
            load_schema.FORMAT_VERSION,
            300,
            START,
            len(used),
            hosts,
            rows,
            {each.name: PolicyRow(window) for each in many},
        ),
        _recording(hosts, rows, places, many, groups, settings),
        places,
        {each.name: used for each in many},
        {
            each.name: np.zeros((len(used), len(hosts)), np.float32)
            for each in many
        },
        {each.name: np.asarray(cores, np.float32) for each in many},
    )


def _recording(
    hosts: list[str],
    rows: list[ServerRow],
    places: npt.NDArray[np.int32],
    policies: list[Policy],
    groups: Sequence[ServerGroup],
    options: dict[str, Any],
) -> Recording:
    settings = settings_from_conf.default_settings()
    for name, value in options.items():
        setattr(settings, name, value)
    last = [
        (row, hosts[place])
        for row, place in zip(rows, places[-1].tolist(), strict=True)
        if place >= 0
    ]
    return Recording(
        CloudInventory(
            Cloud(
                {name: _host(name, last) for name in hosts},
                {},
                [HostAggregate(1, AGGREGATE, 'ua', hosts)],
            ),
            {
                name: ComputeService(
                    name, state='up', status='enabled', zone='nova'
                )
                for name in hosts
            },
            [
                Instance(
                    row.uuid,
                    host,
                    row.name,
                    row.uuid,
                    row.vcpus,
                    row.memory_mb,
                    project_id=row.project_id,
                )
                for row, host in last
            ],
            list(groups),
            taken_at=START + 300 * (len(places) - 1),
        ),
        policies,
        ScopeRequest([AGGREGATE]),
        settings,
        policies_text=loader.dump(policies),
        strategy='kronos_spread',
        recorded_at=START + 300 * (len(places) - 1),
        made_by='a test',
    )


def _host(name: str, last: list[tuple[ServerRow, str]]) -> Host:
    inside = [row for row, host in last if host == name]
    return Host(
        name,
        name,
        'QEMU',
        'nova',
        {
            'VCPU': Headroom(1000, sum(row.vcpus for row in inside)),
            'MEMORY_MB': Headroom(2**22, sum(row.memory_mb for row in inside)),
        },
    )
