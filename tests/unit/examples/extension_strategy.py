# SPDX-License-Identifier: Apache-2.0
"""The strategy of the extension: its audits close, empty and hand over."""

import dataclasses

from watcher.applier.actions.base import BaseAction

from kronos.engine.settings import ModePhases, When
from kronos.engine.types import MigrationPhase
from kronos.snapshots.reader import Reader
from kronos.strategies import base, goals
from kronos.strategies.outcome import status_messages
from kronos.strategies.outcome.additions import Additions
from kronos.strategies.outcome.planned_actions import PlannedAction
from tests.unit.examples.extension import Rack, RackDrain, RackWork

STATE = 'rack_state'
DONE = []
"""What its actions did, in order."""


class RackReader(Reader):
    def read(self, look):
        hosts = [host for scope in look.hosts.values() for host in scope]
        frozen = [host.name for host in hosts if host.frozen]
        look.gathered.beside[Rack.name] = RackWork(frozen)


class RackAdditions(Additions):
    """Each host is closed before its moves, and handed over after them."""

    def ahead(self, report):
        sources = {step.source for step in report.steps}
        return [_state(host, 'disabled') for host in sorted(sources)]

    def arranged(self, report, ahead, moves):
        actions = [*ahead, *moves]
        for move in moves:
            move.parameters['phase'] = MigrationPhase.EVACUATE.value
        for closing in ahead:
            leaving = [
                move for move in moves if move.step.source == closing.resource
            ]
            for move in leaving:
                move.after.append(closing)
            actions.append(_state(closing.resource, 'enabled', leaving))
        return actions


def _state(host, state, after=()):
    inputs = {'resource_name': host, 'state': state}
    return PlannedAction(STATE, inputs, host, list(after))


class RackState(BaseAction):
    @property
    def schema(self):
        names = ('resource_id', 'resource_name', 'state')
        text = {'type': 'string'}
        return {'type': 'object', 'properties': dict.fromkeys(names, text)}

    def pre_condition(self):
        pass

    def execute(self):
        DONE.append(self.input_parameters['state'])
        return True

    def revert(self):
        pass

    def post_condition(self):
        pass

    def get_description(self):
        return 'Say of a rack what state it is in.'


class EmptyRack(base.KronosStrategy):
    NAME = 'empty_rack'
    DISPLAY_NAME = 'Empty a rack'
    PLAN_MODE = ModePhases(
        policies=None,
        evacuate=When.ALWAYS,
        enforce_hard_affinity=When.NEVER,
        enforce_soft_affinity=When.NEVER,
        rebalance=False,
        is_extended=True,
    )
    GOAL = goals.Drain
    PARAMETERS = ('hosts',)
    ADDITIONS = RackAdditions()

    @classmethod
    def parse(cls, raw):
        parsed = super().parse(raw)
        return dataclasses.replace(
            parsed, hosts=None, extension=Rack(RackDrain(parsed.hosts))
        )

    @classmethod
    def reader(cls, settings, conf, clients):
        return RackReader()

    @classmethod
    def summary(cls, scope):
        return status_messages.drained(scope)
