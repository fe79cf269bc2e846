# SPDX-License-Identifier: Apache-2.0
"""Reports of the planner, small and large, tame and hostile."""

import copy
import json
import random
from typing import Any

from kronos.engine.effect.measurement import (
    HostChange,
    PolicyEffect,
    Unmeasured,
)
from kronos.engine.planning.propose import propose
from kronos.engine.settings import Settings
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
from kronos.policies.models import LabelType, Mode, Policy
from kronos.reports import document as report_document
from kronos.reports import effects
from kronos.snapshots.past import scope_effects
from kronos.snapshots.past.effects import PlanEffect
from kronos.snapshots.past.past_plans import PastPlan
from tests.builders import policies as builders
from tests.builders import rooms

ABOUT = {
    'created_at': '2026-03-01T13:30:00+00:00',
    'strategy': 'kronos_spread',
    'audit': {
        'uuid': '0d1e3f4a-0000-4000-8000-000000000001',
        'name': 'even hosts',
        'type': 'ONESHOT',
        'parameters': {},
        'scope': [],
    },
    'policies_file': '/etc/kronos/policies.yaml',
    'versions': {'kronos-watcher': '1.0.0'},
    'timings': {'propose': 0.25},
    'settings': {'restrict_to_az': False, 'allowed_extra_specs': ['quota:*']},
}
HOSTILE = (
    '<script>document.title="taken"</script>',
    '"><img src=http://192.0.2.1/x onerror=alert(1)>',
    "';}</style><style>body{display:none}</style>",
    '{{ 7 * 7 }}{% raw %}',
    '\u202egnp.exe\u2066 \x00\x1b[31m\ud800\ufffe',
    'W' * 255,
    '&lt;b&gt;&amp;</title>]]>-->',
)
SPARE = 'cmp-spare-'


def policy(name: str, weight: float, **more: Any) -> Policy:
    return Policy(
        **{
            'name': name,
            'mode': Mode.SPREAD,
            'weight': weight,
            'imbalance_query': 'up',
            'vm_profile_query': 'up',
            'vm_profile_label_type': LabelType.NOVA_INSTANCE_UUID,
            'threshold': 0.15,
            **more,
        }
    )


POLICIES = [policy('cpu', 0.5), policy('ram', 0.3), policy('net', 0.2)]


def snapshot(
    name: str,
    hosts: list[str],
    each: int,
    seed: int = 7,
    policies: list[Policy] = POLICIES,
) -> Snapshot:
    """Hosts of two zones, filled by lot; those that are spare are empty."""
    rng = random.Random(seed)
    found = Snapshot(
        scope=name,
        hosts={
            host: Host(
                host,
                headroom={
                    'VCPU': Headroom(each * 40, each * 4),
                    'MEMORY_MB': Headroom(each * 40960, each * 4096),
                },
            )
            for host in hosts
        },
        instances={},
        readings={
            one.name: PolicyReadings(Reading('up'), Reading('up'))
            for one in policies
        },
        services={
            host: ComputeService(
                host, state='up', status='enabled', zone=f'az{at % 2 + 1}'
            )
            for at, host in enumerate(hosts)
        },
        taken_at=1000.0,
    )
    for host in hosts:
        _fill(found, host, 0 if SPARE in host else each, rng)
    return found


def _fill(found: Snapshot, host: str, number: int, rng: random.Random) -> None:
    factor = rng.uniform(0.3, 1.0)
    totals = dict.fromkeys(found.readings, 0.0)
    for _ in range(number):
        at = len(found.instances)
        uuid = f'{at:08x}-5eed-4000-8000-{at:012x}'
        found.instances[uuid] = Instance(
            uuid, host, f'web-{at:05}', vcpus=4, memory_mb=4096
        )
        for name, reading in found.readings.items():
            share = rng.uniform(0.2, 1.8) * factor / number / 2
            totals[name] += share
            assert reading.profile is not None
            reading.profile.samples.append(Sample(uuid, share, 990.0))
    for name, reading in found.readings.items():
        reading.imbalance.samples.append(Sample(host, totals[name], 990.0))


def names(number: int, spare: int = 1) -> list[str]:
    return [
        *(f'cmp-{at:04}' for at in range(number - spare)),
        *(f'{SPARE}{at}' for at in range(spare)),
    ]


def document(*snapshots: Snapshot, **settings: Any) -> dict[str, Any]:
    """What would be written, read back from its JSON."""
    plan = propose(
        snapshots, POLICIES, Settings(**{'max_migrations': 12, **settings})
    )
    return _as_read(report_document.document(plan, ABOUT))


def _as_read(found: dict[str, Any]) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(found))
    return read


def small() -> dict[str, Any]:
    """Six hosts, one of them empty; a group that is broken."""
    found = snapshot('alpha', names(6), 8)
    uuids = list(found.instances)
    found.groups = [
        ServerGroup('g-db', 'anti-affinity', uuids[:2], 'database'),
        ServerGroup('g-web', 'soft-affinity', uuids[8:11], 'web'),
    ]
    found.instances[uuids[20]].locked = True
    return document(found, enforce_hard_affinity=True)


