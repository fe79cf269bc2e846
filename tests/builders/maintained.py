# SPDX-License-Identifier: Apache-2.0
"""A cloud that is maintained: hosts with servers, and its run to the end.

Each round plans from what the cloud shows, and from nothing else.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kronos.engine.planning.propose import propose
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    ComputeService,
    Headroom,
    Instance,
    ServerGroup,
    Snapshot,
)
from kronos.extensions.maintenance import (
    host_states,
    maintenance,
    outcome,
)
from kronos.extensions.maintenance.closing_reason import (
    ClosingReason,
    Step,
    parsed,
)
from kronos.extensions.maintenance.extension import MaintenanceRun
from kronos.extensions.maintenance.host_states import State
from kronos.extensions.maintenance.maintenance import Maintenance, RunView
from tests.builders import scopes

GIB = 1024
MEMORY_GIB, VCPUS = 512, 256
SIZES = {4: 0.22, 8: 0.34, 16: 0.24, 32: 0.13, 64: 0.06, 128: 0.01}
"""GiB of a server, and how frequent it is."""
AUDIT = 'a0d17000-1111-4111-8111-111111111111'
MEMORY = scopes.policy('memory', capacity_threshold=0.95)


def cloud(
    hosts: int, allocated: float, seed: int, spares: int = 0
) -> Snapshot:
    """Hosts that are filled to a share, and empty ones that are not.

    A fifth of the servers is in groups of two to five that stay apart.
    """
    rng = random.Random(seed)
    names = [f'host-{number:03}' for number in range(hosts + spares)]
    servers: list[Instance] = []
    for name in names[:hosts]:
        target = MEMORY_GIB * min(0.96, rng.gauss(allocated, 0.04))
        used = vcpus = 0
        while used < target - 2:
            [size] = rng.choices(list(SIZES), list(SIZES.values()))
            if used + size > target + 2:
                size = max(s for s in [0, *SIZES] if used + s <= target + 2)
            if not size:
                break
            share = max(1, round(size / rng.choice([2.5, 4, 4, 8])))
            share = max(1, min(share, round(0.96 * VCPUS) - vcpus))
            servers.append(
                Instance(
                    f'{len(servers):08}-1111-4111-8111-111111111111',
                    name,
                    vcpus=share,
                    memory_mb=size * GIB,
                )
            )
            used, vcpus = used + size, vcpus + share
    usage = Counter[str]()
    for server in servers:
        usage[server.host] += server.memory_mb
    total = MEMORY_GIB * GIB
    snapshot = scopes.scope(
        [MEMORY],
        {name: [usage[name] / total] for name in names},
        [(server, [server.memory_mb / total]) for server in servers],
        groups=_groups(servers, rng),
    )
    room = {'VCPU': VCPUS, 'MEMORY_MB': total, 'DISK_GB': 10**6}
    scopes.give_room(snapshot, dict.fromkeys(names, room))
    return snapshot


def _groups(servers: list[Instance], rng: random.Random) -> list[ServerGroup]:
    chosen = rng.sample(servers, len(servers) // 5)
    groups: list[ServerGroup] = []
    while chosen:
        size = rng.choices([2, 3, 5], [0.3, 0.5, 0.2])[0]
        members: dict[str, Instance] = {}
        for server in list(chosen):
            if server.host not in members and len(members) < size:
                members[server.host] = server
                chosen.remove(server)
        if len(members) < 2:
            break
        uuids = [server.uuid for server in members.values()]
        number = len(groups)
        groups.append(ServerGroup(f'group-{number}', 'anti-affinity', uuids))
    return groups


@dataclass
class Run:
    """A run through a cloud, round after round."""

    cloud: Snapshot
    asked: Maintenance
    settings: Settings = field(default_factory=Settings)
    work_rounds: int = 1
    """Rounds for which a host is handed over."""
    moves: Counter[str] = field(default_factory=Counter)
    """By uuid of a server."""
    rounds: int = 0
    most_closed: int = 0
    done: set[str] = field(default_factory=set)
    left: dict[str, int] = field(default_factory=dict)
    """Hosts that are handed over, and rounds until they are done."""

    def __post_init__(self) -> None:
        self.settings = replace(
            self.settings,
            extension=MaintenanceRun(self.asked),
            evacuate=True,
            rebalance=False,
            unlimited=True,
            cooldown_seconds=0.0,
            instance_cooldown_seconds=0.0,
            drain_may_exceed_threshold=True,
        )

    def to_end(self, most: int = 1000) -> None:
        """Go on until all hosts are done, or nothing happens any more."""
        while self.rounds < most and self.done != {*self.asked.hosts}:
            if not self.round():
                return

    def round(
        self,
        fails: Callable[[], bool] = lambda: False,
        planned: AggregateResult | None = None,
    ) -> bool:
        """Plan, and carry the plan out; whether anything happened.

        :param fails: whether the next move fails
        :param planned: the plan, where somebody has just made it
        """
        result = planned or self.plan()
        before = len(self.done), sum(self.moves.values()), dict(self.left)
        for host in outcome.of(result).waves.closing:
            self._close(host, Step.EMPTYING)
        for step in result.steps:
            if not fails():
                self.move(step.instance, step.destination)
        self._hand_over()
        self._check()
        self.rounds += 1
        after = len(self.done), sum(self.moves.values()), dict(self.left)
        return before != after

    def plan(self, view: RunView | None = None) -> AggregateResult:
        """Plan once.

        :param view: what the queries say; without, they name what is done
        """
        done = sorted(self.done)
        view = view or RunView(done=done, ready=done)
        now = replace(
            self.cloud,
            beside={maintenance.NAME: view},
            taken_at=self.cloud.taken_at + 60 * self.rounds,
        )
        report = propose([now], [MEMORY], self.settings)
        return report.scopes[0]

    def move(self, uuid: str, destination: str) -> None:
        server = self.cloud.instances[uuid]
        for host, sign in ((server.host, -1), (destination, 1)):
            for kind, need in server.demand.items():
                room = self.cloud.hosts[host].headroom
                assert room is not None
                room[kind] = Headroom(
                    room[kind].capacity, room[kind].used + sign * need
                )
            self._shift(host, sign * server.memory_mb / MEMORY_GIB / GIB)
        server.host = destination
        self.moves[uuid] += 1

    def delete(self, uuid: str) -> None:
        """Delete a server, as its owner may at any time."""
        server = self.cloud.instances.pop(uuid)
        for kind, need in server.demand.items():
            room = self.cloud.hosts[server.host].headroom
            assert room is not None
            room[kind] = Headroom(room[kind].capacity, room[kind].used - need)
        self._shift(server.host, -server.memory_mb / MEMORY_GIB / GIB)

    def emptying(self) -> list[str]:
        """Hosts that the run has closed and that are not handed over."""
        states = host_states.of(self.cloud, self.asked)
        return [
            name
            for name, row in states.items()
            if row.reason is not None and row.reason.step is Step.EMPTYING
        ]

    def _shift(self, host: str, share: float) -> None:
        samples = self.cloud.readings['memory'].imbalance.samples
        for number, sample in enumerate(samples):
            if sample.label == host:
                samples[number] = replace(sample, value=sample.value + share)

    def _close(self, host: str, step: Step) -> None:
        assert self.cloud.services is not None
        reason = ClosingReason(self.asked.run, step, 60.0 * self.rounds, AUDIT)
        self.cloud.services[host] = ComputeService(
            host,
            state='up',
            status='disabled',
            disabled_reason=str(reason),
        )

    def _hand_over(self) -> None:
        """Hosts without servers are handed over, and done some rounds on."""
        assert self.cloud.services is not None
        occupied = {server.host for server in self.cloud.instances.values()}
        for host, rounds in list(self.left.items()):
            self.left[host] = rounds - 1
            if rounds <= 1:
                del self.left[host]
                self.done.add(host)
                self.cloud.services[host] = ComputeService(
                    host, state='up', status='enabled'
                )
        for host, service in self.cloud.services.items():
            reason = parsed(service.disabled_reason)
            is_emptied = reason is not None and reason.step is Step.EMPTYING
            if is_emptied and host not in occupied:
                self._close(host, Step.HANDED_OVER)
                self.left[host] = self.work_rounds

    def _check(self) -> None:
        states = host_states.of(self.cloud, self.asked)
        closed = [
            name
            for name, row in states.items()
            if row.state not in (State.TO_DO, State.DONE)
        ]
        self.most_closed = max(self.most_closed, len(closed))
