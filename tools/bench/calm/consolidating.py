# SPDX-License-Identifier: Apache-2.0
"""Kronos as a planner of the public experiment on consolidation.

Its audits are those of the loop; migrations take what CloudSim lets them
take, and all of a plan run at once.
"""

import numpy as np
from generator import load_format
from generator.load_format import Days, Fleet

from bench.calm.planetlab import MIB_PER_SECOND, STEP, DataCenter, Plan
from kronos.engine.settings import PlanMode
from kronos.engine.types import Event, Origin, Outcome
from kronos.policies.models import Policy
from kronos.policies.windows import Window
from kronos.simulate.audits import Audit, Auditor
from kronos.simulate.cloud import NOWHERE, Cloud
from kronos.simulate.load import Load
from kronos.simulate.load_schema import ServerRow
from kronos.simulate.meter import Meter, QueryWindows
from kronos.snapshots import settings_from_conf

ROOMY = 2**30
"""Memory and vCPUs of a host: in CloudSim a running server needs none."""
CONCURRENT = 1000


def load(center: DataCenter, mode: PlanMode) -> Load:
    """A day as a load, with all where they are before the first tick."""
    servers = [
        ServerRow(
            f'00000000-0000-4000-8000-{number:012d}',
            f'vm-{number}',
            vcpus=1,
            memory_mb=int(memory),
            internal_name=f'instance-{number:08x}',
        )
        for number, memory in enumerate(center.memory)
    ]
    placement = np.broadcast_to(center.host, center.asked.T.shape)
    fleet = Fleet(center.capacity.tolist(), ROOMY, ROOMY)
    return load_format.load(
        Days(
            fleet,
            servers,
            placement.astype(np.int32),
            center.asked.T.astype(np.float32),
        ),
        mode,
    )


class Kronos:
    """A planner by the engine and its settings."""

    def __init__(
        self,
        center: DataCenter,
        policy: Policy,
        mode: PlanMode = PlanMode.PACK,
        window: Window | None = None,
        unlimited: bool = False,
        **options: str,
    ) -> None:
        settings = settings_from_conf.default_settings()
        for name, text in options.items():
            settings_from_conf.override(settings, name, text)
        settings.set_mode(mode, settings.selection())
        settings.unlimited = unlimited
        month = load(center, mode)
        windows = {}
        if window is not None:
            windows = {policy.name: QueryWindows(window, None, window)}
        self._cloud = Cloud(month)
        self._meter = Meter(month, self._cloud)
        self._auditor = Auditor(
            Audit(
                [policy],
                settings,
                month.recording.request,
                STEP,
                CONCURRENT,
                windows,
            ),
            month.recording,
            self._cloud,
            self._meter,
        )
        self._events: list[Event] = []
        self._start = month.meta.start
        for server, host in enumerate(center.host.tolist()):
            self._cloud.boot(server, host)
        self._meter.measure(0)

    @property
    def auditor(self) -> Auditor:
        return self._auditor

    def __call__(self, tick: int, center: DataCenter) -> Plan:
        self._follow(center)
        self._meter.measure(tick)
        now = self._start + tick * STEP
        planned = self._auditor.plan(tick, now, self._events)
        if planned is None:
            return []
        plan = []
        for step in planned.report.steps:
            server = self._cloud.position[step.instance]
            plan.append((server, self._cloud.index[step.destination]))
            seconds = float(center.memory[server]) / MIB_PER_SECOND
            self._events.append(
                Event(
                    step.instance,
                    step.source,
                    step.destination,
                    Outcome.MOVED,
                    now + seconds,
                    Origin.NOVA,
                    status='completed',
                    seconds=seconds,
                )
            )
        return plan

    def _follow(self, center: DataCenter) -> None:
        """Let everybody be where the last plan brought them, or gone."""
        places = center.host
        for server in np.flatnonzero(self._cloud.host != places).tolist():
            if places[server] == NOWHERE:
                self._cloud.delete(server)
            else:
                self._cloud.put(server, int(places[server]))