def mixed() -> dict[str, Any]:
    """All phases in two scopes, one policy skipped, hosts down and off."""
    one = snapshot('alpha', names(9, 2), 8)
    uuids = list(one.instances)
    one.groups = [
        ServerGroup('g-db', 'anti-affinity', uuids[8:11], 'database'),
        ServerGroup('g-q', 'affinity', [*uuids[16:18], 'elsewhere'], 'queue'),
    ]
    services = one.services or {}
    services['cmp-0000'].status = 'disabled'
    services['cmp-0000'].disabled_reason = 'new disks'
    services['cmp-0003'].state = 'down'
    services['cmp-0003'].status = 'disabled'
    one.instances[uuids[0]].locked = True
    one.instances[uuids[40]].metadata = {'kronos:pin': ''}
    one.readings['net'].imbalance.samples[4].value = 37.0
    one.warnings = ['Placement: 503 Service Unavailable']
    two = snapshot('_unassigned_', [f'b-{n}' for n in range(5)], 6, seed=3)
    found = document(
        one,
        two,
        evacuate=True,
        enforce_hard_affinity=True,
        max_migrations=30,
    )
    found['scopes'][0]['effect'] = _effect()
    return found


def _effect() -> dict[str, Any]:
    """Two earlier plans, the older one without an effect on a policy."""
    half = PolicyEffect(
        'cpu', [HostChange('h1', -0.2, -0.1), HostChange('h2', 0.2, 0.1)]
    )
    lost = PolicyEffect('cpu', unmeasured=Unmeasured.FORMER_QUERY)
    plans = [
        PlanEffect(PastPlan(uuid, 'SUCCEEDED', 'alpha', 0.0, []), [effect])
        for uuid, effect in (
            ('0d1e3f4a-0000-4000-8000-000000000003', half),
            ('0d1e3f4a-0000-4000-8000-000000000002', lost),
        )
    ]
    row = effects.row(scope_effects.by_scope(plans, ['cpu'])['alpha'])
    return _as_read(row or {})


def long() -> dict[str, Any]:
    """Two scopes whose tables can be sorted; hosts that have no values."""
    one = snapshot('alpha', names(30, 2), 8)
    two = snapshot('beta', [f'b-{n:02}' for n in range(24)], 9, seed=3)
    for each in (one, two):
        services = each.services or {}
        for host in list(services)[2:4]:
            services[host].status = 'disabled'
            services[host].disabled_reason = 'new disks'
        for at, instance in enumerate(each.instances.values()):
            instance.memory_mb = 1024 * (1 + at % 7)
    one.readings['net'].imbalance.samples.pop()
    return document(one, two, evacuate=True, max_migrations=26)


def nothing() -> dict[str, Any]:
    """A scope that stands still, and one without any usable policy."""
    still = snapshot('still', ['a1', 'a2', 'a3'], 2)
    still.services = None
    dark = snapshot('dark', ['b1', 'b2'], 2, seed=2)
    for readings in dark.readings.values():
        readings.imbalance.samples.clear()
    return document(still, dark)


def large(hosts: int = 1000, each: int = 20) -> dict[str, Any]:
    """The size that is promised."""
    found = snapshot('everything', names(hosts, hosts // 50), each)
    return document(found, max_migrations=40)


def packed() -> dict[str, Any]:
    """Hosts that are to be filled and others that are emptied."""
    policies = [
        one.model_copy(
            update={
                'mode': Mode.PACK,
                'capacity_query': 'up',
                'capacity_threshold': 0.9,
            }
        )
        for one in POLICIES
    ]
    found = snapshot('alpha', names(60, 2), 3, policies=policies)
    for readings in found.readings.values():
        readings.capacity = readings.imbalance
    plan = propose([found], policies, Settings(max_migrations=30))
    return _as_read(report_document.document(plan, ABOUT))


def roomy() -> dict[str, Any]:
    """Room for two flavors on hosts that are more than can be drawn."""
    found = rooms.scope(names(60))
    settings = rooms.settings(flavors={'f8': 12, 'f10': 2})
    plan = propose([found], [builders.policy('cpu')], settings)
    return _as_read(report_document.document(plan, ABOUT))


def hostile() -> dict[str, Any]:
    """Every text of a report in the hands of somebody who means harm."""
    return dict(_poisoned(mixed(), iter(range(10**6))))


def old() -> dict[str, Any]:
    """As the first releases wrote it, without what was added since."""
    found = copy.deepcopy(mixed())
    for scope in found['scopes']:
        del scope['groups'], scope['instances']
        del scope['certificate'], scope['packing'], scope['effect']
        for one in scope['policies']:
            for score in one['scores']:
                del score['after']
    return found


_KEPT = {'stopped', 'health', 'format_version'}
"""Of these the engine knows all values."""
_FIELDS = {
    'name', 'host', 'source', 'destination', 'instance', 'instance_name',
}  # fmt: skip


def _poisoned(value: Any, lots: Any) -> Any:
    """The same document with each text made hostile, in the same places.

    The same text becomes the same again, so that names still match.
    """
    seen: dict[str, str] = {}

    def one(text: str) -> str:
        if text not in seen:
            seen[text] = f'{HOSTILE[len(seen) % len(HOSTILE)]}{len(seen)}'
        return seen[text]

    def walk(value: Any, key: str = '') -> Any:
        if isinstance(value, dict):
            fixed = _is_shape(value)
            return {
                (name if fixed else one(name)): walk(sub, name)
                for name, sub in value.items()
            }
        if isinstance(value, list):
            return [walk(sub, key) for sub in value]
        if isinstance(value, str) and value and key not in _KEPT:
            return one(value)
        return value

    return walk(value)


def _is_shape(value: dict[str, Any]) -> bool:
    """Whether the keys of a mapping are fields and not data."""
    return bool(
        value.keys()
        & {'scopes', 'steps', 'skipped', 'normalized', 'count', 'reason',
           'availability_zone', 'most_per_host', 'phase', 'uuid', 'gap',
           'trust', 'predicted'}
    ) or value.keys() == {'name', 'host'}  # fmt: skip
