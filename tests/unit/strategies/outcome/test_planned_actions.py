# SPDX-License-Identifier: Apache-2.0
"""In which order do the actions of a plan run?"""

from oslotest import base

from kronos.engine import types
from kronos.engine.reasons import Code, Reason
from kronos.strategies.outcome import planned_actions
from kronos.strategies.outcome.additions import PLAIN, Additions
from tests.unit.strategies.outcome.test_status_messages import (
    step as told_step,
)

WHY = Reason('it is at fault', Code.HOST_AT_FAULT)


def step(instance, source, scope='alpha'):
    return types.MigrationStep(
        scope=scope,
        phase=types.MigrationPhase.EVACUATE,
        instance=instance,
        instance_name=f'name of {instance}',
        source=source,
        destination='h9',
        memory_mb=1,
        imbalance_before={'cpu': 0.4},
        imbalance_after={'cpu': 0.2},
        combined_before=0.4,
        combined_after=0.2,
    )


def scope(name, *steps, closed=()):
    return types.AggregateResult(
        name,
        types.StopReason.DONE,
        'done',
        steps=list(steps),
        closings=[types.Closing(host, WHY) for host in closed],
    )


class PlannedActionsTestCase(base.BaseTestCase):
    ADDITIONS = PLAIN

    def of(self, parents, *scopes, order=None):
        return planned_actions.of(
            types.CycleReport(list(scopes)),
            parents,
            range(len(parents)) if order is None else order,
            self.ADDITIONS,
        )

    def test_moves_alone(self):
        moves = step('u', 'h1'), step('v', 'h2')
        found = self.of([[], [0]], scope('a', *moves))
        self.assertEqual([[], [0]], [one.parents for one in found])
        self.assertEqual(['u', 'v'], [one.resource for one in found])
        self.assertEqual([1, 2], [one.parameters['sequence'] for one in found])
        self.assertNotIn('source_closed', found[0].parameters)
        self.assertNotIn('window_seconds', found[0].parameters)


class Backwards(Additions):
    """It has the first move wait for the last."""

    def arranged(self, report, ahead, moves):
        moves[0].after.append(moves[-1])
        return [*ahead, *moves]


class AdditionsTestCase(PlannedActionsTestCase):
    ADDITIONS = Backwards()

    def test_moves_alone(self):
        """A plan that could never end is none."""
        moves = step('u', 'h1'), step('v', 'h2')
        error = self.assertRaises(
            ValueError, self.of, [[], []], scope('a', *moves)
        )
        self.assertIn('waits for a later action', str(error))


class InputParametersTestCase(base.BaseTestCase):
    def test_window(self):
        """The action of an exempt strategy has none."""
        inside = scope('alpha', step('u', 'h1'))
        inside.window = types.ScopeWindow(True, move_seconds=20.04)
        [action] = planned_actions.of(types.CycleReport([inside]), [[]], [0])
        self.assertEqual(20.0, action.parameters['window_seconds'])
        exempt = scope('alpha', step('u', 'h1'))
        exempt.window = types.ScopeWindow(False, is_exempt=True)
        [action] = planned_actions.of(types.CycleReport([exempt]), [[]], [0])
        self.assertNotIn('window_seconds', action.parameters)

    def test_half_of_a_swap(self):
        """It names the move that must have succeeded; others name none."""
        told = planned_actions._step(1, told_step(requires='uuid-2'))
        self.assertEqual('uuid-2', told['requires'])
        self.assertNotIn('requires', planned_actions._step(1, told_step()))

    def test_forecast(self):
        """A move whose duration is not known names none."""
        told = planned_actions._step(1, told_step(seconds=12.345))
        self.assertEqual(12.3, told['forecast_seconds'])
        told = planned_actions._step(1, told_step())
        self.assertNotIn('forecast_seconds', told)

    def test_effect(self):
        """What is measured of it later; nothing if nobody can predict it."""
        shares = types.Shares(0.12345678, 0.1, 'f00')
        told = planned_actions._step(1, told_step(effect={'cpu': shares}))
        self.assertEqual({'cpu': [0.123457, 0.1, 'f00']}, told['effect'])
        self.assertNotIn('effect', planned_actions._step(1, told_step()))

    def test_what_it_moves(self):
        told = planned_actions._step(7, told_step())
        self.assertEqual(
            ('alpha', 'spread', 7, 'vm1', 'h1', 'h2'),
            tuple(
                told[name]
                for name in (
                    'aggregate',
                    'phase',
                    'sequence',
                    'resource_name',
                    'source_node',
                    'destination_node',
                )
            ),
        )
