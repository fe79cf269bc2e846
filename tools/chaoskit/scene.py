# SPDX-License-Identifier: Apache-2.0
"""The lab before the first event: servers, audits, options."""

import dataclasses
import random
import shutil
import time
from collections.abc import Iterator
from typing import Any

from labkit import layout, scores, services, topology
from labkit.ha import choice
from labkit.lab import Lab
from labkit.wanted import Wanted

from chaoskit.events import Names

COOLDOWN = 20
WINDOW_SECONDS = 15
SERVERS = tuple(f'vm-{number:02}' for number in range(26))
AT_FIRST = 20
GROUPS = {
    'apart': 'anti-affinity',
    'together': 'affinity',
    'rather-apart': 'soft-anti-affinity',
}
KILLED = (
    'keystone',
    'placement',
    'glance',
    'nova-api',
    'nova-conductor',
    'nova-scheduler',
    'nova-proxy',
    'neutron',
    'prometheus',
    'exporter',
    'watcher-api',
    'watcher-decision-engine',
    'watcher-decision-engine',
    'watcher-applier',
    'watcher-applier',
    services.SECOND_APPLIER,
    services.SECOND_ENGINE,
)
"""Those of Watcher are likelier."""
STOPPED = ('mariadb', 'rabbitmq')
"""The lab lets them keep their data in memory, which a crash would lose."""
NAMES = Names(
    hosts=tuple(topology.HOSTS),
    servers=SERVERS,
    groups=tuple(GROUPS),
    flavors=tuple(topology.FLAVORS),
    killed=KILLED,
    stopped=STOPPED,
)
HA_NAMES = dataclasses.replace(
    NAMES,
    killed=(*KILLED, services.SECOND_CONDUCTOR, services.SECOND_SCHEDULER),
    stopped=(),
    databases=choice.DATABASES,
    brokers=choice.BROKERS,
    clocks=(services.SECOND_APPLIER, services.SECOND_ENGINE),
)
"""In a lab with three databases and brokers."""
GOALS = {
    'kronos_spread': 'kronos_balance',
    'kronos_evacuate': 'kronos_drain',
    'kronos_affinity': 'kronos_affinity',
}
AUDITS = (
    ('kronos_spread', 'alpha', 10),
    ('kronos_spread', 'alpha', 13),
    ('kronos_spread', 'alpha,beta', 12),
    ('kronos_evacuate', 'alpha,beta', 15),
    ('kronos_affinity', 'alpha,beta', 20),
)
"""Strategy, aggregates and interval; some of them plan the same."""
OPTIONS: dict[str, Any] = {
    'cooldown': COOLDOWN,
    'instance_cooldown': 20,
    'return_guard': 30,
    'instance_quarantine_seconds': 60,
    'max_migrations': 5,
    'max_concurrent_migrations': 3,
    'drain_may_exceed_threshold': 'true',
    'retry_backoff': 1,
    'queue_timeout': 40,
    'migration_timeout': 45,
    'migration_timeout_per_gib': 0,
    'stall_timeout': 12,
}
WEIGHER = layout.SCHEDULER / 'chaos.conf'
POLICIES = layout.RUN / 'chaos-policies.yaml'
REPORTS = layout.RUN / 'chaos-reports'


def names(ha: bool) -> Names:
    """What there is to play with.

    :param ha: in a lab with three databases and brokers
    """
    return HA_NAMES if ha else NAMES


def options(prometheus: str) -> None:
    """Write the options of Kronos, in Watcher and in nova-scheduler."""
    shutil.rmtree(REPORTS, ignore_errors=True)
    REPORTS.mkdir()
    text = (layout.ROOT / 'etc/kronos/policies.yaml').read_text()
    POLICIES.write_text(scores.shortened(text, WINDOW_SECONDS))
    lines = [f'{key} = {value}' for key, value in OPTIONS.items()]
    metrics = f'[kronos_prometheus]\nurl = {prometheus}\ntimeout = 5\n'
    layout.KRONOS.write_text(
        '\n'.join(
            [
                '[kronos]',
                f'policies_file = {POLICIES}',
                f'report_dir = {REPORTS}',
                *lines,
                metrics,
            ]
        )
    )
    WEIGHER.write_text(
        '[filter_scheduler]\n'
        'weight_classes = nova.scheduler.weights.all_weighers,'
        'kronos.weighers.load.KronosWeigher\n'
        f'[kronos]\npolicies_file = {POLICIES}\nrefresh_seconds = 5\n'
        f'settling_seconds = {WINDOW_SECONDS}\n{metrics}'
    )


def no_options() -> None:
    for file in (layout.KRONOS, WEIGHER, POLICIES):
        file.unlink(missing_ok=True)


def groups(lab: Lab) -> dict[str, str]:
    """Make the server groups: name to uuid."""
    return {
        name: lab.cloud.group(name, policy) for name, policy in GROUPS.items()
    }


def boot(lab: Lab, seed: int, made: dict[str, str]) -> None:
    """Boot the first servers, unevenly over the hosts."""
    chance = random.Random(f'{seed}/servers')  # noqa: S311
    wanted = list(_wanted(chance, made))
    lab.cloud.boot_all(one for one in wanted if not one.group)
    for one in wanted:
        if one.group:
            # Side by side they would break its rule, as Nova finds too late.
            lab.cloud.boot_all([one])


def _wanted(chance: random.Random, made: dict[str, str]) -> Iterator[Wanted]:
    crowded = topology.AGGREGATES['alpha'][:3]
    for number, name in enumerate(SERVERS[:AT_FIRST]):
        group = (*GROUPS, None, None)[number % 5] if number < 10 else None
        yield Wanted(
            name,
            '' if group else chance.choice([*crowded, 'cmp7']),
            round(chance.uniform(0.2, 2.5), 1),
            chance.randrange(500, 2000, 100),
            flavor=chance.choice(['lab.small', 'lab.medium']),
            group=made[group] if group else None,
            zone='',
        )


def begin_audits(lab: Lab) -> dict[str, str]:
    """Create the continuous audits: name to uuid."""
    found = {}
    for number, (strategy, aggregates, seconds) in enumerate(AUDITS):
        told = {
            # Watcher keeps those of earlier runs.
            'name': f'chaos-{time.time():.0f}-{number}-{strategy}',
            'goal': GOALS[strategy],
            'strategy': strategy,
            'audit_type': 'CONTINUOUS',
            'interval': str(seconds),
            'auto_trigger': True,
            'force': True,
            'parameters': {'aggregates': aggregates},
        }
        made = lab.cloud.watcher('/v1/audits', 'post', json=told)
        found[told['name']] = made['uuid']
    return found


def end_audits(lab: Lab, audits: dict[str, str]) -> None:
    change = [{'op': 'replace', 'path': '/state', 'value': 'CANCELLED'}]
    for uuid in audits.values():
        url = f'/v1/audits/{uuid}'
        lab.cloud.watcher(url, 'patch', json=change, raise_exc=False)
