# SPDX-License-Identifier: Apache-2.0
"""The events of a run, chosen by its seed alone. Standard library only.

Event k is drawn from the seed and k, so it is the same however long the run
is and whatever came of those before.
"""

import heapq
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

FIRST, PAUSES = 5.0, (1.5, 5.0)
"""Seconds before the first event, and between two of them."""
BEGIN, END = 'begin', 'end'


@dataclass(frozen=True)
class Names:
    """What there is to play with."""

    hosts: tuple[str, ...]
    servers: tuple[str, ...]
    """Of servers that there may be."""
    groups: tuple[str, ...]
    flavors: tuple[str, ...]
    killed: tuple[str, ...]
    """Services that may be killed."""
    stopped: tuple[str, ...]
    """Services that end in good order only: they would lose data."""
    databases: tuple[str, ...] = ()
    brokers: tuple[str, ...] = ()
    """Nodes, of each of which one may be away."""
    clocks: tuple[str, ...] = ()
    """Services whose clock may differ."""

    @property
    def kinds(self) -> 'dict[str, tuple[float, Maker]]':
        """How likely each kind of event is, and who makes one."""
        if not self.databases:
            return KINDS
        others = {
            kind: maker
            for kind, maker in KINDS.items()
            if kind != 'stop' or self.stopped
        }
        return others | NODE_KINDS


@dataclass(frozen=True)
class Event:
    """One thing that happens."""

    number: int
    kind: str
    subject: str = ''
    """A server, a host or a service, by name."""
    seconds: float = 0.0
    """Until it is taken back; 0: it is not."""
    told: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        parts = [self.kind, self.subject]
        parts += [f'{key}={value}' for key, value in self.told.items()]
        if self.seconds:
            parts.append(f'for {self.seconds:g} s')
        return ' '.join(part for part in parts if part)


@dataclass(frozen=True, order=True)
class Step:
    """The beginning or the end of an event."""

    at: float
    """Seconds from the start."""
    number: int
    phase: str
    event: Event = field(compare=False)

    def __str__(self) -> str:
        taken_back = 'no more ' if self.phase == END else ''
        return f'#{self.number} {taken_back}{self.event}'


def steps(seed: int, names: Names, seconds: float) -> Iterator[Step]:
    """All that happens in so many seconds, in the order of its time.

    What began is taken back, after the end if need be.
    """
    waiting: list[Step] = []
    at = FIRST
    for number in itertools.count():
        if at >= seconds:
            break
        event = draw(seed, number, names)
        heapq.heappush(waiting, Step(at, number, BEGIN, event))
        if event.seconds:
            over = Step(at + event.seconds, number, END, event)
            heapq.heappush(waiting, over)
        at += round(_chance(seed, number, 'pause').uniform(*PAUSES), 1)
        while waiting and waiting[0].at < at:
            yield heapq.heappop(waiting)
    while waiting:
        yield heapq.heappop(waiting)


def draw(seed: int, number: int, names: Names) -> Event:
    """One event of a seed."""
    chance = _chance(seed, number, 'event')
    makers = names.kinds
    weights = [weight for weight, _ in makers.values()]
    [kind] = chance.choices(list(makers), weights)
    return makers[kind][1](chance, number, kind, names)


def _chance(seed: int, number: int, what: str) -> random.Random:
    # Nobody is to be surprised by it.
    return random.Random(f'{seed}/{number}/{what}')  # noqa: S311


def _boot(
    chance: random.Random, number: int, kind: str, names: Names
) -> Event:
    told: dict[str, Any] = {
        'flavor': chance.choice(names.flavors),
        'cpu': round(chance.uniform(0.1, 2.5), 1),
        'memory_mb': chance.randrange(500, 2000, 100),
    }
    if chance.random() < 0.4:
        told['group'] = chance.choice(names.groups)
    return Event(number, kind, chance.choice(names.servers), told=told)


def _server(
    chance: random.Random, number: int, kind: str, names: Names
) -> Event:
    return Event(number, kind, chance.choice(names.servers))


def _server_for_a_while(
    chance: random.Random, number: int, kind: str, names: Names
) -> Event:
    name = chance.choice(names.servers)
    return Event(number, kind, name, _seconds(chance, 5, 30))


def _resize(
    chance: random.Random, number: int, kind: str, names: Names
) -> Event:
    told = {'flavor': chance.choice(names.flavors)}
    name = chance.choice(names.servers)
    return Event(number, kind, name, _seconds(chance, 8, 20), told)


def _migrate(
    chance: random.Random, number: int, kind: str, names: Names
) -> Event:
    name = chance.choice(names.servers)
    return Event(number, kind, name, told={'to': chance.choice(names.hosts)})


def _host_for_a_while(
    chance: random.Random, number: int, kind: str, names: Names
) -> Event:
    host = chance.choice(names.hosts)
    return Event(number, kind, host, _seconds(chance, 8, 45))


def _demand(
    chance: random.Random, number: int, kind: str, names: Names
) -> Event:
    told = {'cpu': chance.choice(DEMANDS)}
    return Event(number, kind, chance.choice(names.hosts), told=told)


