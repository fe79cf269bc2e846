# SPDX-License-Identifier: Apache-2.0
"""An extension: it empties the hosts of a rack, the smallest servers first."""

import dataclasses
from typing import ClassVar

import numpy as np

from kronos.common.names.name_marks import HostName
from kronos.engine import edits, phase_rules
from kronos.engine.extension import Extension, Phase, ReasonCode
from kronos.engine.planning.drain_reasons import DrainReasons
from kronos.engine.planning.phase_input import PhaseInput, PhasePlan
from kronos.engine.reasons import Code, Reason
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.types import MigrationPhase, Stop
from kronos.reports.parts import ReportPart


class RackPhase(Phase):
    RACK = 'rack'


def run(simulation: Simulation, given: PhaseInput) -> PhaseResult:
    """Each to the first host that takes it, as long as there is a budget."""
    told = DrainReasons(simulation, given.sources, given.fixed)
    memory = simulation.utilization.memory_mb
    leaving = np.flatnonzero(simulation.movable)
    for instance in leaving[np.argsort(memory[leaving])].tolist():
        (row,) = simulation.constraints.hard_rows(np.array([instance]))
        hosts = np.flatnonzero(row)
        if hosts.size and simulation.remaining > 0:
            simulation.move(instance, int(hosts[0]))
    is_left = given.draining[simulation.placement.host_of]
    return told.end(np.flatnonzero(is_left & simulation.movable))


class RackCode(ReasonCode):
    NO_POWER = 'rack_no_power', 'Nobody knows the power.', 'Mend the meter.'


class RackStop(Stop):
    NO_POWER = 'no_power', RackCode.NO_POWER


def _powered(case, reason, pair):
    extension = dataclasses.replace(case.settings.extension, power=True)
    return edits.with_settings(case, extension=extension)


@dataclasses.dataclass
class RackDrain:
    """What an audit asks for; names are marked as such."""

    hosts: list[HostName]


@dataclasses.dataclass
class RackWork:
    """What a snapshot keeps: at these hosts somebody works just now."""

    hosts: list[HostName] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Rack(Extension):
    power: bool = True

    name = 'rack'
    stops: ClassVar = (*RackStop,)
    relaxations: ClassVar = {RackCode.NO_POWER: _powered}
    asks = RackDrain
    keeps = RackWork
    phases: ClassVar = {
        RackPhase.RACK: PhasePlan(
            phase_rules.TABLE[MigrationPhase.EVACUATE], run
        )
    }

    def stopped(self, snapshot, settings):
        if self.power:
            return None
        return Reason('the power is not known', RackCode.NO_POWER)

    def prepare(self, settings):
        settings.evacuate, settings.rebalance = True, False

    def to_empty(self, snapshot, settings):
        work = snapshot.beside.get(self.name, RackWork())
        return set(self.asked.hosts) - set(work.hosts)

    def host_reasons(self, host, settings):
        if host.name not in self.asked.hosts:
            return []
        return [Reason('its rack is emptied', Code.HOST_DRAINED)]

    def note(self, result, snapshot, settings):
        result.beside[self.name] = len(result.steps)
        for step in result.steps:
            step.why = 'leaves its rack'


class RackReport(ReportPart):
    """What a report says, on a terminal and to programs."""

    phases: ClassVar = {'rack': 'drain of a rack'}

    def scope(self, scope):
        return {'rack': scope.beside.get('rack')}

    def lines(self, scope, uuids):
        leaving = scope.beside.get('rack', 0)
        return [f'{leaving} servers leave their rack.'] if leaving else []
