# SPDX-License-Identifier: Apache-2.0
"""Scopes in which large servers do not fit, and audits that make room."""

from collections.abc import Sequence
from typing import Any

from kronos.engine.planning import propose
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    Flavor,
    Headroom,
    ServerGroup,
    Snapshot,
)
from kronos.extensions.room import room
from kronos.extensions.room.extension import MakeRoom
from kronos.extensions.room.room import RoomNeeds, RoomRequest
from tests.builders import policies

CPUS = 10
FLAVORS = {
    name: Flavor(name, name, cpus, 4 * cpus)
    for name, cpus in (('f4', 4), ('f8', 8), ('f10', 10))
}


def scope(hosts: Sequence[str] = 'abc') -> Snapshot:
    """Hosts of 10 CPUs, each with a server of 4 CPUs and one of 2."""
    servers = [
        policies.instance(
            f'{host}{cpus}',
            host,
            vcpus=cpus,
            memory_mb=4 * cpus,
            flavor=f'f{cpus}',
        )
        for host in hosts
        for cpus in (4, 2)
    ]
    snapshot = policies.snapshot(
        {'cpu': dict.fromkeys(hosts, 0.5)},
        instances=servers,
        usages={'cpu': {f'dom-{server.uuid}': 0.01 for server in servers}},
    )
    for host in snapshot.hosts.values():
        host.headroom = {
            'VCPU': Headroom(CPUS, 6),
            'MEMORY_MB': Headroom(1000, 24),
        }
    snapshot.beside[room.NAME] = RoomNeeds(dict(FLAVORS))
    return snapshot


def apart(*members: str) -> ServerGroup:
    return ServerGroup('g', 'anti-affinity', [*members])


def settings(**request: Any) -> Settings:
    """Those of an audit."""
    asked = Settings()
    asked.extension = MakeRoom(RoomRequest(**request))
    asked.extension.prepare(asked)
    return asked


def plan(snapshot: Snapshot, **request: Any) -> AggregateResult:
    """The plan of a scope."""
    planned = propose.plan(
        [snapshot], [policies.policy('cpu')], settings(**request), 2
    )
    (result,) = planned.report.scopes
    return result


def moves(result: AggregateResult) -> list[tuple[str, str, str]]:
    return [(s.instance, s.source, s.destination) for s in result.steps]


def free(snapshot: Snapshot, result: AggregateResult) -> dict[str, int]:
    """CPUs of the hosts after a plan, by an account of its own.

    :raises AssertionError: a step finds too few
    """
    cpus = {
        name: host.headroom['VCPU'].capacity - host.headroom['VCPU'].used
        for name, host in snapshot.hosts.items()
        if host.headroom
    }
    for step in result.steps:
        server = snapshot.instances[step.instance]
        assert cpus[step.destination] >= server.vcpus, step
        cpus[step.destination] -= server.vcpus
        cpus[step.source] += server.vcpus
    return cpus
