# SPDX-License-Identifier: Apache-2.0
"""How does a test say what a scope looks like, in a few lines?"""

import dataclasses
import random
from collections.abc import Mapping, Sequence
from typing import Any

from kronos.engine.settings import Settings, SwapMoves, TieBreak
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
from kronos.policies.models import Fallback, LabelType, Mode, Policy

PLAIN: dict[str, Any] = {
    'plateau_moves': False,
    'swap_moves': SwapMoves.NONE,
    'tie_break': TieBreak.FIRST,
}


def policy(name: str, weight: float = 1.0, **more: Any) -> Policy:
    return Policy(
        **{
            'name': name,
            'mode': Mode.SPREAD,
            'weight': weight,
            'imbalance_query': 'up',
            'vm_profile_query': 'up',
            'vm_profile_label_type': LabelType.NOVA_INSTANCE_UUID,
            'vm_profile_fallback': Fallback.SKIP,
            **more,
        }
    )


def vm(
    uuid: str, host: str, usage: Sequence[float], **more: Any
) -> tuple[Instance, Sequence[float]]:
    """An instance and its usage by policy; of 1 GiB unless said."""
    memory_mb = more.pop('memory_mb', 1024)
    return Instance(uuid, host, memory_mb=memory_mb, **more), usage


def scope(
    policies: Sequence[Policy],
    hosts: Mapping[str, Sequence[float]],
    vms: Sequence[tuple[Instance, Sequence[float]]],
    *,
    groups: Sequence[ServerGroup] = (),
    capacities: Mapping[str, Sequence[float]] | None = None,
    name: str = 'agg',
) -> Snapshot:
    """A scope in which all is well.

    :param hosts: name to score by policy
    :param capacities: name to host capacity by policy, for the policies
        that have a ``host_capacity_query``
    """
    readings = {}
    for index, measure in enumerate(policies):
        readings[measure.name] = PolicyReadings(
            Reading(
                '', samples=[Sample(h, s[index], 0) for h, s in hosts.items()]
            ),
            Reading('', samples=[Sample(v.uuid, u[index], 0) for v, u in vms]),
        )
        if measure.host_capacity_query:
            readings[measure.name].host_capacity = Reading(
                '',
                samples=[
                    Sample(host, sizes[index], 0)
                    for host, sizes in (capacities or {}).items()
                ],
            )
    return Snapshot(
        scope=name,
        hosts={host: Host(host) for host in hosts},
        instances={instance.uuid: instance for instance, _ in vms},
        readings=readings,
        services={
            host: ComputeService(host, state='up', status='enabled')
            for host in hosts
        },
        groups=list(groups),
    )


def give_room(
    snapshot: Snapshot, capacity: Mapping[str, Mapping[str, int]]
) -> None:
    """Set the headroom of hosts: what is on them is what is used."""
    for host, classes in capacity.items():
        present = [
            instance
            for instance in snapshot.instances.values()
            if instance.host == host
        ]
        used = {
            'VCPU': sum(instance.vcpus for instance in present),
            'MEMORY_MB': sum(instance.memory_mb for instance in present),
            'DISK_GB': sum(instance.disk_gb for instance in present),
        }
        snapshot.hosts[host].headroom = {
            name: Headroom(most, used[name]) for name, most in classes.items()
        }


def shuffled(snapshot: Snapshot, seed: int) -> Snapshot:
    """The same scope with every dict and list in another order."""
    rng = random.Random(seed)

    def mixed(values: Any) -> list[Any]:
        entries = list(values)
        rng.shuffle(entries)
        return entries

    readings = {}
    for name, of_policy in mixed(snapshot.readings.items()):
        readings[name] = PolicyReadings(
            *(
                part and Reading('', samples=mixed(part.samples))
                for part in (
                    of_policy.imbalance,
                    of_policy.profile,
                    of_policy.host_capacity,
                    of_policy.capacity,
                )
            )
        )
    return dataclasses.replace(
        snapshot,
        events=mixed(snapshot.events),
        hosts=dict(mixed(snapshot.hosts.items())),
        instances=dict(mixed(snapshot.instances.items())),
        readings=readings,
        services=dict(mixed((snapshot.services or {}).items())),
        groups=[
            ServerGroup(
                group.uuid,
                group.policy,
                mixed(group.members),
                group.name,
                group.max_server_per_host,
            )
            for group in mixed(snapshot.groups)
        ],
    )


def chance(seed: int) -> tuple[Snapshot, list[Policy], Settings]:
    """A scope by lot, with something of everything a rule looks at."""
    return draw(random.Random(seed))


def draw(rng: random.Random) -> tuple[Snapshot, list[Policy], Settings]:
    """The same, by a lot of the caller's."""
    return _Lot(rng).draw()


