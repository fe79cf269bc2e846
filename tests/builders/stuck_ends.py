# SPDX-License-Identifier: Apache-2.0
"""How does a test get a scope at whose ends nothing can be done?"""

import random

from kronos.engine.settings import SearchName, Settings
from kronos.engine.types import Instance, Snapshot
from kronos.policies.models import Policy
from tests.builders import scopes

HIGH = 'zone', 'cell', 'locked', 'pci'
LOW = 'zone', 'cell', 'full', 'excluded'
ROOM = {'VCPU': 1000, 'MEMORY_MB': 1 << 20, 'DISK_GB': 1000}


def zone_beside_a_zone(
    threshold: float = 0.15,
) -> tuple[Snapshot, list[Policy], Settings]:
    """An even zone above an uneven one, and an empty one below both."""
    lot = StuckEnds(random.Random(0), 1)
    lot.group('dc1', [0.8, 0.8], 8, pinned=True)
    lot.host('b1', 'dc2', [0.7], [[0.1]] * 6, pinned=True)
    lot.host('b2', 'dc2', [0.1], [])
    lot.host('t1', 'tie', [0.02], [])
    policies = [scopes.policy('cpu', threshold=threshold)]
    return lot.snapshot(policies), policies, Settings(max_migrations=10)


def draw(seed: int) -> tuple[Snapshot, list[Policy], Settings]:
    """An uneven middle, and up to two levels at each end, by lot."""
    rng = random.Random(seed)
    policies = [scopes.policy('cpu', threshold=rng.choice([0.05, 0.1, 0.15]))]
    if rng.random() < 0.3:
        policies = [
            scopes.policy('cpu', 0.6, threshold=0.1),
            scopes.policy('ram', 0.4, threshold=rng.choice([0.1, 0.3])),
        ]
    lot = StuckEnds(rng, len(policies))
    lot.middle()
    for level, kind in enumerate(rng.choices(HIGH, k=rng.randint(1, 2))):
        lot.high(kind, level)
    for level, kind in enumerate(rng.choices(LOW, k=rng.randint(1, 2))):
        lot.low(kind, level)
    search = rng.choice([SearchName.GREEDY, SearchName.BEST])
    settings = Settings(max_migrations=10, search=search, min_gain=0.0005)
    return lot.snapshot(policies), policies, settings


class StuckEnds:
    """A scope in the making.

    :param policies: how many
    """

    def __init__(self, rng: random.Random, policies: int) -> None:
        self._rng = rng
        self._policies = policies
        self._hosts: dict[str, list[float]] = {}
        self._vms: list[tuple[Instance, list[float]]] = []
        self._zones: dict[str, str] = {}
        self._cells: dict[str, str] = {}
        self._full: list[str] = []
        self._excluded: list[str] = []

    def host(
        self,
        name: str,
        zone: str,
        scores: list[float],
        servers: list[list[float]],
        *,
        pinned: bool = False,
        cell: str = 'cell1',
        **more: object,
    ) -> None:
        self._hosts[name] = scores
        self._zones[name], self._cells[name] = zone, cell
        for usage in servers:
            number = len(self._vms)
            self._vms.append(
                scopes.vm(
                    f'v{number:02}',
                    name,
                    usage,
                    vcpus=1,
                    pinned_availability_zone=zone if pinned else None,
                    **more,
                )
            )

    def group(
        self, zone: str, values: list[float], servers: int, *, pinned: bool
    ) -> None:
        """Hosts of one zone, each with so many equal servers."""
        for number, value in enumerate(values):
            usage = [[value / servers] * self._policies] * servers
            scores = [value] * self._policies
            self.host(f'{zone}-{number}', zone, scores, usage, pinned=pinned)

    def middle(self) -> None:
        """Hosts that differ, from one of which servers can go."""
        rng = self._rng
        others = rng.randint(1, 2)
        servers = [
            [round(rng.uniform(0.04, 0.12), 2) for _ in range(self._policies)]
            for _ in range(rng.randint(2, 5 - others))
        ]
        low = [round(rng.uniform(0.2, 0.3), 2) for _ in range(self._policies)]
        scores = [low[p] + 0.3 for p in range(self._policies)]
        self.host('m0', 'mid', scores, servers, pinned=True)
        for number in range(others):
            self.host(f'm{number + 1}', 'mid', list(low), [])

    def high(self, kind: str, level: int) -> None:
        """One or two hosts above the middle, as good as even."""
        rng, zone = self._rng, 'mid'
        if kind == 'zone':
            zone = f'high{level}'
        cell = f'high{level}' if kind == 'cell' else 'cell1'
        more: dict[str, object] = {}
        if kind == 'locked':
            more['locked'] = True
        if kind == 'pci':
            more['extra_specs'] = {'pci_passthrough:alias': 'nic:1'}
        value = 0.75 + 0.1 * level
        for number in range(rng.randint(1, 2)):
            score = value + rng.choice([0.0, 0.0, 0.02])
            usage = [[score / 2] * self._policies] * 2
            self.host(
                f'h{level}{number}',
                zone,
                [score] * self._policies,
                usage,
                pinned=True,
                cell=cell,
                **more,
            )

    def low(self, kind: str, level: int) -> None:
        """One or two hosts below the middle, which can take nothing."""
        rng, zone = self._rng, 'mid'
        if kind == 'zone':
            zone = f'low{level}'
        cell = f'low{level}' if kind == 'cell' else 'cell1'
        for number in range(rng.randint(1, 2)):
            name = f'l{level}{number}'
            score = 0.02 + 0.04 * level + rng.choice([0.0, 0.0, 0.01])
            self.host(name, zone, [score] * self._policies, [], cell=cell)
            if kind == 'full':
                self._full.append(name)
            if kind == 'excluded':
                self._excluded.append(name)

    def snapshot(self, policies: list[Policy]) -> Snapshot:
        scope = scopes.scope(policies, self._hosts, self._vms)
        for name, host in scope.hosts.items():
            host.availability_zone = self._zones[name]
            host.cell = self._cells[name]
            if name in self._excluded:
                host.excluded = 1.0
        full = dict.fromkeys(ROOM, 0)
        rooms = {
            name: full if name in self._full else ROOM for name in scope.hosts
        }
        scopes.give_room(scope, rooms)
        return scope
