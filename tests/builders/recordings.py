# SPDX-License-Identifier: Apache-2.0
"""Recordings to write and to damage, for the tests."""

import json
import pathlib
from typing import Any

from kronos.clients.nova.rows import HostAggregate
from kronos.engine.settings import Settings
from kronos.engine.types import (
    UNASSIGNED,
    ComputeService,
    EffectRatio,
    Event,
    Headroom,
    Host,
    Instance,
    Origin,
    Outcome,
    Reading,
    Sample,
    Seeds,
    ServerGroup,
)
from kronos.policies import loader
from kronos.recordings.recording import Recording
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import ALL, AggregateRef, Cloud, ScopeRequest
from tests import places
from tests.builders import policies as build

FIXTURES = places.FIXTURES
DAEMONS = FIXTURES / 'recordings' / 'daemons'
CLUSTER = FIXTURES / 'clusters' / 'metric-2.json'
NOW = 1700000000.25


def policies() -> list[Any]:
    return [
        build.policy(
            'cpu',
            0.5,
            vm_profile_label_type='nova_instance_uuid',
            host_capacity_query='cores',
        ),
        build.policy('ram', 0.5, vm_profile_label_type='nova_instance_uuid'),
        build.policy('net', 0.5, enabled=False),
    ]


def small(**more: Any) -> Recording:
    """Two aggregates and the pool, with one of everything."""
    names = ['a1', 'a2', 'a3', 'b1', 'b2', 'free']
    hosts = {
        name: Host(
            name,
            f'{name}.example.org',
            'QEMU',
            'nova',
            {'VCPU': Headroom(64, 8), 'MEMORY_MB': Headroom(65536, 8192)},
            ['COMPUTE_NODE'],
        )
        for name in names
    }
    instances = [
        Instance(
            f'u{number}',
            host,
            f'web-{number}',
            f'instance-{number:08x}',
            2,
            2048,
            metadata={'tier': 'web'},
            project_id='p',
        )
        for number, host in enumerate(['a1'] * 4 + ['a2'] + ['b1'] * 3)
    ]
    both = policies()
    values: dict[str, Any] = {
        'gathered': CloudInventory(
            Cloud(
                hosts,
                {'metal': Host('metal', hypervisor_type='ironic')},
                [
                    HostAggregate(1, 'a', 'ua', names[:3], {'k': 'v'}, 'nova'),
                    HostAggregate(2, 'b', 'ub', names[3:5]),
                ],
            ),
            {
                name: ComputeService(name, state='up', status='enabled')
                for name in names
            },
            instances,
            [ServerGroup('g', 'anti-affinity', ['u0', 'u4'], 'pair')],
            [
                Event(
                    'u6',
                    'b1',
                    'b2',
                    Outcome.FAILED,
                    NOW - 9e5,
                    Origin.WATCHER,
                    'b',
                    'MigrationFailed',
                ),
                Event('u7', 'b2', 'b1', Outcome.MOVED, NOW - 9e4, Origin.NOVA),
            ],
            NOW,
            ['something could not be looked at'],
            effects={'a': [EffectRatio('cpu', 0.5, 4, 1)]},
        ),
        'policies': both,
        'request': ScopeRequest(
            ['a', AggregateRef(name='b')], excluded_instances=['u1']
        ),
        'settings': Settings(require_headroom=True, cooldown_seconds=600.0),
        'answers': _answers(names, instances),
        'policies_text': loader.dump(both),
        'configured': Settings(cooldown_seconds=300.0),
        'strategy': 'kronos_spread',
        'max_concurrent': 3,
        'recorded_at': NOW,
        'made_by': 'a test',
        'seeds': Seeds({}, {'u2': 30.0}, {'u3': -1.0}),
    }
    return Recording(**(values | more))


def with_names() -> Recording:
    """The same, with names of every kind in its request and its seeds."""
    return small(
        request=ScopeRequest(
            ['a', '2', AggregateRef(name='b'), AggregateRef(id='1'), ALL],
            True,
            ['nova', ALL],
            ['a1', 'a2.example.org'],
            ['ub', 'a'],
            ['u1', 'gone'],
            ['p'],
            [{'tier': 'WEB', 'kronos:pin': 'x'}],
        ),
        seeds=Seeds({'a': 5.0, UNASSIGNED: 6.0}, {'u2': 3.0}, {'u3': -1.0}),
    )


def _answers(
    names: list[str], instances: list[Instance]
) -> dict[tuple[str, str], Reading]:
    load = {name: 0.8 - 0.15 * index for index, name in enumerate(names)}
    answers = {}
    for policy in ('cpu', 'ram'):
        answers[f'{policy}_of_host', 'host'] = Reading(
            f'{policy}_of_host',
            samples=[
                Sample(name, value, NOW - 3) for name, value in load.items()
            ],
        )
        answers[f'{policy}_of_vm', 'instance_name'] = Reading(
            f'{policy}_of_vm',
            samples=[
                Sample(instance.uuid, 0.05, NOW - 3) for instance in instances
            ],
        )
    answers['cores', 'host'] = Reading(
        'cores', samples=[Sample(name, 1.0, NOW) for name in names]
    )
    return answers


def metrics_renamed(recording: Recording, suffix: str) -> Recording:
    """The same, whose metrics call its hosts by names with a suffix."""
    for (_, label), reading in recording.answers.items():
        if label == 'host':
            for sample in reading.samples:
                sample.label = f'{sample.label}{suffix}'
    return recording


def changed(path: pathlib.Path, *keys: Any, value: Any) -> None:
    """Put another value into a JSON file; no keys: instead of all of it."""
    document = json.loads(path.read_text())
    if not keys:
        document = value
    else:
        inner = document
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
    path.write_text(json.dumps(document))
