# SPDX-License-Identifier: Apache-2.0
"""An extension: it empties the hosts of a rack, the smallest servers first."""

import dataclasses
from typing import ClassVar

import numpy as np

from kronos.engine import edits, phase_rules
from kronos.engine.extension import Extension, Phase, ReasonCode
from kronos.engine.planning.drain_reasons import DrainReasons
from kronos.engine.planning.phase_input import PhaseInput, PhasePlan
from kronos.engine.reasons import Code, Reason
from kronos.engine.simulation.simulation import PhaseResult, Simulation
from kronos.engine.types import MigrationPhase, Stop


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
class RackReadings:
    scopes: list[str]


@dataclasses.dataclass(frozen=True)
class Rack(Extension):
    power: bool = True

    name = 'rack'
    stops: ClassVar = (*RackStop,)
    relaxations: ClassVar = {RackCode.NO_POWER: _powered}
    phases: ClassVar = {
        RackPhase.RACK: PhasePlan(
            phase_rules.TABLE[MigrationPhase.EVACUATE], run
        )
    }

    def cut(self, snapshot, inventory, request):
        return inventory.beside.get(self.name)

    def stopped(self, snapshot, settings):
        if self.power:
            return None
        return Reason('the power is not known', RackCode.NO_POWER)

    def to_empty(self, snapshot, settings):
        return self.asked

    def host_reasons(self, host, settings):
        if host.name not in (self.asked or ()):
            return []
        return [Reason('its rack is emptied', Code.HOST_DRAINED)]

    def note(self, result, snapshot, settings):
        for step in result.steps:
            step.why = 'leaves its rack'
