# SPDX-License-Identifier: Apache-2.0
"""What is an hour of load, and what would the simulator plan in it?"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kronos.engine.planning.propose import ScheduledPlan
from kronos.engine.types import Event
from kronos.recordings.recording import Recording
from kronos.simulate import load_schema, variants
from kronos.simulate.audits import Auditor
from kronos.simulate.load import Floats, Load
from kronos.simulate.load_schema import Meta, PolicyRow, ServerRow
from kronos.simulate.loop import Loop

from labkit import topology  # isort: skip

STEP = 300
"""Seconds from tick to tick."""
MIB = 2**20
POLICIES = ('cpu', 'memory')
SMALLEST, LARGEST = 0.15, 1.5
"""Of the servers' usages, in cores."""
BUSY = 2.5
"""Times its usage a server has once its host has become busy."""
TICKS_BETWEEN = 3
"""Ticks after which the next host becomes busy."""
Step = tuple[str, str, str]
"""Server, source and destination, by name."""


@dataclasses.dataclass
class Hour:
    """What servers use, tick by tick, and where they are at first."""

    cores: dict[str, list[float]]
    memory_mb: dict[str, float]
    hosts: dict[str, str]


def made_up(seed: int, ticks: int, counts: Mapping[str, int]) -> Hour:
    """An hour in which the servers of one host after another become busy.

    :param counts: servers by host at first
    """
    rng = np.random.default_rng(seed)
    placed = [host for host, count in counts.items() for _ in range(count)]
    names = [f'{host}-{number}' for number, host in enumerate(placed)]
    mean = rng.permutation(np.geomspace(SMALLEST, LARGEST, len(names)))
    usage = mean * rng.lognormal(0.0, 0.15, (ticks, len(names)))
    for tick, host in zip(
        range(2, ticks, TICKS_BETWEEN),
        rng.permutation(list(counts)),
        strict=False,
    ):
        usage[tick:, [each == host for each in placed]] *= BUSY
    usage = np.clip(usage, 0.05, 3.9).round(3)
    memory = rng.uniform(1500, 2500, len(names)).round()
    return Hour(
        dict(zip(names, usage.T.tolist(), strict=True)),
        dict(zip(names, memory.tolist(), strict=True)),
        dict(zip(names, placed, strict=True)),
    )


def load(
    recording: Recording, hour: Hour, start: float, speed: float, before: int
) -> Load:
    """The hour as a load, of the cloud of a recording.

    :param start: of the hour, when the recording was made
    :param speed: what came before the start becomes so many times as old
    :param before: ticks that precede the hour, all like its first one
    """
    for server in recording.gathered.instances:
        server.created = start - (start - server.created) * speed
    by_name = {server.name: server for server in recording.gathered.instances}
    servers = [by_name[name] for name in hour.cores]
    hosts = topology.AGGREGATES['alpha']
    sizes = [topology.HOSTS[host] for host in hosts]
    rows = np.array([*hour.cores.values()], np.float32).T
    rows = np.concatenate([rows[:1]] * before + [rows])
    ticks = len(rows)
    memory = [hour.memory_mb[name] * MIB for name in hour.cores]
    own = {
        'cpu': [size.base_cores for size in sizes],
        'memory': [size.base_memory_mb * MIB for size in sizes],
    }
    capacity = {
        'cpu': [size.cores for size in sizes],
        'memory': [size.memory_mb * MIB for size in sizes],
    }
    places = np.array([hosts.index(each.host) for each in servers], np.int32)
    return Load(
        Meta(
            load_schema.FORMAT_VERSION,
            STEP,
            start - before * STEP,
            ticks,
            hosts,
            [ServerRow(server.uuid, server.name) for server in servers],
            dict.fromkeys(POLICIES, PolicyRow()),
        ),
        recording,
        np.tile(places, (ticks, 1)),
        {'cpu': rows, 'memory': _rows(memory, ticks)},
        {name: _rows(own[name], ticks) for name in POLICIES},
        {name: np.array(capacity[name], np.float32) for name in POLICIES},
    )


def _rows(values: Any, ticks: int) -> Floats:
    rows: Floats = np.tile(np.asarray(values, np.float32), (ticks, 1))
    return rows


class Plans:
    """What an auditor of the simulator plans, audit by audit.

    :param before: ticks that pass before its first audit
    """

    def __init__(self, auditor: Auditor, before: int) -> None:
        self._plan = auditor.plan
        self._before = before
        self._plans: list[ScheduledPlan | None] = []
        auditor.plan = self.plan  # type: ignore[method-assign]

    def plan(
        self, tick: int, now: float, events: list[Event]
    ) -> ScheduledPlan | None:
        """As the auditor does, once the hour has begun."""
        if tick < self._before:
            return None
        self._plans.append(self._plan(tick, now, events))
        return self._plans[-1]

    def steps(self) -> list[list[Step]]:
        """Those of every audit, in the order of its plan."""
        return [
            [
                (step.instance_name, step.source, step.destination)
                for step in (plan.report.steps if plan else [])
            ]
            for plan in self._plans
        ]


def simulated(
    load: Load, before: int, settings: Sequence[tuple[str, str]]
) -> tuple[list[list[Step]], dict[str, str]]:
    """The steps of all audits, and where the servers are at the end.

    :param before: ticks without audits
    :param settings: as ``kronos-simulate --set`` takes them
    """
    request = variants.Request(base=settings)
    ran = Loop(load, variants.columns(load, request)[variants.BASE])
    plans = Plans(ran.auditors[0], before)
    for tick in range(load.ticks - 1):
        ran.tick(tick)
    ran.moves.advance(load.meta.start + load.ticks * load.meta.step)
    placed = {
        server.name: server.host for server in ran.cloud.instances.values()
    }
    return plans.steps(), placed
