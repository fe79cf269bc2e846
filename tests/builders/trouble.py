# SPDX-License-Identifier: Apache-2.0
"""A scope in which much is wrong at once, by lot."""

import dataclasses
import math
import random

from kronos.engine.settings import Settings
from kronos.engine.types import (
    Event,
    Health,
    Instance,
    Origin,
    Outcome,
    Snapshot,
)
from kronos.policies.models import Fallback, LabelType, Policy

Cloud = tuple[Snapshot, list[Policy], Settings]


def spoil(cloud: Cloud, rng: random.Random) -> Cloud:
    """Add to a cloud what keeps a planner from moving things."""
    snapshot, policies, settings = cloud
    for instance in snapshot.instances.values():
        if rng.random() < 0.3:
            _spoil_instance(instance, rng)
    for host in sorted(snapshot.hosts):
        _spoil_host(snapshot, host, rng)
    for name in sorted(snapshot.readings):
        _spoil_readings(snapshot, name, rng)
    if snapshot.instances and rng.random() < 0.3:
        snapshot.events += [_failure(snapshot, rng) for _ in range(3)]
    if rng.random() < 0.04:
        snapshot.services = None
    if rng.random() < 0.1:
        kind = rng.choice([LabelType.NOVA_DISPLAY_NAME, None])
        if kind:
            policies = [
                _by_name(policy, snapshot, kind) for policy in policies
            ]
    if rng.random() < 0.1:
        fallback = rng.choice(list(Fallback))
        policies = [
            policy.model_copy(update={'vm_profile_fallback': fallback})
            for policy in policies
        ]
    settings = dataclasses.replace(
        settings,
        allowed_extra_specs=rng.choice([[], ['hw:*']]),
        cooldown_seconds=rng.choice([0.0] * 9 + [600.0]),
        return_guard_seconds=rng.choice([0.0, 40000.0]),
        require_all_policies=rng.random() < 0.1,
        min_host_coverage=rng.choice([0.0, 0.5, 0.9]),
    )
    return snapshot, policies, settings


def _spoil_instance(instance: Instance, rng: random.Random) -> None:
    change = rng.randrange(8)
    if change == 0:
        instance.unmovable = 'for the test'
    elif change == 1:
        instance.metadata = {'kronos:pin': 'yes', 'other': 'kept'}
    elif change == 2:
        instance.tags = ['kept', 'kronos:pin']
    elif change == 3:
        instance.status, instance.power_state = 'SHUTOFF', 4
    elif change == 4:
        instance.task_state = 'resize_prep'
    elif change == 5:
        instance.extra_specs = {'hw:cpu_policy': 'dedicated', 'quota:x': '1'}
    else:
        instance.power_state = rng.choice([0, 3])


def _spoil_host(snapshot: Snapshot, name: str, rng: random.Random) -> None:
    host = snapshot.hosts[name]
    services = snapshot.services or {}
    change = rng.randrange(30)
    if change == 0:
        services.pop(name, None)
    elif change == 1:
        services[name].state, services[name].status = None, 'UNKNOWN'
    elif change == 2:
        services[name].state, services[name].forced_down = 'down', True
    elif change == 3:
        services[name].status = 'disabled'
    elif change == 4:
        host.frozen = 'for the test'
    elif change == 5:
        services[name].binary = 'nova-conductor'


def _spoil_readings(snapshot: Snapshot, name: str, rng: random.Random) -> None:
    readings = snapshot.readings[name]
    for reading in (
        readings.imbalance,
        readings.host_capacity,
        readings.capacity,
    ):
        for sample in reading.samples if reading else []:
            if rng.random() < 0.03:
                sample.value = math.nan
    if readings.profile and rng.random() < 0.2:
        readings.profile.samples = [
            sample for sample in readings.profile.samples if rng.random() < 0.8
        ]
    if rng.random() < 0.05:
        readings.imbalance.health = Health.UNREACHABLE
        readings.imbalance.error = 'for the test'


def _failure(snapshot: Snapshot, rng: random.Random) -> Event:
    hosts = sorted(snapshot.hosts)
    uuid = rng.choice(sorted(snapshot.instances))
    return Event(
        uuid,
        rng.choice(hosts),
        rng.choice(hosts),
        rng.choice([Outcome.FAILED, Outcome.MOVED]),
        snapshot.taken_at - rng.choice([1.0, 300.0, 3000.0, 30000.0]),
        rng.choice(list(Origin)),
        error_type='MigrationFailed',
    )


def stuck(snapshot: Snapshot, rng: random.Random) -> list[Event]:
    """Migrations that never end, most of them at one of the first hosts."""
    names = sorted(snapshot.hosts)
    hosts = [*names[:2], rng.choice(names), 'elsewhere']
    return [
        Event(
            rng.choice([*sorted(snapshot.instances), 'gone', 'lost']),
            rng.choice([*hosts, 'elsewhere']),
            rng.choice(hosts),
            Outcome.UNDER_WAY,
            snapshot.taken_at - 90000.0,
            Origin.NOVA,
        )
        for _ in range(rng.randint(1, 4))
    ]


def _by_name(policy: Policy, snapshot: Snapshot, kind: LabelType) -> Policy:
    """The policy that knows instances by names; two may share one."""
    for number, instance in enumerate(snapshot.instances.values()):
        instance.name = f'name-{number // 2 if number < 4 else number}'
    profile = snapshot.readings[policy.name].profile
    for sample in profile.samples if profile else []:
        if sample.label in snapshot.instances:
            sample.label = snapshot.instances[sample.label].name
    return policy.model_copy(update={'vm_profile_label_type': kind})
