# SPDX-License-Identifier: Apache-2.0
"""A writer of made-up days as a load, which ``kronos-simulate`` reads."""

import pathlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from generator import queries
from kronos.clients.nova.rows import HostAggregate
from kronos.engine.settings import PlanMode
from kronos.engine.types import ComputeService, Headroom, Host, Instance
from kronos.policies import loader
from kronos.policies.models import LabelType, Mode, Policy
from kronos.recordings.recording import Recording
from kronos.simulate import load_schema
from kronos.simulate.load import Load
from kronos.simulate.load_schema import Meta, PolicyRow, ServerRow
from kronos.snapshots import scopes, settings_from_conf
from kronos.snapshots.cloud import CloudInventory

STEP = 300
BEGIN = 1772409600.0
"""2 March 2026, a Monday, 0:00 UTC."""
POLICY = 'cpu'
SAMPLES = [
    pathlib.Path(__file__).resolve().parents[2] / 'etc' / 'kronos' / name
    for name in ('policies.yaml', 'policies-pack.yaml')
]
"""Of spread and of pack."""
AGGREGATE, ZONE = 'compute', 'nova'


@dataclass(frozen=True)
class Fleet:
    """Hosts, as many as there are capacities."""

    capacity: Sequence[float]
    """What a usage is divided by."""
    vcpus: int
    """That Nova sees in each."""
    memory_mb: int

    @property
    def names(self) -> list[str]:
        width = max(2, len(str(len(self.capacity))))
        return [
            f'cmp{number + 1:0{width}}' for number in range(len(self.capacity))
        ]


@dataclass(frozen=True)
class Days:
    """What happens on a fleet."""

    fleet: Fleet
    servers: list[ServerRow]
    placement: npt.NDArray[np.int32]
    """By tick and server the index of a host; -1: it is not there."""
    usage: npt.NDArray[np.float32]
    """By tick and server."""
    own: float = 0.0
    """What hosts use themselves, as a ratio of their capacity."""


def policy(mode: PlanMode = PlanMode.SPREAD) -> Policy:
    """The only one, with the values that hold by default."""
    parts = queries.PARTS[POLICY]
    is_pack = mode is PlanMode.PACK
    return Policy(
        name=POLICY,
        mode=Mode.PACK if is_pack else Mode.SPREAD,
        weight=1.0,
        imbalance_query=parts['score'],
        vm_profile_query=parts['usage'],
        vm_profile_label='uuid',
        vm_profile_label_type=LabelType.NOVA_INSTANCE_UUID,
        host_capacity_query=parts['capacity'],
        capacity_query=parts['score'] if is_pack else None,
    )


def sample(mode: PlanMode = PlanMode.SPREAD) -> Policy:
    """The same of the sample policies, alone."""
    path = SAMPLES[mode is PlanMode.PACK]
    policies = loader.load(str(path)).policies
    [of_cpu] = [each for each in policies if each.name == POLICY]
    return of_cpu.model_copy(update={'weight': 1.0})


def load(
    days: Days, mode: PlanMode = PlanMode.SPREAD, made_by: str = ''
) -> Load:
    """All of it, with a recording of the last moment."""
    ticks, hosts = len(days.placement), len(days.fleet.capacity)
    capacity = np.array(days.fleet.capacity, np.float32)
    remainder = np.broadcast_to(days.own * capacity, (ticks, hosts))
    meta = Meta(
        load_schema.FORMAT_VERSION,
        STEP,
        BEGIN,
        ticks,
        days.fleet.names,
        days.servers,
        {POLICY: PolicyRow()},
        limits=['It is made up.'],
        made_by=made_by,
    )
    return Load(
        meta,
        _recording(days, mode, made_by),
        days.placement,
        {POLICY: days.usage},
        {POLICY: remainder.astype(np.float32)},
        {POLICY: capacity},
    )


def _recording(days: Days, mode: PlanMode, made_by: str) -> Recording:
    names = days.fleet.names
    end = BEGIN + STEP * (len(days.placement) - 1)
    present = [
        (row, names[place])
        for row, place in zip(
            days.servers, days.placement[-1].tolist(), strict=True
        )
        if place >= 0
    ]
    configured = settings_from_conf.default_settings()
    settings = settings_from_conf.default_settings()
    settings.set_mode(mode, settings.selection())
    policies = [policy(mode)]
    aggregate = HostAggregate(
        1, AGGREGATE, str(uuid.uuid5(uuid.NAMESPACE_DNS, AGGREGATE)), names
    )
    return Recording(
        gathered=CloudInventory(
            scopes.Cloud(_hosts(days.fleet, present), {}, [aggregate]),
            {name: _service(name) for name in names},
            [_instance(row, host) for row, host in present],
            [],
            [],
            end,
        ),
        policies=policies,
        request=scopes.ScopeRequest([AGGREGATE]),
        settings=settings,
        policies_text=loader.dump(policies),
        configured=configured,
        strategy=mode.strategy,
        max_concurrent=settings_from_conf.default_concurrency(),
        recorded_at=end,
        made_by=made_by,
    )


def _hosts(
    fleet: Fleet, present: Sequence[tuple[ServerRow, str]]
) -> dict[str, Host]:
    used = {name: [0, 0] for name in fleet.names}
    for row, host in present:
        used[host][0] += row.vcpus
        used[host][1] += row.memory_mb
    return {
        name: Host(
            name,
            f'{name}.example.org',
            'QEMU',
            ZONE,
            {
                'MEMORY_MB': Headroom(fleet.memory_mb, memory_mb),
                'VCPU': Headroom(fleet.vcpus, vcpus),
            },
        )
        for name, (vcpus, memory_mb) in used.items()
    }


def _service(name: str) -> ComputeService:
    return ComputeService(name, state='up', status='enabled', zone=ZONE)


def _instance(row: ServerRow, host: str) -> Instance:
    return Instance(
        row.uuid,
        host,
        row.name,
        row.internal_name,
        row.vcpus,
        row.memory_mb,
        project_id=row.project_id,
        flavor=row.flavor,
    )