class _Lot:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._step = rng.choice([None, 0.01, 0.02, 0.05])
        """What usages are a multiple of; None: anything."""

    def draw(self) -> tuple[Snapshot, list[Policy], Settings]:
        rng = self._rng
        policies = self._policies()
        names = [f'h{n}' for n in range(rng.randint(2, 7))]
        vms = self._vms(names, policies)
        capacities = {
            host: [rng.choice([1.0, 2.0, 4.0]) for _ in policies]
            for host in names
        }
        hosts = {}
        for host in names:
            own = [usage for instance, usage in vms if instance.host == host]
            hosts[host] = [
                sum(usage[index] for usage in own)
                / (
                    capacities[host][index]
                    if measure.host_capacity_query
                    else 1.0
                )
                for index, measure in enumerate(policies)
            ]
        highest = max(max(scores) for scores in hosts.values())
        if highest > 1.0:
            vms = [
                (instance, [value / highest for value in usage])
                for instance, usage in vms
            ]
            hosts = {
                host: [score / highest for score in scores]
                for host, scores in hosts.items()
            }
        snapshot = scope(policies, hosts, vms, capacities=capacities)
        self._spoil(snapshot)
        settings = Settings(
            max_migrations=rng.randint(1, 8),
            exhaust=rng.random() < 0.3,
            restrict_to_az=rng.random() < 0.2,
            check_disk=rng.random() < 0.3,
            require_headroom=rng.random() < 0.3,
            min_host_coverage=0.0,
            repeat_moves=rng.random() < 0.5,
        )
        return snapshot, policies, settings

    def _policies(self) -> list[Policy]:
        rng = self._rng
        names = ['cpu', 'ram', 'net'][: rng.randint(1, 3)]
        parts = [rng.choice([0.0, 1.0, 2.0, 5.0]) for _ in names]
        parts[0] += 1.0
        return [
            policy(
                name,
                part / sum(parts),
                threshold=rng.choice([0.0, 0.05, 0.1, 0.2, 0.4]),
                host_capacity_query='up' if rng.random() < 0.3 else None,
            )
            for name, part in zip(names, parts, strict=True)
        ]

    def _usage(self) -> float:
        value = self._rng.random() ** 2 * 0.3
        return (
            value
            if self._step is None
            else (round(value / self._step) * self._step)
        )

    def _vms(
        self, names: list[str], policies: list[Policy]
    ) -> list[tuple[Instance, Sequence[float]]]:
        rng = self._rng
        hot = rng.choices(names, k=rng.randint(1, len(names)))
        return [
            vm(
                f'v{n:02}',
                rng.choice(hot),
                [self._usage() for _ in policies],
                memory_mb=rng.choice([512, 1024, 4096]),
                vcpus=rng.choice([0, 1, 2]),
                disk_gb=rng.choice([0, 10]),
                pinned_availability_zone=rng.choice([None] * 9 + ['az0']),
                locked=rng.random() < 0.1,
            )
            for n in range(rng.randint(0, 16))
        ]

    def _spoil(self, snapshot: Snapshot) -> None:
        rng = self._rng
        for host in snapshot.hosts:
            self._spoil_host(snapshot, host)
        if rng.random() < 0.6:
            self._fill(snapshot)
        if snapshot.instances:
            for number in range(rng.randint(0, 3)):
                snapshot.groups.append(self._group(number, snapshot))
        if rng.random() < 0.2:
            for readings in snapshot.readings.values():
                if readings.profile and readings.profile.samples:
                    del readings.profile.samples[0]

    def _spoil_host(self, snapshot: Snapshot, name: str) -> None:
        rng = self._rng
        host = snapshot.hosts[name]
        host.availability_zone = rng.choice(['az0', 'az0', 'az1', ''])
        if rng.random() < 0.05:
            host.closed = 'for the test'
        service = (snapshot.services or {})[name]
        if rng.random() < 0.08:
            service.status = 'disabled'
        if rng.random() < 0.05:
            service.state = 'down'

    def _fill(self, snapshot: Snapshot) -> None:
        rng = self._rng
        room = {
            host: {
                'VCPU': rng.randint(2, 16),
                'MEMORY_MB': 1024 * rng.randint(2, 24),
                'DISK_GB': rng.randint(0, 80),
            }
            for host in snapshot.hosts
            if rng.random() < 0.9
        }
        give_room(snapshot, room)

    def _group(self, number: int, snapshot: Snapshot) -> ServerGroup:
        rng = self._rng
        uuids = [*snapshot.instances, 'not-in-this-scope']
        return ServerGroup(
            f'g{number}',
            rng.choice(
                [
                    'affinity',
                    'anti-affinity',
                    'anti-affinity',
                    'soft-affinity',
                    'soft-anti-affinity',
                ]
            ),
            rng.sample(uuids, rng.randint(1, min(5, len(uuids)))),
            max_server_per_host=rng.choice([1, 1, 2]),
        )