def _kill_service(
    chance: random.Random, number: int, kind: str, names: Names
) -> Event:
    name = chance.choice(names.killed)
    return Event(number, kind, name, _seconds(chance, 2, 20))


def _stop_service(
    chance: random.Random, number: int, kind: str, names: Names
) -> Event:
    name = chance.choice(names.stopped)
    return Event(number, kind, name, _seconds(chance, 2, 10))


def _node(
    chance: random.Random, number: int, kind: str, names: Names
) -> Event:
    nodes = names.databases
    if kind != 'node-desync':
        nodes += names.brokers
    return Event(number, kind, chance.choice(nodes), _seconds(chance, 5, 30))


def _clock(
    chance: random.Random, number: int, kind: str, names: Names
) -> Event:
    told = {'ahead': chance.choice(AHEAD)}
    name = chance.choice(names.clocks)
    return Event(number, kind, name, _seconds(chance, 40, 90), told)


def _prometheus(
    chance: random.Random, number: int, kind: str, names: Names
) -> Event:
    told = {'trouble': chance.choice(TROUBLES)}
    return Event(number, kind, '', _seconds(chance, 5, 30), told)


def _exporter(
    chance: random.Random, number: int, kind: str, names: Names
) -> Event:
    hosts = chance.sample(names.hosts, chance.randint(1, 4))
    told: dict[str, Any] = {'down': sorted(hosts)}
    if chance.random() < 0.5:
        host, cores = chance.choice(names.hosts), chance.choice((0, 8, 900))
        told = {'base': {host: {'cpu': cores}}}
    return Event(number, kind, '', _seconds(chance, 8, 20), told)


def _nova_api(
    chance: random.Random, number: int, kind: str, names: Names
) -> Event:
    rule = {
        'method': chance.choice(('GET', 'POST', 'DELETE', '.*')),
        'path': chance.choice(('/servers', '/os-migrations', '.*')),
        'answer': chance.choice(
            (429, 500, 503, 'reset', 'swallow', 'refuse', 'hang', 'late')
        ),
        'count': chance.randint(1, 5),
        'seconds': chance.randint(1, 15),
    }
    return Event(number, kind, '', _seconds(chance, 5, 30), {'rule': rule})


def _migrations(
    chance: random.Random, number: int, kind: str, names: Names
) -> Event:
    end = chance.choice(('destination:', 'source:')) + chance.choice(
        names.hosts
    )
    rule = chance.choice(MIGRATIONS)
    told = {'of': chance.choice(('default', end)), 'rule': rule}
    return Event(number, kind, '', _seconds(chance, 10, 40), told)


def _plain(
    chance: random.Random, number: int, kind: str, names: Names
) -> Event:
    return Event(number, kind)


def _seconds(chance: random.Random, low: int, high: int) -> float:
    return float(chance.randint(low, high))


AHEAD = (-100.0, -90.0, 90.0, 100.0)
"""Seconds; Watcher takes a service that is silent for 90 for dead."""
DEMANDS = (0.2, 0.5, 3.0, 4.0)
"""Cores of each server of a host; what lies between is even enough."""
TROUBLES = ('NaN', '1e308', 'twice', 'HTML', 'silent', 'broken')
"""See labkit.troubled."""
MIGRATIONS: tuple[dict[str, Any], ...] = (
    {'seconds': 8},
    {'seconds': 30},
    {'seconds': 5, 'stall_at': 0.5},
    {'accepted_seconds': 4},
    {'queued_seconds': 10},
    {'preparing_seconds': 8},
    {'post_seconds': 6},
    {'fail': 'destination-check'},
    {'fail': 'source-check'},
    {'fail': 'pre'},
    {'seconds': 4, 'end': 'failed', 'fail_at': 0.5},
    {'seconds': 3, 'end': 'error', 'fail_at': 0.5},
)
"""See labkit.faults; none after which Nova's own books are wrong for ever."""

Maker = Callable[[random.Random, int, str, Names], Event]
KINDS: dict[str, tuple[float, Maker]] = {
    'boot': (7, _boot),
    'delete': (2, _server),
    'stop-server': (2, _server_for_a_while),
    'lock': (3, _server_for_a_while),
    'resize': (2, _resize),
    'migrate': (4, _migrate),
    'disable': (5, _host_for_a_while),
    'kill-host': (3, _host_for_a_while),
    'demand': (16, _demand),
    'kill': (4, _kill_service),
    'stop': (0.5, _stop_service),
    'prometheus': (3, _prometheus),
    'exporter': (1, _exporter),
    'nova-api': (3, _nova_api),
    'migrations': (5, _migrations),
    'cancel-plan': (3, _plain),
}
"""How likely each kind is, and who makes one."""
NODE_KINDS: dict[str, tuple[float, Maker]] = {
    'node-kill': (2, _node),
    'node-stop': (1, _node),
    'node-pause': (1.5, _node),
    'node-isolate': (2, _node),
    'node-desync': (1.5, _node),
    'node-fill': (1, _node),
    'clock': (1.5, _clock),
}
"""The same, of the nodes of databases and brokers, and of clocks."""
