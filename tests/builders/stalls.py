# SPDX-License-Identifier: Apache-2.0
"""The stall set: small scopes in which moving one by one is apt to stall.

Several hosts tie at both ends, usages are multiples of a step, hosts are new
and empty, or hosts are hot by different policies.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from kronos.engine.types import Instance, Snapshot
from kronos.policies.models import Policy
from tests.builders import scopes

POLICIES = {'cpu': 0.5, 'ram': 0.3, 'net': 0.2}
"""Weights by name."""
THRESHOLDS = (0.1, 0.15, 0.2)
IDLE = 0.05
"""The score of an empty host."""


@dataclass
class Stall:
    """One scope of the set, and what it is made of."""

    policies: list[Policy]
    hosts: dict[str, list[float]]
    """By host the score of each policy."""
    vms: list[tuple[Instance, list[float]]] = field(default_factory=list)
    """Each with its share of each policy, which is the same on any host."""

    @property
    def snapshot(self) -> Snapshot:
        return scopes.scope(self.policies, self.hosts, self.vms)

    def add(self, host: int, usage: list[float]) -> None:
        """Put one more instance on a host."""
        name = f'h{host}'
        instance, _ = scopes.vm(f'v{len(self.vms):03}', name, usage)
        self.vms.append((instance, usage))
        for index, share in enumerate(usage):
            self.hosts[name][index] += share


def draw(kind: str, seed: int) -> Stall:
    """A scope of a kind, always the same.

    :param kind: of :data:`KINDS`
    """
    rng = random.Random(f'{kind}{seed}')
    hosts = rng.randint(5, 9)
    names = list(POLICIES)[: 2 if kind == 'ties' else 3]
    threshold = rng.choice(THRESHOLDS)
    stall = Stall(
        [
            scopes.policy(name, POLICIES[name], threshold=threshold)
            for name in names
        ],
        {f'h{host}': [IDLE] * len(names) for host in range(hosts)},
    )
    KINDS[kind](stall, hosts, rng)
    return stall


def _ties(stall: Stall, hosts: int, rng: random.Random) -> None:
    """Two or three hosts are the highest, two the lowest."""
    hot = rng.randint(2, 3)
    for host in range(hosts):
        number = 6 if host < hot else 1 if host >= hosts - 2 else 3
        for _ in range(number):
            stall.add(host, [0.1, 0.1])


def _flavor(stall: Stall, hosts: int, rng: random.Random) -> None:
    """All usages are multiples of .02."""
    for host in range(hosts):
        for _ in range(rng.randint(3, 8)):
            size = 0.02 * rng.choice([1, 2, 4])
            stall.add(
                host,
                [
                    size * rng.choice([1, 2]),
                    size * rng.choice([1, 2]),
                    0.02 * rng.choice([0, 1, 2]),
                ],
            )


def _empty(stall: Stall, hosts: int, rng: random.Random) -> None:
    """One to three hosts are new."""
    new = rng.randint(1, 3)
    for host in range(hosts - new):
        for _ in range(6):
            stall.add(host, [0.1 if rng.random() < 0.7 else 0.09, 0.08, 0.05])


def _opposite(stall: Stall, hosts: int, rng: random.Random) -> None:
    """Each policy has hosts of its own that are hot."""
    for host in range(hosts):
        for _ in range(5):
            usage = [0.06, 0.06, 0.04]
            usage[host % 3] += 0.06 if rng.random() < 0.8 else 0
            stall.add(
                host,
                [round(share * rng.uniform(0.9, 1.1), 3) for share in usage],
            )


KINDS: dict[str, Callable[[Stall, int, random.Random], None]] = {
    'ties': _ties,
    'flavor': _flavor,
    'empty': _empty,
    'opposite': _opposite,
}
